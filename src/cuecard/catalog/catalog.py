"""The agents that a server offers: read from files, and again when the files change."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..agents import AgentDefinition, load_agent, load_agents
from ..errors import ContextError, PromptError, SpecError
from ..files import Folder
from ..language.vocabulary import nearest
from ..renderer import PromptRenderer
from ..source import Diagnostic, Found
from .slots import Slot, declared_slots, slots_of

__all__ = ["AgentCatalog", "Offer"]

_SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__"))
_MOST_TRIES = 5


class Offer(NamedTuple):
    """An agent that is offered.

    Attributes:
        name: what it is asked for by.
        agent: the definition.
        slots: what can be passed by a listing.
        reads: every name that may be passed.
        failure: why its template cannot be read.
        broken: why its file cannot be read as it is now, when a catalog that keeps what it
            has offers the agent as it was before.
    """

    name: str
    agent: AgentDefinition
    slots: tuple[Slot, ...]
    reads: frozenset[str]
    failure: PromptError | None = None
    broken: PromptError | None = None

    def listing(self) -> tuple[Any, ...]:
        """What a client sees of it; when it changes, the list has changed."""
        return self.name, self.agent.description, self.slots

    def refuse_unknown(self, names: Iterable[str]) -> None:
        """See that the agent reads what it is given.

        Raises:
            ContextError: it does not read some of the names (P712), all of which are told.
        """
        unknown = [name for name in names if name not in self.reads]
        if unknown:
            listed = ", ".join(f"`{name}`" for name in unknown)
            hint = nearest(unknown[0], self.reads) or "leave it out"
            raise self.refusal(f"the agent reads no {listed}", "P712", unknown[0], hint)

    def refusal(self, message: str, code: str, name: str, hint: str) -> ContextError:
        """An error about what the agent is given under a name."""
        return ContextError(message, code=code, path=f"$.{name}", template=self.name, hint=hint)


class AgentCatalog:
    """The agents in files and folders, by name.

    Args:
        paths: agent files, and folders of them.
        renderer: renders them; what its providers give need not be passed.
        partials: the folder of partials that the renderer has.
        keep: whether an agent whose file is broken when it is read again stays as it was.
        distinct: whether each agent has a name of its own that a URL may hold: one whose
            name is taken is offered by its name and its path, as in `reviewer@old.reviewer`,
            and `/` is a dot. Otherwise an agent whose name is taken is not offered.

    Attributes:
        offers: the agents by name, in the order of their paths.
        diagnostics: what was noticed when they were read last.

    Raises:
        PromptError: a path does not exist (P803), or a file cannot be read.
    """

    def __init__(
        self,
        paths: Iterable[str | os.PathLike[str]],
        renderer: PromptRenderer,
        partials: Folder | None = None,
        *,
        keep: bool = False,
        distinct: bool = False,
    ) -> None:
        self._keep = keep
        self._distinct = distinct
        self._paths = tuple(Path(path) for path in paths)
        self._renderer = renderer
        self._partials = partials
        self.offers: Mapping[str, Offer] = {}
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._stamps = self._stamps_now()
        self.offers, self.diagnostics = self._gather(strict=True)

    def reload(self) -> bool:
        """Read the files again if any of them changed; whether the list is another then.

        A diagnostic tells of a file that cannot be read any more, which is left out or stays
        as it was. What is offered changes in one step, and not while files still change.
        """
        stamps = self._stamps_now()
        if stamps == self._stamps:
            return False
        before = [offer.listing() for offer in self.offers.values()]
        for _ in range(_MOST_TRIES):
            found = self._gather(strict=False)
            # What was written while it was read may be half of something.
            read, stamps = stamps, self._stamps_now()
            if read == stamps:
                break
        self._stamps = read
        self.offers, self.diagnostics = found
        return before != [offer.listing() for offer in self.offers.values()]

    # reading -----------------------------------------------------------------------------------

    def _gather(self, *, strict: bool) -> tuple[Mapping[str, Offer], tuple[Diagnostic, ...]]:
        found: dict[str, Offer] = {}
        diagnostics: list[Diagnostic] = []
        seen: set[str] = set()
        for path in self._paths:
            failures: dict[str, PromptError] = {}
            try:
                agents = self._load(path, failures)
            except PromptError as error:
                if strict:
                    raise
                agents = Found([], [error.diagnostic()])
                failures[str(path)] = error
            diagnostics.extend(agents.diagnostics)
            for offer in self._with_kept(map(self._offer, agents), agents, failures):
                place = str(offer.agent.path)
                if self._distinct:
                    if place in seen:
                        continue
                    offer = offer._replace(name=_distinct_name(offer, path, found))
                seen.add(place)
                if found.setdefault(offer.name, offer) is not offer:
                    if not _is_said(diagnostics, offer.agent):
                        diagnostics.append(_taken(offer, found[offer.name]))
                elif (failure := offer.failure or offer.broken) is not None:
                    diagnostics.append(failure.diagnostic())
        return found, tuple(dict.fromkeys(diagnostics))

    def _load(self, path: Path, failures: dict[str, PromptError]) -> Found[AgentDefinition]:
        if not path.is_dir():
            agent = load_agent(path)
            return Found([agent], agent.diagnostics)
        return load_agents(path, failures=failures)

    def _with_kept(
        self,
        offers: Iterable[Offer],
        agents: Found[AgentDefinition],
        failures: dict[str, PromptError],
    ) -> Iterable[Offer]:
        """Offers, and those of before in the places of files that are broken now.

        They are told apart by their files: an agent must not answer under the name of
        another whose file is broken.
        """
        if not self._keep:
            return offers
        before = {str(offer.agent.path): offer for offer in self.offers.values()}
        failures.update(_headless(agents.diagnostics, before))
        now: dict[str, Offer] = {}
        for offer in offers:
            place = str(offer.agent.path)
            was = before.get(place)
            if offer.failure is not None and was is not None and was.failure is None:
                offer = was._replace(name=_name_of(was.agent), broken=offer.failure)
            now[place] = offer
        for place, failure in failures.items():
            was = before.get(place)
            if was is not None and was.failure is None:
                now[place] = was._replace(name=_name_of(was.agent), broken=failure)
        return sorted(now.values(), key=lambda offer: offer.agent.path or Path())

    def _offer(self, agent: AgentDefinition) -> Offer:
        name = _name_of(agent)
        try:
            slots = slots_of(agent, self._renderer, self._partials)
            provided = self._renderer.plan(agent).owners
        except PromptError as error:
            declared = tuple(slot._replace(required=False) for slot in declared_slots(agent))
            return Offer(name, agent, declared, frozenset(), error)
        return Offer(name, agent, slots, frozenset(provided).union(s.name for s in slots))

    def _stamps_now(self) -> dict[str, tuple[int, ...]]:
        """What tells whether a file has changed, appeared or gone."""
        roots = [*self._paths, *([self._partials.path] if self._partials is not None else [])]
        return dict(stamp for root in roots for stamp in _stamps(root))


def _stamps(root: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    if not root.is_dir():
        yield str(root), _stamp(str(root))
        return
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(".") and f not in _SKIPPED_FOLDERS]
        for path in (os.path.join(folder, file) for file in files):
            yield path, _stamp(path)


def _stamp(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _is_said(diagnostics: Iterable[Diagnostic], agent: AgentDefinition) -> bool:
    return any(d.code == "P415" and d.template == str(agent.path) for d in diagnostics)


def _taken(offer: Offer, other: Offer) -> Diagnostic:
    message = f"the name `{offer.name}` is that of {other.agent.path} too, which is offered"
    return Diagnostic("P415", message, None, str(offer.agent.path), "warning", "rename one")


def _headless(
    diagnostics: Iterable[Diagnostic], before: Mapping[str, Offer]
) -> Iterator[tuple[str, PromptError]]:
    """The files of agents that have no header any more, as one has that is half written."""
    for found in diagnostics:
        place = found.template
        if place is not None and place in before and found.code in ("P403", "P404"):
            yield place, SpecError(found.message, code=found.code, template=place, hint=found.hint)


def _name_of(agent: AgentDefinition) -> str:
    return agent.name or "agent"


def _distinct_name(offer: Offer, root: Path, taken: Collection[str]) -> str:
    """The agent's name, with the way to its file when it is taken; a part of a URL's path."""
    name = offer.name.replace("/", ".")
    if name.strip(".") and name not in taken:
        return name
    path = offer.agent.path or Path(offer.name)
    way = path.relative_to(root) if path.is_relative_to(root) and path != root else path
    return f"{name}@{'.'.join(way.with_suffix('').parts).lstrip('./')}"

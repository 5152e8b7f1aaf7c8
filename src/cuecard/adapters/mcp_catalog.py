"""The agents that an MCP server offers: read from files, and again when the files change."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..agents import AgentDefinition, load_agent, load_agents
from ..errors import ContextError, PromptError
from ..files import Folder
from ..language.vocabulary import nearest
from ..renderer import PromptRenderer
from ..source import Diagnostic
from .slots import Slot, slots_of

__all__ = ["AgentCatalog", "Offer"]

_SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__"))
_NOTES = {
    "array": "a JSON list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "a JSON object",
}


class Offer(NamedTuple):
    """An agent that is offered.

    Attributes:
        name: what it is asked for by.
        agent: the definition.
        slots: what can be passed by a listing.
        reads: every name that may be passed.
        failure: why its template cannot be read.
    """

    name: str
    agent: AgentDefinition
    slots: tuple[Slot, ...]
    reads: frozenset[str]
    failure: PromptError | None = None

    def listing(self) -> tuple[Any, ...]:
        """What a client sees of it; when it changes, the list has changed."""
        return self.name, self.agent.description, self.slots

    def read(self, arguments: Mapping[str, str]) -> dict[str, Any]:
        """The values that texts stand for.

        An empty text for a slot that needs no text is taken for absent: forms send it.

        Raises:
            ContextError: a name that the agent does not read (P712), a required slot that is
                missing (P710), or a text that is none of the declared type (P711). All of
                the first kind that is found are named.
        """
        types = {entry.name: entry for entry in self.agent.inputs}
        values: dict[str, Any] = {}
        wrong: list[str] = []
        for name, text in arguments.items():
            entry = types.get(name)
            if entry is None:
                values[name] = text
            elif text or entry.type in ("string", "any"):
                try:
                    values[name] = entry.read(text)
                except ValueError:
                    wrong.append(name)
        self._refuse_unknown(arguments)
        self._refuse_missing(values, wrong)
        if wrong:
            message = "; ".join(f"`{name}` must be {_NOTES[types[name].type]}" for name in wrong)
            raise self._refusal(message, "P711", wrong[0], "lists and objects are written as JSON")
        return values

    def _refuse_unknown(self, arguments: Mapping[str, str]) -> None:
        unknown = [name for name in arguments if name not in self.reads]
        if unknown:
            hint = nearest(unknown[0], self.reads) or "leave it out"
            raise self._refusal(f"the agent reads no {_names(unknown)}", "P712", unknown[0], hint)

    def _refuse_missing(self, values: Mapping[str, Any], wrong: list[str]) -> None:
        given = values.keys() | set(wrong)
        missing = [s.name for s in self.slots if s.required and s.name not in given]
        if missing:
            message = f"missing argument{'s' if len(missing) > 1 else ''} {_names(missing)}"
            raise self._refusal(message, "P710", missing[0], "pass a text for each")

    def _refusal(self, message: str, code: str, name: str, hint: str) -> ContextError:
        return ContextError(message, code=code, path=f"$.{name}", template=self.name, hint=hint)


def described(slot: Slot) -> str | None:
    """A slot's description, with what its text must be and its default."""
    notes = [_NOTES[slot.type]] if slot.type in _NOTES else []
    if slot.default is not None:
        notes.append(f"default: {slot.default}")
    if not notes:
        return slot.description
    return f"{slot.description or slot.name} ({', '.join(notes)})"


class AgentCatalog:
    """The agents in files and folders, by name.

    Args:
        paths: agent files, and folders of them.
        renderer: renders them; what its providers give need not be passed.
        partials: the folder of partials that the renderer has.

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
    ) -> None:
        self._paths = tuple(Path(path) for path in paths)
        self._renderer = renderer
        self._partials = partials
        self.offers: Mapping[str, Offer] = {}
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._stamps = self._stamps_now()
        self._read(strict=True)

    def reload(self) -> bool:
        """Read the files again if any of them changed; whether the list is another then.

        A file that cannot be read any more is left out, and a diagnostic says so.
        """
        stamps = self._stamps_now()
        if stamps == self._stamps:
            return False
        before = [offer.listing() for offer in self.offers.values()]
        # Before the files are read: what changes from now on is seen the next time.
        self._stamps = stamps
        self._read(strict=False)
        return before != [offer.listing() for offer in self.offers.values()]

    # reading -----------------------------------------------------------------------------------

    def _read(self, *, strict: bool) -> None:
        found: dict[str, Offer] = {}
        diagnostics: list[Diagnostic] = []
        for path in self._paths:
            try:
                agents = load_agents(path) if path.is_dir() else [load_agent(path)]
            except PromptError as error:
                if strict:
                    raise
                diagnostics.append(error.diagnostic())
                continue
            diagnostics.extend(getattr(agents, "diagnostics", ()))
            for agent in agents:
                offer = self._offer(agent)
                if found.setdefault(offer.name, offer) is not offer:
                    # Within one folder it is said already.
                    if not any(
                        d.code == "P415" and d.template == str(agent.path) for d in diagnostics
                    ):
                        diagnostics.append(_taken(offer, found[offer.name]))
                elif offer.failure is not None:
                    diagnostics.append(offer.failure.diagnostic())
        self.offers = found
        self.diagnostics = tuple(dict.fromkeys(diagnostics))

    def _offer(self, agent: AgentDefinition) -> Offer:
        name = agent.name or "agent"
        try:
            slots = slots_of(agent, self._renderer, self._partials)
            provided = self._renderer.plan(agent).owners
        except PromptError as error:
            declared = (Slot(e.name, e.type, False, e.default, e.description) for e in agent.inputs)
            return Offer(name, agent, tuple(declared), frozenset(), error)
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


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)

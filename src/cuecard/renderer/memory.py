"""What a renderer remembers between turns: templates, plans, and values that still hold.

All of it is bounded. What two renders may share is replaced as a whole, and never changed.
"""

from __future__ import annotations

import datetime
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from ..agents import AgentDefinition
from ..errors import PromptError
from ..prompt import ProviderRun
from ..providers import Plan, Step
from ..template import Template

__all__ = ["Bounded", "Kept", "Numbered", "Planned", "Prepared", "Session", "SessionState"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Numbered = tuple[tuple[int, Step], ...]
Groups = tuple[tuple[Numbered, Numbered], ...]


class Bounded(Generic[K, V]):
    """A mapping of at most so many entries; the one that was not used longest goes first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()
        # What was used last is mostly what is used next.
        self._last: tuple[K, V] | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The entry of a key, made if there is none."""
        last = self._last
        if last is not None and (last[0] is key or last[0] == key):
            return last[1]
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
                self._last = key, found
                return found
        made = make()  # may take long, and it does no harm if two threads do it
        with self._lock:
            found = self._entries.setdefault(key, made)
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)
            self._last = key, found
        return found

    def values(self) -> list[V]:
        """The entries."""
        with self._lock:
            return list(self._entries.values())

    def discard(self, unwanted: Callable[[K], bool]) -> None:
        """Drop the entries whose keys are unwanted."""
        with self._lock:
            self._last = None
            for key in [key for key in self._entries if unwanted(key)]:
                del self._entries[key]


class Kept(NamedTuple):
    """The values of a provider that hold longer than a turn.

    Attributes:
        values: by variable.
        stamp: what the provider's `stamp` gave before them; None for a provider without.
        day: the user's day on which they were given; None when none holds for a day.
    """

    values: Mapping[str, Any]
    stamp: Any = None
    day: datetime.date | None = None


class SessionState(NamedTuple):
    """What holds in a session; never changed, but replaced at the end of a turn.

    Attributes:
        kept: what each provider gave, by the number of its step in the plan.
        fixed: the values of the scopes static and session that the template reads.
        template: the template with these bound.
        about: the session as it was, as far as it can be compared.
        settled: whether every provider whose values hold has given them, so that what is
            bound need not be looked at again while the session is the same.
    """

    kept: Mapping[int, Kept] = {}
    fixed: Mapping[str, Any] = {}
    template: Template | None = None
    about: Any = None
    settled: bool = False


class Session:
    """One session of one plan."""

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state = SessionState()


@dataclass
class Planned:
    """A plan, and what holds as long as the agent's definition.

    Attributes:
        plan: which providers run.
        template: the template with the scopes of the plan.
        sessions: what holds in each session, by its key.
        held: variables of the caller's that hold for the session or longer.
        static: what each provider gave of the scope static, and nothing else, by the number
            of its step: it is shared by all sessions.
        steps: the plan's steps.
        groups: the steps of each priority with their numbers, and those with a stamp again.
        lively: the same, of what may change while a session lasts.
        passing: the steps that give values for a day or a turn.
        owners: the number of the step that has the last word on a variable.
        owned: the variables on which each step has the last word, sorted.
        announced: whether every step says what it gives.
        skipped: what is said of the providers that do not run.
    """

    plan: Plan
    template: Template
    sessions: Bounded[Hashable, Session]
    held: frozenset[str] = frozenset()
    static: dict[int, Kept] = field(default_factory=dict)
    steps: tuple[Step, ...] = field(init=False)
    groups: Groups = field(init=False)
    lively: Groups = field(init=False)
    passing: Numbered = field(init=False)
    owners: dict[str, int] = field(init=False)
    owned: tuple[tuple[str, ...], ...] = field(init=False)
    announced: bool = field(init=False)
    skipped: tuple[ProviderRun, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.steps = self.plan.steps
        numbers = count()
        groups = [tuple((next(numbers), step) for step in group) for group in self.plan.groups]
        self.groups = _with_stamped(groups)
        lively = [tuple((n, step) for n, step in g if step.lively) for g in groups]
        self.lively = _with_stamped(filter(None, lively))
        every = tuple(enumerate(self.steps))
        self.passing = tuple((n, step) for n, step in every if step.passing or step.names is None)
        self.owned = tuple(tuple(sorted((*s.lasting, *s.passing))) for s in self.steps)
        self.owners = {name: n for n, names in enumerate(self.owned) for name in names}
        self.announced = all(step.names is not None for step in self.steps)
        self.skipped = tuple(
            ProviderRun(each.provider.name, "skipped", reason=each.reason)
            for each in self.plan.skipped
        )


def _with_stamped(groups: Iterable[Numbered]) -> Groups:
    return tuple((group, tuple((n, step) for n, step in group if step.stamped)) for group in groups)


@dataclass
class Prepared:
    """The template of a definition, read once.

    Attributes:
        definition: the agent; None for a template alone.
        source: the text of the template.
        template: the template, which raises when it fails; None when it cannot be read.
        lenient: the template that never raises, for profiles that fall back.
        failure: why the template cannot be read.
        constant: whether it has no tags, so that nothing is asked.
        plans: by what the template reads, and the names that a caller gives of those that
            providers would give.
    """

    definition: AgentDefinition | None
    source: str
    template: Template | None
    lenient: Template | None
    failure: PromptError | None
    constant: bool
    plans: Bounded[Hashable, Planned]

    def reads(self) -> frozenset[str] | None:
        """What the template reads now; None when it may read anything."""
        return frozenset() if self.template is None else self.template.reads()

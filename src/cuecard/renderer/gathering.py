"""Gathering: what each provider has for a turn, asked of it now or kept from before."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from typing import Any, Literal

from ..errors import ContextError, ProviderError
from ..prompt import ProviderRun, Scope
from ..providers import ProviderRequest, Step
from ..source import Diagnostic
from .calls import Call, Outcome, call_in_place
from .contributions import contribution, provider_error
from .memory import Kept, Numbered, Planned, SessionState
from .telemetry import is_traced

__all__ = ["Gathering"]

_logger = logging.getLogger("cuecard.renderer")

Values = Mapping[str, Any]
State = tuple[Literal["called", "kept", "failed"], float, str | None]

_COMMON = ProviderRequest._fields.index("names")
_NOTHING: Values = {}
_NO_STAMPS: Mapping[int, Outcome] = {}
_UNUSABLE = Kept({}, stamp=object())
_KEPT: State = ("kept", 0.0, None)


class _Lower(Mapping[str, Any]):
    """The values of lower priorities, which most providers never look at."""

    __slots__ = ("_gathering", "_priority", "_values")

    def __init__(self, gathering: Gathering, priority: int) -> None:
        self._gathering = gathering
        self._priority = priority
        self._values: dict[str, Any] | None = None

    def _found(self) -> dict[str, Any]:
        if self._values is None:
            self._values = self._gathering.lower(self._priority)
        return self._values

    def __getitem__(self, name: str) -> Any:
        return self._found()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())


class Gathering:
    """The values for one turn, gathered from the providers of a plan.

    Args:
        planned: the plan, and what holds as long as the definition.
        state: what holds in the session.
        request: whom the render is for.
        extra: the caller's variables.
        lasting: whether there is a session in which something can hold.
        same_session: whether the session is as it was when the state was made.
        lenient: whether a provider that fails is left out.
        timeout: seconds for providers that have no limit of their own.
        inline: whether plain functions are called in place, as a plain render does.

    Attributes:
        kept: what is to be remembered, by the number of the provider's step in the plan.
        diagnostics: what went wrong.
        complete: whether every provider whose values hold gave them.
    """

    def __init__(
        self,
        planned: Planned,
        state: SessionState,
        request: ProviderRequest,
        extra: Values,
        *,
        lasting: bool,
        same_session: bool,
        lenient: bool,
        timeout: float | None,
        inline: bool,
    ) -> None:
        self._planned = planned
        self._state = state
        self._request = request
        self._common = request[:_COMMON]
        self._extra = extra
        self._lasting = lasting
        self._same_session = same_session
        self._lenient = lenient
        self._timeout = timeout
        self._inline = inline
        self._traced = is_traced()
        self._day: datetime.date | None = None
        self._found: dict[int, Values] = {}
        self._states: dict[int, State] = {}
        # Nothing that holds for the session or longer has to be looked at again.
        self._settled = same_session and state.settled
        self.complete = True
        self.kept: dict[int, Kept] = {}
        self.diagnostics: list[Diagnostic] = []

    def run(self) -> Generator[Sequence[Call], Sequence[Outcome], None]:
        """Ask the providers, those of one priority together."""
        planned = self._planned
        for numbered, stamped in planned.lively if self._settled else planned.groups:
            stamps = (yield from self._stamps(stamped)) if stamped else _NO_STAMPS
            asked = [(n, step) for n, step in numbered if not self._holds(n, step, stamps.get(n))]
            if asked:
                outcomes = yield from self._ask(asked)
                for (number, step), outcome in zip(asked, outcomes, strict=True):
                    self._take(number, step, outcome, stamps.get(number))

    # asking ------------------------------------------------------------------------------------

    def _stamps(
        self, stamped: Numbered
    ) -> Generator[Sequence[Call], Sequence[Outcome], Mapping[int, Outcome]]:
        if not self._lasting:
            # Only static values can hold.
            stamped = tuple((n, step) for n, step in stamped if step.steady)
            if not stamped:
                return _NO_STAMPS
        outcomes = yield from self._ask(stamped, stamp=True)
        return {n: outcome for (n, _), outcome in zip(stamped, outcomes, strict=True)}

    def _ask(
        self, asked: Sequence[tuple[int, Step]], *, stamp: bool = False
    ) -> Generator[Sequence[Call], Sequence[Outcome], list[Outcome]]:
        """What providers answer: those that need no loop here, the others through the flow."""
        made: list[Outcome | Call] = []
        for _, step in asked:
            call = self._call(step, stamp)
            made.append(call_in_place(call) if self._inline or call.provider.instant else call)
        waiting = [each for each in made if isinstance(each, Call)]
        others = iter((yield waiting) if waiting else ())
        return [each if isinstance(each, Outcome) else next(others) for each in made]

    def _call(self, step: Step, stamp: bool) -> Call:
        provider = step.provider
        timeout = self._timeout if provider.timeout is None else provider.timeout
        return Call(provider, self._request_of(step), timeout, stamp, self._traced)

    def _request_of(self, step: Step) -> ProviderRequest:
        values = _Lower(self, step.provider.priority)
        return ProviderRequest._make((*self._common, step.names, values))

    def lower(self, priority: int) -> dict[str, Any]:
        """What providers of lower priorities have, and the caller's variables over it."""
        lower: dict[str, Any] = {}
        for number, step in enumerate(self._planned.steps):
            if step.provider.priority >= priority:
                break
            lower.update(self._found_of(number))
        lower.update(self._extra)
        return lower

    # what holds --------------------------------------------------------------------------------

    def _holds(self, number: int, step: Step, stamp: Outcome | None) -> bool:
        """Whether a provider need not be asked, since what it gave before holds."""
        if stamp is not None and stamp.error is not None:
            self._fail(number, step, stamp)
            return True
        if step.refresh is Scope.TURN or not self._scopes_hold(number, step, stamp):
            return False
        self._found[number] = found = self._before(number)
        if stamp is not None and step.refresh is Scope.STATIC:
            # Another session may have asked for it since this one was bound.
            fixed = self._state.fixed
            self._settled &= all(fixed.get(n) is found.get(n) for n in step.lasting)
        return True

    def _scopes_hold(self, number: int, step: Step, stamp: Outcome | None) -> bool:
        now = None if stamp is None else stamp.value
        if step.refresh is Scope.STATIC:
            static = self._planned.static.get(number)
            return static is not None and static.stamp == now
        kept = self._state.kept.get(number)
        if kept is None or kept.stamp != now or not self._session_holds(stamp):
            return False
        return kept.day is None or kept.day == self._today()

    def _session_holds(self, stamp: Outcome | None) -> bool:
        """Whether what was given in the session holds: it is the same, or a stamp says so."""
        return self._same_session or stamp is not None

    def _today(self) -> datetime.date:
        if self._day is None:
            self._day = self._request.local_time.date()
        return self._day

    def _before(self, number: int) -> Values:
        """What a provider gave before: in this session, or for all of them."""
        static = self._planned.static.get(number)
        kept = self._state.kept.get(number)
        if kept is None or self._planned.steps[number].refresh is Scope.STATIC:
            kept = static or kept
        return _NOTHING if kept is None else kept.values

    def _still(self, number: int, step: Step) -> Values:
        """What a provider that fails gave before, but for what held for a day that is over.

        It is better than nothing, and keeps the front of the prompt as it was.
        """
        kept, before = self._state.kept.get(number), self._before(number)
        if kept is None or kept.day is None or kept.day == self._today():
            return before
        lasting = {name for name, scope in step.kept if scope is not Scope.DAY}
        return {name: value for name, value in before.items() if name in lasting}

    # taking ------------------------------------------------------------------------------------

    def _take(self, number: int, step: Step, answer: Outcome, stamp: Outcome | None) -> None:
        """Use what a provider gave now, but for what it gave before and still holds."""
        try:
            if answer.error is not None:
                raise answer.error
            given = contribution(step, answer.value)
        except Exception as error:
            self._fail(number, step, answer._replace(error=error))
            return
        if step.kept:
            if self._scopes_hold(number, step, stamp):
                given.update(self._before(number))
            else:
                given.update(self._remembered(number, step, given, stamp))
                self._settled = False
        self._found[number] = given
        self._states[number] = ("called", answer.seconds, None)

    def _remembered(self, number: int, step: Step, given: Values, stamp: Outcome | None) -> Values:
        """What of a contribution holds longer than a turn, after what held already."""
        now = None if stamp is None else stamp.value
        static, kept = self._planned.static.get(number), self._state.kept.get(number)
        values = {name: given[name] for name, _ in step.kept if name in given}
        same = kept is not None and kept.stamp == now and self._session_holds(stamp)
        for name, scope in step.kept:
            if scope is Scope.STATIC and static is not None and static.stamp == now:
                values.update(_only(name, static))
            elif scope is Scope.SESSION and same and kept is not None:
                values.update(_only(name, kept))
        # Without a session nothing is kept that another user could be given.
        if self._lasting:
            by_day = any(scope is Scope.DAY for _, scope in step.kept)
            self.kept[number] = Kept(values, now, self._today() if by_day else None)
        if step.steady and (static is None or static.stamp != now):
            steady = (name for name, scope in step.kept if scope is Scope.STATIC)
            self._planned.static[number] = Kept(
                {name: values[name] for name in steady if name in values}, now
            )
        return values

    # the result --------------------------------------------------------------------------------

    def passing(self) -> dict[str, Any]:
        """The values that hold for this turn or this day."""
        values: dict[str, Any] = {}
        for number, step in self._planned.passing:
            found = self._found.get(number, _NOTHING)
            if step.names is None:
                values.update(self._unannounced(number, found))
            for name in step.passing:
                if name in found:
                    values[name] = found[name]
        return values

    def lasting(self) -> Values:
        """The values that hold for the session or longer."""
        if self._settled:
            return self._state.fixed
        return {
            name: found[name]
            for number, step in enumerate(self._planned.steps)
            for found in (self._found_of(number),)
            for name in step.lasting
            if name in found
        }

    def _found_of(self, number: int) -> Values:
        found = self._found.get(number)
        return self._before(number) if found is None else found

    def _unannounced(self, number: int, found: Values) -> Values:
        """What a provider that does not say what it gives has the last word on."""
        owners = self._planned.owners
        return {
            name: value
            for name, value in found.items()
            if owners.get(name, -1) < number or name not in self._found_of(owners[name])
        }

    def given(self) -> Collection[str]:
        """The variables that providers give, whether they gave them now or not."""
        silent = [n for n, step in self._planned.passing if step.names is None]
        return {*self._planned.owners, *(name for n in silent for name in self._found_of(n))}

    def _last_words(self) -> dict[str, int]:
        """The number of the step from which each variable is."""
        words: dict[str, int] = {}
        for number, step in enumerate(self._planned.steps):
            found = self._found_of(number)
            own = found if step.names is None else self._planned.owned[number]
            words.update((name, number) for name in own if name in found)
        return words

    def _given(self) -> Sequence[Sequence[str]]:
        """The names that the prompt has from each step."""
        planned, extra = self._planned, self._extra
        if planned.announced:
            found = map(self._found_of, range(len(planned.steps)))
            return [
                [name for name in own if name in values and name not in extra]
                for own, values in zip(planned.owned, found, strict=True)
            ]
        names: list[list[str]] = [[] for _ in planned.steps]
        for name, number in sorted(self._last_words().items()):
            if name not in extra:
                names[number].append(name)
        return names

    def runs(self) -> Iterator[ProviderRun]:
        """What each provider did."""
        given = self._given()
        for number, step in enumerate(self._planned.steps):
            state, seconds, reason = self._states.get(number, _KEPT)
            yield ProviderRun(step.provider.name, state, tuple(given[number]), seconds, reason)

    # failures ----------------------------------------------------------------------------------

    def _fail(self, number: int, step: Step, outcome: Outcome) -> None:
        """Do with what a provider gave before, and say so."""
        assert outcome.error is not None
        self._report(number, provider_error(step.provider, outcome.error), outcome)
        self._found[number] = self._still(number, step)
        if step.kept:
            self._settled = self.complete = False

    def _report(self, number: int, failure: ProviderError, outcome: Outcome) -> None:
        """Say that a provider is left out; or raise, as the profile has it."""
        if not self._lenient:
            raise failure from (failure.__cause__ if failure is outcome.error else outcome.error)
        _logger.warning("%s", failure)
        self.diagnostics.append(failure.diagnostic()._replace(severity="warning"))
        self._states[number] = ("failed", outcome.seconds, failure.message)

    def blame(self, name: str | None, error: ContextError) -> bool:
        """Leave out the provider whose value of a name is no plain data, if it is one's.

        Raises:
            ProviderError: the profile is not lenient.
        """
        number = self._last_words().get(name or "") if name not in self._extra else None
        if number is None:
            return False
        provider = self._planned.steps[number].provider
        failure = ProviderError(
            f"provider `{provider.name}` gave `{name}`, which is no plain data: {error.message}",
            code="P303",
            hint=error.hint,
        )
        self._report(number, failure, Outcome(None, error))
        self._found[number] = {}
        self._settled = self.complete = False
        self.kept[number] = _UNUSABLE
        self._planned.static.pop(number, None)
        return True


def _only(name: str, kept: Kept) -> Values:
    return {name: kept.values[name]} if name in kept.values else {}

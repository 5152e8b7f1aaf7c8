"""The compiler: from a source to a program, and from a failed render to what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from time import thread_time
from typing import Any, NoReturn
from weakref import WeakMethod

from ..engine.filters import filters, functions
from ..engine.meter import METER
from ..engine.program import (
    FORMAT_NAME,
    MAIN,
    MEASURE_NAME,
    SPEND_NAME,
    EngineError,
    Program,
)
from ..errors import PromptError, TemplateLimitError, TemplateNotFoundError
from ..files import Folder, shown
from ..language.costs import DEEP, LENGTH, TIMES, Reach
from ..language.expressions import Node
from ..language.units import Partials, UnderstandingError, Unit, read_unit
from ..profile import Profile
from ..source import Source
from ..values import Freezer, size_of
from .probing import ALIAS_NAME, Marks, Probe, Site
from .rewrite import rewrite
from .rewritten import Rewritten
from .segments import MARKED, Segments, marked_outputs, plan_segments

__all__ = ["Compiled", "compile_source"]

_MAX_KNOWN = 100
"""So many containers are remembered with their size while a template renders."""

_EXPLAINING = 0.2
"""Seconds after which a failure is explained with what is known by then."""


class _SiteError(Exception):
    """Raised from within a render by a place that reports itself."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _weakly(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method for the engine to call, which does not keep its object alive.

    The engine holds its callables where Python's garbage collector cannot see them: an object
    that holds the engine and is held by it would never be freed.
    """
    reference = WeakMethod(method)

    def call(*arguments: Any) -> Any:
        bound = reference()
        assert bound is not None, "whoever renders holds what it renders"
        return bound(*arguments)

    return call


def _report(number: int) -> NoReturn:
    raise _SiteError(number)


class Compiled:
    """A template that is ready to render, with all that took part in it.

    Attributes:
        program: what the engine made of it.
        units: the template and its partials, by the engine's name for them.
        names: every name that they read; None when a partial's name is computed, so that
            any name may be read.
        freezer: freezes the values that they read.
    """

    def __init__(
        self,
        units: Mapping[str, Unit],
        partials: Partials | None,
        names: tuple[str, ...] | None,
        profile: Profile,
        probe: Probe | None = None,
    ) -> None:
        self.units = dict(units)
        self.names = names
        self.freezer = Freezer(profile.limits, any(unit.guarded for unit in units.values()))
        self._partials = partials
        self._profile = profile
        self._probe = probe
        self._sites: list[Site] = []
        self._rewritten: dict[str, Rewritten] = {}
        self._refusals: list[PromptError] = []
        self._segments: Segments | None = None
        self.program = self._build()

    def _build(self) -> Program:
        main = self._rewrite(MAIN, self.units[MAIN])
        if main.text != main.source.text and self._probe is None:
            # The engine is right about syntax: what it refuses must not pass rewritten.
            _refuse_syntax(main.source, self._profile)
        aliases: dict[str, tuple[str, Callable[..., Any]]] = {}
        for name, unit in self.units.items() if self._probe is not None else ():
            # The sites of partials must be known before the engine is complete.
            if name not in self._rewritten:
                self._rewrite(name, unit)
        if self._probe is not None and self._probe.names:
            aliases.update(_aliases(self._sites, self._profile))
        if self._partials is not None:
            aliases["__refused"] = ("function", _weakly(self._refuse))
        try:
            return self._program({MAIN: main.text}, aliases, self._profile.end != "drop_newline")
        except EngineError as error:
            from .syntax_faults import explain_syntax

            raise explain_syntax(error, main.source, main.offset) from None

    def _program(
        self,
        texts: Mapping[str, str],
        aliases: Mapping[str, tuple[str, Callable[..., Any]]],
        keep_final_newline: bool,
    ) -> Program:
        return Program(
            texts,
            self._profile,
            undefined=_report,
            loader=_weakly(self._load) if self._partials is not None else None,
            aliases={
                **aliases,
                MEASURE_NAME: ("function", _weakly(self._measure)),
                SPEND_NAME: ("function", _weakly(self._spend)),
            },
            keep_final_newline=keep_final_newline,
        )

    def _rewrite(self, name: str, unit: Unit) -> Rewritten:
        rewritten = rewrite(
            unit.source,
            unit.tree,
            strict=self._profile.undefined == "strict",
            sites=self._sites,
            probe=self._probe,
            bound=unit.names.bound,
            repeated=name != MAIN,
        )
        self._rewritten = {**self._rewritten, name: rewritten}
        return rewritten

    def _load(self, name: str) -> str | None:
        # The engine's loader must not raise: what is refused becomes a text that raises.
        assert self._partials is not None
        try:
            rewritten = self._rewritten.get(name)
            if rewritten is None:
                rewritten = self._rewrite(name, self._read(name))
            return rewritten.text
        except TemplateNotFoundError as error:
            if error.code == "P803":
                return None
            self._refusals.append(self._without_computed_name(error, name))
        except PromptError as error:
            self._refusals.append(error)
        return f"{{{{ __refused({len(self._refusals) - 1}) }}}}"

    def _without_computed_name(self, error: PromptError, name: str) -> PromptError:
        """The error without a name that may be a value of the context."""
        written = {n for unit in self.units.values() for n, _ in unit.references()}
        if name in written:
            return error
        message = f"a computed {error.message.replace(shown(name), '').replace('  ', ' ')}"
        return TemplateNotFoundError(message, code=error.code, hint=error.hint)

    def _read(self, name: str) -> Unit:
        assert self._partials is not None
        unit = self.units.get(name)
        if unit is None:
            try:
                unit = self._partials.unit(name)
            except UnderstandingError as error:
                _refuse_syntax(error.source, self._profile)
                raise
            # A new mapping, because other threads may be walking the old one.
            self.units = {**self.units, name: unit}
        return unit

    def _measure(self, value: Any, number: int) -> bool:
        """Refuse a value that a template has let grow too large."""
        size = size_of(value, self._profile.limits)
        steps = size.steps
        if isinstance(value, (list, tuple)):
            # One that is made from another, and that from a third, is gone through as often.
            METER.lists += 1
            steps += METER.lists >> 1
        if size.excess is not None or not METER.pays(4 + steps):
            raise self._grown(size.excess or "P114", number)
        return False

    def _grown(self, code: str, number: int) -> TemplateLimitError:
        source, node = self._sites[number]
        return TemplateLimitError(
            "a value that the template makes grows too large",
            code=code,
            source=source,
            start=node.at,
            end=node.at + len(node.kind.partition("_")[0]),
            hint="it is made from itself; bind what is needed once",
        )

    def _spend(self, number: int, reach: Reach, value: Any, times: Any = True) -> Any:
        """Pay for the size of a value that is about to be looked at; gives `times`."""
        if isinstance(value, str):
            steps = 1 + (len(value) >> 6)
        elif reach >= DEEP:
            steps = self._steps(value)
        else:
            steps = 1 + (2 * len(value) if reach == LENGTH and isinstance(value, dict) else 0)
        if reach == TIMES and isinstance(times, (int, float)):
            steps = int(min(max(times, 0), 1 << 60)) * steps
        if not METER.pays(steps):
            source, node = self._sites[number]
            raise TemplateLimitError(
                "the render handles more text and values than allowed",
                source=source,
                start=node.start,
                end=node.end,
                hint="loop over less, or raise `Limits.fuel`",
            )
        return times

    def _steps(self, value: Any) -> int:
        """What it takes to look at all of a value; of the same one, again and again, less."""
        if not isinstance(value, (dict, list)):
            return 1
        known = METER.known.get(id(value))
        if known is not None and known[0] is value:
            return 1 + (known[1] >> 3)
        steps = size_of(value, self._profile.limits).steps
        if len(METER.known) < _MAX_KNOWN:
            # The value is kept along, so that no other can have its identity.
            METER.known[id(value)] = value, steps
        return steps

    def _refuse(self, number: int) -> NoReturn:
        raise self._refusals[number]

    def changed(self) -> bool:
        """Whether the file of a partial has changed since."""
        return self._partials is not None and self._partials.changed()

    def reads(self) -> tuple[frozenset[str], frozenset[str]]:
        """Names of the context that are read, and those of them that are required."""
        return self._reads(self.units[MAIN], {})

    def _reads(
        self, unit: Unit, done: dict[str, tuple[frozenset[str], frozenset[str]]]
    ) -> tuple[frozenset[str], frozenset[str]]:
        variables, required = unit.names.variables, unit.names.required
        for name, node in unit.references():
            partial = self.units.get(name) if name is not None else None
            if partial is not None and name is not None:
                if name not in done:
                    # Of partials that lead back to themselves, the rest is what they read.
                    done[name] = (frozenset(), frozenset())
                    done[name] = self._reads(partial, done)
                # What surrounds the tag binds names for the partial.
                bound = unit.names.around.get(node, frozenset())
                more, needed = done[name]
                variables, required = variables | (more - bound), required | (needed - bound)
        return variables, required

    def segments(self) -> Segments:
        """The template as segments, each rendered by itself; made at the first call."""
        if self._segments is None:
            self._segments = self._split()
        return self._segments

    def program_of(self, texts: Mapping[str, str]) -> Program:
        """More templates with the same partials: texts of segments, put together anew."""
        aliases = {"__refused": ("function", _weakly(self._refuse))}
        return self._program(texts, aliases, True)

    def _split(self) -> Segments:
        unit = self.units[MAIN]
        marked = rewrite(
            unit.source,
            unit.tree,
            strict=self._profile.undefined == "strict",
            sites=self._sites,
            marks=(marks := Marks()),
            bound=unit.names.bound,
        )
        plans = plan_segments(
            unit,
            self._rewritten[MAIN],
            marked,
            self._profile,
            names=self.names,
            split=self._partials is None,
        )
        texts = {plan.name: plan.code for plan in plans if plan.literal is None}
        marked_texts = {
            plan.name + MARKED: plan.marked for plan in plans if plan.marked is not None
        }
        program = self.program_of({**texts, **marked_texts})
        return Segments(tuple(plans), program, marks, marked_outputs(unit, marks))

    def explain(
        self, error: BaseException, names: Iterable[str], values: Mapping[str, Any]
    ) -> PromptError | None:
        """What went wrong in a render.

        Args:
            error: what `program.render` raised.
            names: the names that the context has.
            values: what the program was given.

        Returns:
            The error to raise; None when the exception is not about the template at all.
        """
        if isinstance(error, _SiteError):
            # A strict look at a value that the engine would have taken for empty; what is
            # absent may be a part of its path.
            error = EngineError("UndefinedError")

        # Failures are rare, and what explains them is large.
        from .failure import Failure
        from .faults import explain

        end = thread_time() + _EXPLAINING

        def ask(probe: Probe) -> Site | None:
            # Asking is reading and rendering again: what took long would take long each time.
            return self._ask(probe, values) if thread_time() < end else None

        rewritten = self._rewritten
        required = self.reads()[1]
        failure = Failure(self.units, rewritten, names, required, values, self._profile, ask)
        return explain(error, failure)

    def _ask(self, probe: Probe, values: Mapping[str, Any]) -> Site | None:
        asked = Compiled(self.units, self._partials, self.names, self._profile, probe)
        try:
            asked.program.render(MAIN, **values)
        except _SiteError as error:
            return asked._sites[error.number]
        except Exception:
            return None
        return None


def compile_source(source: Source, profile: Profile, folder: Folder | None) -> Compiled:
    """Read, check and compile a template.

    Args:
        source: the template.
        profile: how it is read and rendered.
        folder: where its partials are, if it may have any.

    Raises:
        TemplateError: the template, or a partial that it names, is invalid.
        TemplateNotFoundError: a partial that it names does not exist.
    """
    partials = None
    complete = True
    try:
        units = {MAIN: read_unit(source, profile, folder=folder is not None)}
        if folder is not None and profile.partials:
            partials = Partials(folder, profile)
            complete = partials.gather(units[MAIN])
            units.update(partials.units)
    except UnderstandingError as error:
        # The engine is right about syntax, so its own words come first.
        _refuse_syntax(error.source, profile)
        raise error from None
    names = {name for unit in units.values() for name in unit.names.variables}
    return Compiled(units, partials, tuple(sorted(names)) if complete else None, profile)


def _refuse_syntax(source: Source, profile: Profile) -> None:
    try:
        Program({MAIN: source.text}, profile, undefined=_report)
    except EngineError as error:
        from .syntax_faults import explain_syntax

        raise explain_syntax(error, source, source.offset_of_byte) from None


def _aliases(sites: list[Site], profile: Profile) -> dict[str, tuple[str, Callable[..., Any]]]:
    """Our own filters and functions under one name a site, which reports itself on failure."""
    strict = profile.undefined == "strict"
    own = filters(profile.limits, strict=strict, sort_keys=profile.sort_keys)
    own.update(functions())
    aliases: dict[str, tuple[str, Callable[..., Any]]] = {}
    for number, site in enumerate(sites):
        called, name = _called_name(site.node)
        if name in own:
            kind = "function" if called else "filter"
            aliases[ALIAS_NAME.format(number)] = (kind, _reporting(own[name], number))
    return aliases


def _called_name(node: Node) -> tuple[bool, str]:
    if node.kind == "call" and node.children[0].kind == "attr":
        return False, FORMAT_NAME
    if node.kind == "call":
        return True, str(node.children[0].value)
    return False, str(node.value) if node.kind == "filter" else ""


def _reporting(callback: Callable[..., Any], number: int) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return callback(*arguments, **named)
        except Exception:
            raise _SiteError(number) from None

    return call

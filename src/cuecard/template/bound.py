"""Bound templates: what does not change is rendered once, and a turn renders the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from threading import RLock
from time import perf_counter, thread_time
from typing import Any

from ..compiler import Compiled, SegmentPlan
from ..errors import ContextError, PromptError
from ..prompt import Marks, Outline, Prompt, Scope
from ..source import Diagnostic
from .changing import ABSENT, Changing, Part, Values
from .merging import merged
from .template import NO_VARIABLES, Template
from .tracing import absent_names, end_form, find_marks, forms_of, trimmed_end, unread_scopes

__all__ = ["BoundTemplate"]

_MAX_BETWEEN = 4096
"""Longer texts are not printed by the engine along with the parts around them."""

_LONG = 0.5
"""Seconds: what takes longer to bind is not bound."""

_MAX_APART = 16
"""So many parts are rendered one by one, so that only those are of which a value changed."""


class BoundTemplate(Template):
    """A template of which everything that reads only bound names is rendered already."""

    __slots__ = (
        "_absent",
        "_bound",
        "_bound_names",
        "_changing",
        "_context_bound",
        "_count",
        "_free",
        "_get",
        "_original",
        "_renewing",
        "_traced_outline",
        "_tracing",
        "_unread",
    )

    def __init__(
        self, original: Template, context: Any, scopes: Mapping[str, Scope] | None
    ) -> None:
        for name in Template.__slots__:
            setattr(self, name, getattr(original, name))
        self._original = original
        self._context_bound = context
        self._bound: dict[str, Any] = {}
        self._bound_names: frozenset[str] = frozenset()
        self.scopes = {**original.scopes, **(scopes or {})}
        self._changing: Changing | None = None
        # When a partial's file changes, one thread binds anew, and no other must come between.
        self._renewing = RLock()
        if self._compiled is not None:
            self._bind(context)

    def __repr__(self) -> str:
        return f"Template(name={self.name!r}, bound={sorted(self._bound_names)})"

    # names -----------------------------------------------------------------------------------

    @property
    def variables(self) -> frozenset[str]:
        """Every name that is still to be given."""
        return super().variables - self._bound_names

    @property
    def required(self) -> frozenset[str]:
        """Names that are still to be given, without which a render fails."""
        return super().required - self._bound_names

    def bind(self, context: Any = None, scopes: Mapping[str, Scope] | None = None) -> Template:
        """Bind other values instead of those that are bound."""
        return self._original.bind(context, scopes)

    # binding -----------------------------------------------------------------------------------

    def _bind(self, context: Any) -> None:
        compiled = self._current()
        given = self._context(context, {}, compiled.names)
        self._bound, self._bound_names = self._freeze(compiled, given), frozenset(given)
        read = self._bound_names & super().variables
        self.scopes = {**dict.fromkeys(read, Scope.SESSION), **self.scopes}
        self._outline = self._changing = None
        if compiled.names is not None:
            pieces = self._pieces(compiled)
            if pieces is not None:
                self._prepare(compiled, pieces)

    def _pieces(self, compiled: Compiled) -> list[str | SegmentPlan] | None:
        """What is rendered for good, and what turns render, in order.

        Each part has the limits of a render. When together they exceed them, or take long, it
        is None: then every turn renders the whole, which has these limits too.
        """
        pieces: list[str | SegmentPlan] = []
        size = 0
        clock, start = perf_counter(), thread_time()
        for plan in compiled.segments().plans:
            piece = self._finished(compiled, plan)
            size += len(piece) if isinstance(piece, str) else 0
            if size > self._max_output:
                return None
            if perf_counter() - clock > _LONG and thread_time() - start > _LONG:
                return None
            pieces.append(piece)
        return pieces

    def _finished(self, compiled: Compiled, plan: SegmentPlan) -> str | SegmentPlan:
        """The text of a part that is rendered for good, or the part, if it reads more or fails."""
        if not self._bound_names.issuperset(plan.names or ()):
            return plan
        try:
            return compiled.segments().render(plan, self._bound)
        except Exception:
            # It will fail at every render, which has all that it takes to say why.
            return plan

    def _prepare(self, compiled: Compiled, pieces: list[str | SegmentPlan]) -> None:
        """Put together what a turn has to do."""
        free = tuple(name for name in compiled.names or () if name not in self._bound_names)
        self._free, self._count, self._get = free, len(free), _getter(free)
        self._absent = {
            name: notice
            for name, notice in absent_names(compiled, self.profile).items()
            if name not in self._bound_names
        }
        self._unread = tuple(unread_scopes(self.scopes, super().variables, self.name))

        leading = next((i for i, p in enumerate(pieces) if not isinstance(p, str)), len(pieces))
        front = [piece for piece in pieces[:leading] if isinstance(piece, str)]
        forms = forms_of(compiled.segments().plans, (), self.scopes)
        if self._trims:
            forms.append(end_form(self._source))
        self._traced_outline = outline = Outline(forms, front)

        engine = compiled.segments().program.render
        self._tracing = self._changes(pieces[leading:], engine)
        # A render shares the texts in front with the blocks, and joins small parts to few.
        steps = [*(block.text for block in outline.blocks), *_merged(pieces[leading:])]
        plans = [step for step in steps if not isinstance(step, str)]
        if any(plan not in pieces for plan in plans):
            engine = compiled.program_of({plan.name: plan.code for plan in plans}).render
        self._changing = self._changes(steps, engine)

    def _changes(self, steps: Sequence[str | SegmentPlan], render: Callable[..., str]) -> Changing:
        assert self._compiled is not None
        numbers = {name: number for number, name in enumerate(self._free)}
        parts = [
            step if isinstance(step, str) else Part(step, render, self._bound, numbers)
            for step in steps
        ]
        return Changing(parts, self._free, self._compiled.freezer.freeze)

    def _explained(self, error: BaseException, context: Any, values: dict[str, Any]) -> PromptError:
        given = context if isinstance(context, dict) else values
        return super()._explained(error, {**dict.fromkeys(self._bound_names), **given}, values)

    def _check_names(self, context: Mapping[str, Any]) -> None:
        if not self._bound_names.isdisjoint(context):
            names = sorted(self._bound_names.intersection(context))
            listed = ", ".join(f"`{name}`" for name in names)
            raise ContextError(
                f"{listed} {'are' if len(names) > 1 else 'is'} bound already",
                path=f"$.{names[0]}",
                code="P708",
                hint="bind again to change it",
            )

    # rendering ----------------------------------------------------------------------------------

    def _take(self, context: Any, variables: dict[str, Any]) -> Values:
        """The values of a turn, in the order of the free names."""
        if variables or type(context) is not dict:
            context = self._context(context, variables, None)
        try:
            values = self._get(context)
        except KeyError:
            values = [context.get(name, ABSENT) for name in self._free]
        else:
            if len(context) == self._count:
                return values
        self._check_names(context)
        return values

    def _renew(self) -> None:
        """Bind anew when the file of a partial has changed."""
        if self._compiled is not None and self._compiled.changed():
            self._compiled = self._original._current()
            self._bind(self._context_bound)

    def _run(self, context: Any, variables: dict[str, Any] = NO_VARIABLES) -> str:
        if self._partials is None:
            return self._run_turn(context, variables)
        with self._renewing:
            return self._run_turn(context, variables)

    def _run_turn(self, context: Any, variables: dict[str, Any]) -> str:
        if self._changing is None:
            return self._run_unbound(context, variables)
        try:
            if self._partials is not None:
                self._renew()
            texts = self._changing.turn(self._take(context, variables))[1]
            if self._trims:
                texts = [*trimmed_end(texts)[0], "\n"]
            text = "".join(texts)
            if len(text) > self._max_output:
                raise self._too_large()
        except BaseException as error:
            return self._fail(*self._everything(error, context, variables))
        return text

    def _run_unbound(self, context: Any, variables: dict[str, Any]) -> str:
        """A render of what cannot be bound: a constant, a failure, or it may read any name."""
        if self._compiled is None or self._failure is not None:
            return super()._run_slowly(context, variables)
        return self.trace(context, **variables).text

    def _everything(
        self, error: BaseException, context: Any, variables: dict[str, Any]
    ) -> tuple[BaseException, Any, dict[str, Any]]:
        """What explains an error: itself in the whole template, the context and all values."""
        if isinstance(error, PromptError):
            return error, context, self._bound
        assert self._compiled is not None
        context = self._context(context, variables, None)
        values = {**self._bound, **self._freeze(self._compiled, context)}
        return self._error_of_the_whole(error, values), context, values

    def trace(self, context: Any = None, /, **variables: Any) -> Prompt:
        """Render the rest, and keep where each part of the text came from."""
        if self._partials is None:
            return self._trace_turn(context, variables)
        with self._renewing:
            return self._trace_turn(context, variables)

    def _trace_turn(self, context: Any, variables: dict[str, Any]) -> Prompt:
        if self._changing is None:
            return self._trace_unbound(context, variables)
        try:
            if self._partials is not None:
                self._renew()
            values, texts = self._tracing.turn(self._take(context, variables))
            if self._traced_outline.size + sum(map(len, texts)) > self._max_output:
                raise self._too_large()
        except BaseException as error:
            return self._failed_trace(*self._everything(error, context, variables))
        marks = partial(self._marks, values, texts)
        outline = self._traced_outline
        if self._trims:
            texts, found = trimmed_end(texts)
            if not found:
                texts = trimmed_end([*outline.front, *texts])[0]
                outline = Outline(outline.forms)
            texts.append("\n")
        return Prompt(
            outline,
            texts,
            template=self._source.name,
            diagnostics=self._noticed(values) if self._absent else self._unread,
            marks=marks,
        )

    def _noticed(self, values: Values) -> list[Diagnostic]:
        absent = {name for name, value in zip(self._free, values, strict=True) if value is ABSENT}
        return [*(n for name, n in self._absent.items() if name in absent), *self._unread]

    def _named(self, values: Values) -> Iterator[tuple[str, Any]]:
        pairs = zip(self._free, values, strict=True)
        return ((name, value) for name, value in pairs if value is not ABSENT)

    def _marks(self, values: Values, texts: list[str], number: int) -> Marks:
        compiled = self._compiled
        assert compiled is not None
        plans = compiled.segments().plans
        if number >= len(plans):
            return ()
        everything = {**self._bound, **dict(self._named(values))}
        text = (*self._traced_outline.front, *texts)[number]
        return find_marks(compiled, plans[number], text, everything, self.scopes)

    def _trace_unbound(self, context: Any, variables: dict[str, Any]) -> Prompt:
        if self._compiled is None or self._failure is not None:
            return super().trace(context, **variables)
        self._renew()
        given = self._context(context, variables, None)
        self._check_names(given)
        return super().trace({**self._context(self._context_bound, {}, None), **given})


def _getter(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], Values]:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda context: [context[name] for name in names]


def _joined(pieces: Sequence[str | SegmentPlan]) -> Iterator[str | SegmentPlan]:
    """The parts of a turn, with neighbouring texts joined."""
    texts: list[str] = []
    for piece in pieces:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        if texts:
            yield "".join(texts)
            texts = []
        yield piece
    if texts:
        yield "".join(texts)


def _merged(pieces: Sequence[str | SegmentPlan]) -> Iterator[str | SegmentPlan]:
    """The steps of a turn: few parts stay apart, many become as few renders as possible."""
    steps = list(_joined(pieces))
    if sum(not isinstance(step, str) for step in steps) <= _MAX_APART:
        yield from steps
        return
    run: list[str | SegmentPlan] = []
    for step in steps:
        if isinstance(step, str) and (not run or len(step) > _MAX_BETWEEN):
            yield from _closed(run)
            run = []
            yield step
        else:
            run.append(step)
    yield from _closed(run)


def _closed(run: list[str | SegmentPlan]) -> Iterator[str | SegmentPlan]:
    """One render for a run of parts and the short texts between them."""
    texts: list[str] = []
    while run and isinstance(run[-1], str):
        texts.insert(0, str(run.pop()))
    if run:
        yield merged(run)
    yield from texts

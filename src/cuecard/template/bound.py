"""Bound templates: what does not change is rendered once, and a turn renders the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ..compiler import Compiled, SegmentPlan
from ..errors import ContextError, PromptError
from ..prompt import Block, Piece, Prompt, Scope
from ..prompt.blocks import runs
from .template import NO_VARIABLES, Template
from .tracing import trace_piece

__all__ = ["BoundTemplate"]

_JOINED = "{{ '' }}"
"""Prints nothing, and keeps white-space control on either side from reaching the other."""

_MAX_BETWEEN = 4096


class BoundTemplate(Template):
    """A template of which everything that reads only bound names is rendered already."""

    __slots__ = (
        "_bound",
        "_bound_names",
        "_context_bound",
        "_free",
        "_front",
        "_mixed",
        "_original",
        "_pieces",
        "_program",
        "_steps",
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
        self._steps: tuple[str | SegmentPlan, ...] | None = None
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
        plans = compiled.segments().plans
        self._pieces = tuple(self._bound_piece(compiled, plan) for plan in plans)
        self._prepare(compiled)

    def _bound_piece(self, compiled: Compiled, plan: SegmentPlan) -> Piece | SegmentPlan:
        """A part that is rendered for good, or the part when it reads more or fails."""
        if plan.names is None or not self._bound_names.issuperset(plan.names):
            return plan
        try:
            return trace_piece(compiled, plan, self._bound, self.scopes)
        except Exception:
            # It will fail at every render, which has all that it takes to say why.
            return plan

    def _prepare(self, compiled: Compiled) -> None:
        """Put together what a turn has to do."""
        plans = [piece for piece in self._pieces if isinstance(piece, SegmentPlan)]
        reads = {name for plan in plans for name in plan.names or compiled.names or ()}
        self._free = tuple(sorted(reads - self._bound_names))
        self._mixed = {name: self._bound[name] for name in reads if name in self._bound}
        steps = list(_merged(self._pieces))
        texts = {step.name: step.code for step in steps if isinstance(step, SegmentPlan)}
        self._program = compiled.program_of(texts).render
        self._steps = tuple(steps)
        leading = 0
        while leading < len(self._pieces) and isinstance(self._pieces[leading], Piece):
            leading += 1
        while leading and not self._pieces[leading - 1].text:  # type: ignore[union-attr]
            # What prints nothing has a scope all the same, which the block before does not tell.
            leading -= 1
        front = [piece for piece in self._pieces[:leading] if isinstance(piece, Piece)]
        blocks = tuple(runs(front, (), len(Scope)))
        self._front: tuple[int, tuple[Block, ...]] = (leading, blocks)

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

    def _run(self, context: Any, variables: dict[str, Any] = NO_VARIABLES) -> str:
        if self._steps is None or self._partials is not None:
            return self._run_unbound(context, variables)
        values = dict(self._mixed)
        try:
            if variables or type(context) is not dict:
                context = self._context(context, variables, self._free)
            if not self._bound_names.isdisjoint(context):
                self._check_names(context)
            for name in self._free:
                if name in context:
                    value = context[name]
                    if type(value) is str and value.isascii():
                        values[name] = value
                    else:
                        values[name] = self._freezer.freeze(name, value)  # type: ignore[union-attr]
            parts: list[str] = []
            for step in self._steps:
                if type(step) is str:
                    parts.append(step)
                else:
                    parts.append(self._step(step, values))  # type: ignore[arg-type]
            text = "".join(parts)
        except BaseException as error:
            everything = {**self._bound, **values}
            return self._fail(self._error_of_the_whole(error, everything), context, everything)
        if len(text) > self._max_output:
            return self._fail(self._too_large(), context, {**self._bound, **values})
        return self._finish(text) if self._trims else text

    def _step(self, plan: SegmentPlan, values: dict[str, Any]) -> str:
        if plan.variable is not None:
            value = values.get(plan.variable)
            if type(value) is str:
                return value
        return self._program(plan.name, **values)

    def _run_unbound(self, context: Any, variables: dict[str, Any]) -> str:
        """A render of what cannot be bound: a constant, a failure, or with partials."""
        if self._compiled is None or self._failure is not None:
            return super()._run_slowly(context, variables)
        return self.trace(context, **variables).text

    def trace(self, context: Any = None, /, **variables: Any) -> Prompt:
        """Render the rest, and keep where each part of the text came from."""
        if self._compiled is None or self._failure is not None:
            return super().trace(context, **variables)
        values: dict[str, Any] = {}
        pieces: list[Piece] = []
        try:
            if self._compiled.changed():
                self._compiled = self._original._current()
                self._bind(self._context_bound)
            compiled = self._compiled
            context = self._context(context, variables, None)
            self._check_names(context)
            values = {**self._bound, **self._freeze(compiled, context)}
            for piece in self._pieces:
                if isinstance(piece, SegmentPlan):
                    piece = trace_piece(compiled, piece, values, self.scopes)
                pieces.append(piece)
            self._check_size(pieces)
        except BaseException as error:
            return self._failed_trace(error, context, values, pieces)
        return self._prompt(pieces, context, self._front)


def _merged(pieces: Sequence[Piece | SegmentPlan]) -> Iterator[str | SegmentPlan]:
    """The steps of a turn: finished texts, and between them as few renders as possible."""
    steps: list[str | SegmentPlan] = []
    for is_text, group in groupby(pieces, lambda piece: isinstance(piece, Piece)):
        if is_text:
            steps.append("".join(piece.text for piece in group if isinstance(piece, Piece)))
        else:
            steps.extend(plan for plan in group if isinstance(plan, SegmentPlan))
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
    plans = [step for step in run if isinstance(step, SegmentPlan)]
    if len(plans) == 1:
        yield plans[0]
    elif plans:
        code = _JOINED.join(
            _scoped(step) if isinstance(step, SegmentPlan) else _escaped(step) for step in run
        )
        names = tuple(sorted({name for plan in plans for name in plan.names or ()}))
        yield plans[0]._replace(code=code, names=names, variable=None, marked=None)
    yield from texts


def _scoped(plan: SegmentPlan) -> str:
    """A part's source, with what it binds kept from the parts after it."""
    if plan.kind != "block":
        return plan.code
    code = plan.code
    if code.endswith("{"):
        # With the tag that follows, the brace would open an output.
        code = code[:-1] + "{{ '{' }}"
    return f"{{%+ with +%}}{code}{{%+ endwith +%}}"


def _escaped(text: str) -> str:
    """Source that prints a text, whatever delimiters it holds."""
    for mark in ("{{", "{%", "{#"):
        if mark in text:
            return "".join("{{ '{' }}" if character == "{" else character for character in text)
    return text.replace("{", "{{ '{' }}") if text.endswith("{") else text

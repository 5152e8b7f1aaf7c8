"""Segments: a template cut at its top level, so that each part can be rendered by itself.

The parts joined are the render of the whole. Literal text between tags is resolved here,
white-space control applied; an output or a block is compiled as it stands, the engine
resolving what is inside. What binds names (`set`, `macro`) prints nothing; it is put in
front of every later part that reads one of its names. Where a part could depend on more
than that, it and the rest of the template are one part.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..engine.program import Program
from ..language.expressions import Node
from ..language.units import Unit
from ..profile import Profile
from ..scanner import literal_text, without_dropped_newline
from ..source import Span
from .probing import Marks
from .rewritten import Rewritten

__all__ = [
    "MARKED",
    "Choice",
    "Filling",
    "Output",
    "SegmentPlan",
    "Segments",
    "marked_outputs",
    "plan_segments",
]

MARKED = "m"
"""Ending of the name of a segment whose outputs are marked."""

_BINDERS = frozenset(("set", "set_block", "macro"))
_COMPOSITION = frozenset(("import", "from", "include", "extends", "block"))
_OWN_SCOPE = frozenset(("for", "with", "macro", "call_block"))
_STATEFUL = frozenset(("namespace", "cycler", "joiner"))
_MAX_BINDERS = 32
"""More statements that bind names are not put in front of every part that reads one."""

_CAPTURES = frozenset(("filter_block", "set_block", "macro", "call_block"))


class Filling(NamedTuple):
    """A text with values in it: a format for `%`, and the names of the values."""

    format: str
    names: tuple[str, ...]


class Choice(NamedTuple):
    """What an `if` around plain outputs prints, as long as all that it reads is text.

    Attributes:
        tests: the names that it tests; each has to be given.
        filled: those of them that must not be empty.
        then: what it prints when none of these is.
        otherwise: what it prints else.
    """

    tests: tuple[str, ...]
    filled: tuple[str, ...]
    then: Filling
    otherwise: Filling


class SegmentPlan(NamedTuple):
    """A part of a template.

    Attributes:
        name: what the engine calls it.
        kind: `"text"`, `"output"` or `"block"`.
        span: its place in the source.
        literal: its text, when it is always the same; then nothing is compiled.
        code: the rewritten source that renders it.
        marked: the same with its inner outputs marked, when it has any.
        names: what it reads from the context; None when it may read anything.
        variable: the name that it prints, when it does nothing else.
        choice: what it prints, when it is simple enough to need no engine.
    """

    name: str
    kind: str
    span: Span
    literal: str | None
    code: str = ""
    marked: str | None = None
    names: tuple[str, ...] | None = ()
    variable: str | None = None
    choice: Choice | None = None


class Output(NamedTuple):
    """An output within a block: its place, and the names of the context behind it."""

    span: Span
    names: frozenset[str]


class Segments(NamedTuple):
    """A template as parts that are ready to render.

    Attributes:
        plans: the parts, in order.
        program: the parts, compiled.
        marks: what the marked parts print around their outputs.
        outputs: those outputs, by the number of their mark.
    """

    plans: tuple[SegmentPlan, ...]
    program: Program
    marks: Marks
    outputs: tuple[Output, ...]

    def render(self, plan: SegmentPlan, values: Mapping[str, Any]) -> str:
        """Render one part."""
        if plan.literal is not None:
            return plan.literal
        return self.program.render(plan.name, **_read(plan, values))

    def render_marked(
        self, plan: SegmentPlan, values: Mapping[str, Any]
    ) -> tuple[str, list[tuple[int, int, Output]]]:
        """Render one part, and find the outputs within it: start, end and which."""
        if plan.marked is None:
            return self.render(plan, values), []
        text = self.program.render(plan.name + MARKED, **_read(plan, values))
        return _unmark(text, self.marks, self.outputs)


def _read(plan: SegmentPlan, values: Mapping[str, Any]) -> dict[str, Any]:
    if plan.names is None:
        return dict(values)
    return {name: values[name] for name in plan.names if name in values}


def _unmark(
    text: str, marks: Marks, outputs: tuple[Output, ...]
) -> tuple[str, list[tuple[int, int, Output]]]:
    pieces: list[str] = []
    found: list[tuple[int, int, Output]] = []
    opened: list[tuple[int, int]] = []
    position = length = 0
    for mark in marks.pattern.finditer(text):
        pieces.append(text[position : mark.start()])
        length += mark.start() - position
        position = mark.end()
        if mark[1] == "<":
            opened.append((int(mark[2]), length))
        else:
            number, start = opened.pop()
            found.append((start, length, outputs[number]))
    pieces.append(text[position:])
    return "".join(pieces), found


def plan_segments(
    unit: Unit,
    rewritten: Rewritten,
    marked: Rewritten,
    profile: Profile,
    *,
    names: tuple[str, ...] | None,
    split: bool,
) -> list[SegmentPlan]:
    """Cut a template into its parts.

    Args:
        unit: the template.
        rewritten: what the engine is given.
        marked: the same with the outputs within blocks marked.
        profile: how it is rendered.
        names: what the whole reads, partials included; None when that is not known.
        split: whether to cut at all; a template with partials stays whole.
    """
    planner = _Planner(unit, rewritten, marked, profile)
    if not split or any(_composes(statement) for statement in unit.tree.children):
        return [planner.whole(names)]
    return list(planner.plans())


def marked_outputs(unit: Unit, marks: Marks) -> tuple[Output, ...]:
    """The outputs that were marked, by the number of their mark."""
    return tuple(
        Output(unit.source.span(node.start, node.end), frozenset(_context_names(node, unit)))
        for node in marks.nodes
    )


def _context_names(node: Node, unit: Unit) -> set[str]:
    """Names of the context behind an expression, through the names that a template binds."""
    names = unit.names
    seen: set[str] = set()
    waiting = _read_names(node)
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for origin in names.origins.get(name, ()):
            waiting |= _read_names(origin) - seen
    return seen & names.variables


class _Planner:
    def __init__(
        self, unit: Unit, rewritten: Rewritten, marked: Rewritten, profile: Profile
    ) -> None:
        self._unit = unit
        self._rewritten = rewritten
        self._marked = marked
        self._profile = profile
        self._text = without_dropped_newline(unit.source.text, profile)
        self._indexes = {part.start: index for index, part in enumerate(unit.parts)}
        self._uses = sorted((use.node.start, use.name) for use in unit.names.uses)
        self._binders: list[Node] = []
        self._count = 0

    def whole(self, names: tuple[str, ...] | None) -> SegmentPlan:
        """The template as one part."""
        return self._code("block", 0, len(self._text), None, names)

    def plans(self) -> Iterator[SegmentPlan]:
        """The template's parts, in order."""
        for statement in self._unit.tree.children:
            if statement.kind in ("data", "raw"):
                plan = self._literal(statement)
                if plan.literal:
                    yield plan
            elif statement.kind in _BINDERS:
                if (
                    len(self._binders) >= _MAX_BINDERS
                    or _is_stateful(statement)
                    or (statement.kind == "set_block" and _leaks(statement))
                ):
                    yield self._rest(statement.start)
                    return
                if statement.kind != "macro":
                    # It prints nothing, but it may fail, even if nothing reads what it binds.
                    yield self._statement(statement)
                self._binders.append(statement)
            elif statement.kind != "comment":
                if statement.kind != "output" and _leaks(statement):
                    yield self._rest(statement.start)
                    return
                yield self._statement(statement)

    def _literal(self, statement: Node) -> SegmentPlan:
        literal = literal_text(
            self._text,
            self._unit.parts,
            self._indexes[statement.start],
            trim_blocks=self._profile.trim_blocks,
            lstrip_blocks=self._profile.lstrip_blocks,
        )
        span = self._unit.source.span(statement.start, statement.end)
        return SegmentPlan("", "text", span, literal)

    def _statement(self, statement: Node) -> SegmentPlan:
        binders = self._needed((statement,))
        names = self._names((statement, *binders))
        printing = statement.kind == "output"
        inner = statement if _can_mark(statement) else None
        # What needs bindings is a block to its neighbours: they must not see those.
        kind = "output" if printing and not binders else "block"
        plan = self._code(kind, statement.start, statement.end, inner, names, binders)
        expression = statement.children[0] if printing else None
        if expression is not None and expression.kind == "name" and not binders and names:
            plan = plan._replace(variable=str(expression.value))
        if statement.kind == "if" and not binders:
            plan = plan._replace(choice=self._choice(statement))
        return plan

    def _choice(self, statement: Node) -> Choice | None:
        """An `if` and `else` as a choice, when they hold nothing but text and names to print."""
        first, *others = statement.children
        tested = _tested_names(first.children[0])
        if tested is None or len(others) > 1 or (others and len(others[0].children) > 1):
            return None
        then = self._filling(first.children[1])
        otherwise = self._filling(others[0].children[0]) if others else Filling("", ())
        if then is None or otherwise is None:
            return None
        return Choice(*tested, then, otherwise)

    def _filling(self, body: Node) -> Filling | None:
        """A body that holds nothing but text and names to print."""
        texts: list[str] = []
        names: list[str] = []
        for node in body.children:
            if node.kind in ("data", "raw"):
                texts.append((self._literal(node).literal or "").replace("%", "%%"))
            elif node.kind == "output" and node.children[0].kind == "name":
                texts.append("%s")
                names.append(str(node.children[0].value))
            elif node.kind != "comment":
                return None
        return Filling("".join(texts), tuple(names))

    def _rest(self, start: int) -> SegmentPlan:
        binders = list(self._binders)
        rest = [node for node in self._unit.tree.children if node.start >= start]
        names = self._names((*rest, *binders))
        return self._code("block", start, len(self._text), None, names, binders)

    def _code(
        self,
        kind: str,
        start: int,
        end: int,
        marked: Node | None,
        names: tuple[str, ...] | None,
        binders: Iterable[Node] = (),
    ) -> SegmentPlan:
        self._count += 1
        prelude = "".join(self._rewritten.between(b.start, b.end) for b in binders)
        return SegmentPlan(
            f"\0{self._count}",
            kind,
            self._unit.source.span(start, end),
            None,
            prelude + self._rewritten.between(start, end),
            prelude + self._marked.between(start, end) if marked is not None else None,
            names,
        )

    def _needed(self, nodes: Iterable[Node]) -> list[Node]:
        """Earlier statements that bind what these read, and what those read in turn."""
        wanted = {name for node in nodes for name in _read_names(node)}
        needed: set[int] = set()
        grown = True
        while grown:
            grown = False
            for index, binder in enumerate(self._binders):
                if index not in needed and wanted.intersection(_bound_names(binder)):
                    needed.add(index)
                    wanted.update(_read_names(binder))
                    grown = True
        return [self._binders[index] for index in sorted(needed)]

    def _names(self, nodes: Iterable[Node]) -> tuple[str, ...]:
        found: set[str] = set()
        for node in nodes:
            first = bisect_left(self._uses, (node.start, ""))
            last = bisect_left(self._uses, (node.end, ""))
            found.update(name for _, name in self._uses[first:last])
        return tuple(sorted(found))


def _tested_names(test: Node) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The names of a test such as `a is defined and a`, and those that must not be empty."""
    if test.kind == "name":
        return (str(test.value),), (str(test.value),)
    if test.kind == "test" and test.value == "defined" and test.children[0].kind == "name":
        return (str(test.children[0].value),), ()
    if test.kind == "and":
        left, right = map(_tested_names, test.children)
        if left is not None and right is not None:
            return (*left[0], *right[0]), (*left[1], *right[1])
    return None


def _composes(statement: Node) -> bool:
    return any(node.kind in _COMPOSITION for node in statement.walk())


def _is_stateful(binder: Node) -> bool:
    """Whether a binding could remember something from one use to the next."""
    if not binder.value:
        return True
    return any(node.kind == "name" and node.value in _STATEFUL for node in binder.walk())


def _leaks(statement: Node) -> bool:
    """Whether a statement may bind names that hold after it."""
    if statement.kind in _OWN_SCOPE:
        return False
    return any(
        child.kind in _BINDERS or (child.kind not in _OWN_SCOPE and _leaks(child))
        for child in statement.children
    )


def _bound_names(binder: Node) -> tuple[str, ...]:
    names: tuple[str, ...] = binder.value
    return names[:1] if binder.kind == "macro" else names


def _read_names(node: Node) -> set[str]:
    return {str(n.value) for n in node.walk() if n.kind == "name"}


def _can_mark(statement: Node) -> bool:
    """Whether marks in the outputs of a block are sure to come out as they went in.

    What a filter, a macro or a recursive loop captures could be changed on its way.
    """
    if statement.kind == "output":
        return False
    outputs = 0
    for node in statement.walk():
        if node.kind in _CAPTURES:
            return False
        if node.kind == "name" and node.value == "loop" and _is_called(statement, node):
            return False
        outputs += node.kind == "output"
    return outputs > 0


def _is_called(statement: Node, name: Node) -> bool:
    return any(node.kind == "call" and node.children[0] is name for node in statement.walk())

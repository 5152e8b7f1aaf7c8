"""Rewriting: what is changed in a source before the engine reads it, and the way back.

The engine is asked for exactly what the author wrote, but for a few places where its own
behaviour is not the one promised:

- the literal `none` becomes a name that is bound to a null which prints nothing, and
  `mapping.get(key)` gets that null as its default;
- `"...".format(...)` becomes a filter that bounds the widths;
- what is made from a template's own values is measured where it is bound;
- what is worked on again and again without being paid for is paid for;
- an absent value in a collection is null, where the engine would print `undefined`;
- under a strict profile, a value that only a filter, a test or a collection touches is
  looked at first, since the engine takes its absence for an empty value there.

A `Probe` asks for more: after a failure, the same template is rewritten so that it says
which expression failed. `Rewritten.offset` leads from a place in the rewritten text back to
the source.
"""

from __future__ import annotations

from collections.abc import Container

from ..engine.program import (
    FORMAT_NAME,
    MEASURE_NAME,
    NULL_NAME,
    SPEND_NAME,
    UNDEFINED_NAME,
    WRAP_NAME,
)
from ..language.costs import MANY, REPEATING, TIMES, Reach, costly_operands
from ..language.expressions import Node, is_path, path_text
from ..language.vocabulary import FUNCTIONS
from ..source import Source
from .probing import ALIAS_NAME, Marks, Probe, Site
from .rewritten import Rewritten

__all__ = ["rewrite"]


_ASKED_ELSEWHERE = frozenset(("tojson", "json", "raw", "xml_text", "indent", "format"))
"""Filters of our own: they see an absent value themselves."""


_WITH_OPTIONS = frozenset(
    (
        "batch",
        "dictsort",
        "float",
        "int",
        "join",
        "lstrip",
        "pluralize",
        "replace",
        "round",
        "rsplit",
        "rstrip",
        "slice",
        "sort",
        "split",
        "splitlines",
        "strip",
        "trim",
        "truncate",
        "unique",
        "urlencode",
        "wordwrap",
    )
)
"""Filters and methods of the engine that take a null for an option which is not given."""


_COLLECTIONS = frozenset(("list", "tuple", "map"))
# The only nodes whose operands may have to be asked for, but for a search by depth.
_ASKING = _COLLECTIONS | {"filter", "test", "call", "keyword", "spread"}
_BINDING = frozenset(("set", "set_block", "with", "for"))
_PARAMETERS = frozenset(("macro", "call_block"))
_BUILDERS = frozenset(("list", "map", "tuple", "binary", "call", "filter", "slice", "output"))
"""Nodes that may make a value larger than those that it is made from."""

_COUNTED = frozenset(("batch", "slice"))
"""Filters that repeat their second argument as often as their first one says."""


def rewrite(
    source: Source,
    tree: Node,
    *,
    strict: bool,
    sites: list[Site],
    probe: Probe | None = None,
    marks: Marks | None = None,
    bound: Container[str] = (),
    repeated: bool = False,
) -> Rewritten:
    """Rewrite a source for the engine.

    Args:
        source: the template.
        tree: its tree.
        strict: whether an absent value is an error.
        sites: receives the places that the text reports by their index in this list.
        probe: what to report beside, after a failure.
        marks: where the outputs within blocks are to be marked, the marks to print.
        bound: names that the template binds.
        repeated: whether the whole may run many times, as a partial may.
    """
    repeated = repeated or _is_costly(tree)
    writer = _Writer(source, strict, sites, probe or Probe(), marks, bound, repeated, tree)
    writer.visit(tree)
    return Rewritten(source, writer.edits())


class _Writer:
    def __init__(
        self,
        source: Source,
        strict: bool,
        sites: list[Site],
        probe: Probe,
        marks: Marks | None,
        bound: Container[str],
        repeated: bool,
        tree: Node,
    ) -> None:
        self._source = source
        self._strict = strict
        self._sites = sites
        self._probe = probe
        self._marks = marks
        self._bound = bound
        self._repeated = int(repeated)
        self._tree = tree
        self._passing: bool | None = None
        # Of the edits at one place, those that close a node come first, the inner before
        # the outer; then those that open one, the outer before the inner.
        self._edits: list[tuple[int, int, int, int, str]] = []
        self._macros: set[str] = set()

    def edits(self) -> list[tuple[int, int, str]]:
        return [(start, end, text) for start, _, _, end, text in sorted(self._edits)]

    def _open(self, position: int, text: str) -> None:
        self._edits.append((position, 1, len(self._edits), position, text))

    def _close(self, position: int, text: str) -> None:
        self._edits.append((position, 0, -len(self._edits), position, text))

    def _replace(self, start: int, end: int, text: str) -> None:
        self._edits.append((start, 2, len(self._edits), end, text))

    def visit(self, node: Node, parents: tuple[Node, ...] = ()) -> None:
        """Edit what the node needs, and all below it."""
        kind = node.kind
        if kind == "const" and node.value == "none" and not _is_option(parents):
            word = self._source.text.lower().find("none", node.start)
            self._replace(word, word + 4, NULL_NAME)
            return
        if kind == "autoescape":
            # Nothing is ever escaped, whatever a template asks for.
            asked = node.children[0]
            self._replace(asked.start, asked.end, "false")
            self.visit(node.children[1], (node, *parents[:1]))
            return
        if kind in ("macro", "from", "import"):
            self._macros.update(node.value)
        if kind == "output" and len(parents) > 1 and self._marks is not None:
            self._mark(node)
        if kind in _BINDING or (kind in _PARAMETERS and node.value):
            self._measure(node)
        if kind == "call":
            self._call(node)
        elif kind == "filter" and node.value in _COUNTED:
            self._count(node)
        elif kind == "filter" and node.value == "wordwrap":
            self._replace(node.at, node.at, f"{WRAP_NAME}|")
        elif kind == "filter" and node.value == "map" and _may_wrap(node):
            self._replace(node.at, node.at, f"map('{WRAP_NAME}')|")
        if kind in ("filter", "test") and node.value in self._probe.names:
            self._replace(node.at, node.at + len(node.value), self._alias(node))
        if self._repeated:
            for operand, reach in costly_operands(node):
                self._spend(operand, reach)
        asks = self._probe.depth or kind in _ASKING
        below = (node, *parents[:1])
        self._repeated += kind in REPEATING
        for index, child in enumerate(node.children):
            if kind in ("set", "set_block") and _is_target(node, index):
                continue
            if asks:
                self._ask_results(node, index, child, parents)
            self.visit(child, below)
        self._repeated -= kind in REPEATING

    def _ask_results(self, node: Node, index: int, child: Node, parents: tuple[Node, ...]) -> None:
        owner, position = node, index
        if node.kind in ("keyword", "spread") and parents:
            owner, position = parents[0], 1
        for path in _results(child):
            if self._is_asked(owner, position, path):
                self._ask(path)
            elif not self._strict and node.kind in _COLLECTIONS:
                self._ask(path, NULL_NAME)

    def _measure(self, node: Node) -> None:
        """Look at the size of what is bound, right after the tag that binds it.

        A value that is made from what the template bound before may double each time, and
        the engine's fuel does not pay for its size.
        """
        values, bound, end = _binding(node, self._source)
        if node.kind in _PARAMETERS or _is_called_again(node):
            grows = self._passes_growing()
        else:
            grows = any(self._grows(value) for value in values)
        if not grows or not bound:
            return
        number = self._site(node)
        looks = " or ".join(f"{MEASURE_NAME}({name}, {number})" for name in bound)
        mark = self._source.text[end - 3] in "-+"
        self._open(end - 2 - mark, f" %}}{{% if {looks} %}}{{% endif ")

    def _spend(self, path: Node, reach: Reach) -> None:
        """Have a path's value paid for, where an operation works on it for nothing."""
        if _is_steady(path):
            text = self._source.text[path.start : path.end]
            self._open(path.start, "(")
            spent = f"{SPEND_NAME}({self._site(path)}, {reach}, {text})"
            self._close(path.end, f" if {spent} else {text})")

    def _count(self, node: Node) -> None:
        """Have a filter's filling paid for as often as it is repeated."""
        arguments = node.children[1:] if node.start != node.at else node.children
        if len(arguments) != 2 or any(a.kind in ("keyword", "spread") for a in arguments):
            return
        count, filling = arguments
        shown = filling if is_path(filling) and _is_steady(filling) else None
        value = "none" if shown is None else self._source.text[filling.start : filling.end]
        self._open(count.start, f"{SPEND_NAME}({self._site(node)}, {TIMES}, {value}, ")
        self._close(count.end, ")")

    def _site(self, node: Node) -> int:
        self._sites.append(Site(self._source, node))
        return len(self._sites) - 1

    def _passes_growing(self) -> bool:
        """Whether any call is given something that is made from what the template binds."""
        if self._passing is None:
            self._passing = any(
                self._grows(argument)
                for node in self._tree.walk()
                if node.kind == "call"
                for argument in node.children[1:]
            )
        return self._passing

    def _grows(self, value: Node) -> bool:
        nodes = list(value.walk())
        return any(n.kind in _BUILDERS for n in nodes) and any(
            n.kind == "name" and n.value in self._bound for n in nodes
        )

    def _mark(self, node: Node) -> None:
        """Print a mark before and after an output, inside its white-space control."""
        assert self._marks is not None
        text = self._source.text
        opening = node.start + 2 + (text[node.start + 2] in "-+")
        closing = node.end - 2 - (text[node.end - 3] in "-+")
        number = self._marks.add(node)
        self._open(opening, f"{self._marks.text(number, True)} }}}}{{{{")
        self._close(closing, f" }}}}{{{{ {self._marks.text(number, False)}")

    def _call(self, node: Node) -> None:
        callee = node.children[0]
        plain = all(argument.kind not in ("keyword", "spread") for argument in node.children)
        if callee.kind == "attr" and callee.value == "format":
            self._open(node.start, "(")
            dot = self._source.text.rindex(".", callee.children[0].end, callee.at)
            name = self._alias(node) if "format" in self._probe.names else FORMAT_NAME
            self._replace(dot, callee.end, "|" + name)
            self._close(node.end, ")")
        elif callee.kind == "attr" and callee.value == "get" and len(node.children) == 2 and plain:
            # A comma may stand behind the last argument already.
            before = self._source.text[node.children[1].end : node.at]
            comma = "" if "," in before else ", "
            self._replace(node.at, node.at, comma + NULL_NAME)
        elif callee.kind == "name" and callee.value in self._probe.names:
            self._replace(callee.start, callee.end, self._alias(node))

    def _alias(self, node: Node) -> str:
        self._sites.append(Site(self._source, node))
        return ALIAS_NAME.format(len(self._sites) - 1)

    def _ask(self, node: Node, instead: str | None = None) -> None:
        if instead is None:
            self._sites.append(Site(self._source, node))
            instead = f"{UNDEFINED_NAME}({len(self._sites) - 1})"
        path = self._source.text[node.start : node.end]
        self._open(node.start, "(")
        self._close(node.end, f" if {path} is defined else {instead})")

    def _is_asked(self, parent: Node, index: int, path: Node) -> bool:
        """Whether the engine must look at a path's presence before it uses the value."""
        if _provides(parent) and not (self._probe.defaults and index > 0):
            # What it provides for does not matter, nor what it would give instead.
            return False
        if parent.kind == "call" and index == 0 and path.kind != "item":
            return False
        if self._probe.depth:
            # Longer paths are left alone: looking at one would fail at its absent part.
            is_base = index == 0 and parent.kind in ("attr", "item", "slice")
            return _steps(path) == self._probe.depth and (self._strict or is_base)
        return self._strict and self._is_silent(parent, index)

    def _is_silent(self, parent: Node, index: int) -> bool:
        kind = parent.kind
        if kind == "filter":
            if index == 0 and parent.start != parent.at:
                return parent.value not in _ASKED_ELSEWHERE
            return parent.value not in ("default", "d")
        if kind == "call":
            callee = parent.children[0]
            return callee.kind == "attr" or callee.value in FUNCTIONS - self._macros
        return kind == "test" or kind in _COLLECTIONS


def _is_costly(tree: Node) -> bool:
    """Whether so much stands in a row that it is as if it were in a loop."""
    found = 0
    for node in tree.walk():
        for _ in costly_operands(node):
            found += 1
        if found >= MANY:
            return True
    return False


def _binding(node: Node, source: Source) -> tuple[list[Node], list[str], int]:
    """What a statement binds: the expressions, the names, and where its last tag ends."""
    *values, last = node.children
    if node.kind == "set":
        names = list(node.value) or [path_text(last, source)]
        return [node.children[0]], names, node.end
    if node.kind == "set_block":
        names = list(node.value) or [path_text(last, source)]
        return list(node.children), names, node.end
    body = next(child for child in node.children if child.kind == "body")
    names = list(node.value[1:] if node.kind == "macro" else node.value)
    return [child for child in values if child.kind != "body"], names, body.start


def _may_wrap(node: Node) -> bool:
    """Whether a `map` applies `wordwrap`, or a filter whose name is computed."""
    names = [child for child in node.children[node.start != node.at :] if child.kind != "keyword"]
    return bool(names) and (names[0].kind != "text" or names[0].value == "wordwrap")


def _is_called_again(node: Node) -> bool:
    """Whether a loop calls itself, with another value in place of what it goes through."""
    return node.kind == "for" and any(
        n.kind == "call" and n.children[0].kind == "name" and n.children[0].value == "loop"
        for n in node.walk()
    )


def _is_option(parents: tuple[Node, ...]) -> bool:
    """Whether a literal `none` is an option of the engine's own, which knows its own null."""
    if parents and parents[0].kind == "keyword":
        parents = parents[1:]
    if not parents:
        return False
    owner = parents[0]
    if owner.kind == "filter":
        return owner.value in _WITH_OPTIONS
    return owner.kind == "call" and owner.children[0].value in _WITH_OPTIONS


def _results(node: Node) -> list[Node]:
    """The paths whose value may be an expression's, and that may be looked at twice."""
    if node.kind == "name":
        return [node]
    if node.kind == "if_expr":
        return [
            path for child in (node.children[0], *node.children[2:]) for path in _results(child)
        ]
    if node.kind in ("and", "or"):
        return _results(node.children[1])
    return [node] if is_path(node) and _is_steady(node) else []


def _is_steady(path: Node) -> bool:
    """Whether looking at a path twice gives the same: no index of it calls anything."""
    return all(node.kind not in ("call", "filter", "test") for node in path.walk())


def _steps(path: Node) -> int:
    steps = 1
    while path.kind != "name":
        path = path.children[0]
        steps += 1
    return steps


def _provides(parent: Node) -> bool:
    """Whether the parent provides for the absence of its first operand."""
    if parent.kind == "test":
        return parent.value in ("defined", "undefined")
    return parent.kind == "filter" and parent.value in ("default", "d")


def _is_target(parent: Node, index: int) -> bool:
    return (
        parent.kind in ("set", "set_block")
        and index == len(parent.children) - 1 > 0
        and (not parent.value)
    )

"""Costs: the operands whose size the engine's fuel does not pay for, and where that matters.

Most of what a template can do is paid by the size of what it works on. A comparison, a look-up
in a text or a method of a container is not: once that does not matter, however large the value;
in a loop, or a thousand times in a row, it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from .expressions import Node, is_path, root_name

__all__ = ["DEEP", "LENGTH", "MANY", "REPEATING", "TEXT", "TIMES", "Reach", "costly_operands"]

Reach = Literal[0, 1, 2, 3]

TEXT: Reach = 0
"""Only a text is looked at as a whole."""

LENGTH: Reach = 1
"""A container's entries are gone through, but nothing in them."""

DEEP: Reach = 2
"""Everything in a container may be looked at."""

TIMES: Reach = 3
"""Everything is repeated, as often as a number says."""

REPEATING = frozenset(("for", "macro", "call_block", "block"))
"""Statements whose body may run many times."""

MANY = 500
"""So many costly operations are looked at wherever they stand."""

_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">=", "in", "not in"))
_COMPARING_TESTS = frozenset(
    ("eq", "equalto", "ne", "lt", "lessthan", "le", "gt", "greaterthan", "ge", "in")
)
_TEXT_TESTS = frozenset(("upper", "lower", "startingwith", "endingwith"))
_METHODS: dict[str, Reach] = {
    "items": LENGTH,
    "keys": LENGTH,
    "values": LENGTH,
    "get": TEXT,
    "count": DEEP,
    "index": DEEP,
    "changed": DEEP,
}


def costly_operands(node: Node) -> Iterator[tuple[Node, Reach]]:
    """The paths that a node works on without paying for their size."""
    for operand, reach in _operands(node):
        if is_path(operand) and root_name(operand) != "loop":
            yield operand, reach


def _operands(node: Node) -> Iterator[tuple[Node, Reach]]:
    kind, children = node.kind, node.children
    if kind == "binary" and node.value in _COMPARISONS:
        # What is held against a literal is looked at no further than that is long; what a
        # literal is looked for in may be.
        literal = _is_literal(children[1]) or (
            node.value not in ("in", "not in") and _is_literal(children[0])
        )
        if not literal:
            yield from _all(children, DEEP)
    elif kind == "test":
        if node.value in _TEXT_TESTS:
            yield from _all(children, TEXT)
        elif node.value in _COMPARING_TESTS and not any(map(_is_literal, children)):
            yield from _all(children, DEEP)
    elif kind == "item":
        yield from _all(children, TEXT)
    elif kind == "filter" and node.value == "items" and children:
        yield children[0], LENGTH
    elif kind == "filter" and node.value == "zip":
        yield from _all(children, DEEP)
    elif kind == "map":
        yield from _all(children[::2], TEXT)
    elif kind == "call":
        yield from _called(children)
    elif kind == "for":
        yield children[0], LENGTH


def _called(children: Sequence[Node]) -> Iterator[tuple[Node, Reach]]:
    callee, *arguments = children
    if callee.kind == "attr" and callee.value in _METHODS:
        reach = _METHODS[callee.value]
        yield callee.children[0], reach
        yield from _all(arguments, reach)
    elif callee.kind == "name" and callee.value == "dict":
        yield from _all(arguments, LENGTH)


def _all(nodes: Sequence[Node], reach: Reach) -> Iterator[tuple[Node, Reach]]:
    for node in nodes:
        yield node, reach


def _is_literal(node: Node) -> bool:
    if node.kind in ("list", "tuple"):
        return all(map(_is_literal, node.children))
    return node.kind in ("const", "text") or (node.kind == "neg" and _is_literal(node.children[0]))

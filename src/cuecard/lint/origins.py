"""Origins: which variables stand behind an expression, through the names a template binds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..language import Names, Node, root_name

__all__ = ["Leaf", "leaves", "variables_behind"]

_KEEPERS = frozenset(("items", "values", "keys", "get", "strip", "lstrip", "rstrip"))
"""Methods whose result is made of what the container or the text holds."""


class Leaf(NamedTuple):
    """A value that an expression prints, or prints a part of.

    Attributes:
        name: the variable that it comes from.
        path: the name, or the attributes and items of one, in the expression.
        chain: the path with all filters that are applied to it.
        filters: the filters that it goes through, those of bound names included.
    """

    name: str
    path: Node
    chain: Node
    filters: frozenset[str]


def leaves(node: Node, names: Names) -> Iterator[Leaf]:
    """The values of variables that an expression may print.

    What comes out of a macro, a function or a captured text is none: it may be anything.
    """
    yield from _leaves(node, names, node, frozenset(), ())


def _leaves(
    node: Node, names: Names, chain: Node, filters: frozenset[str], seen: tuple[str, ...]
) -> Iterator[Leaf]:
    kind = node.kind
    if kind == "filter" and node.children:
        yield from _leaves(node.children[0], names, chain, filters | {node.value}, seen)
    elif kind in ("and", "or") or (kind == "binary" and node.value in ("~", "+")):
        for child in node.children:
            yield from _leaves(child, names, _part(child, chain, filters), filters, seen)
    elif kind == "if_expr":
        for child in (node.children[0], *node.children[2:]):
            yield from _leaves(child, names, _part(child, chain, filters), filters, seen)
    elif kind == "call" and node.children[0].kind == "attr":
        if node.children[0].value in _KEEPERS:
            yield from _leaves(node.children[0].children[0], names, chain, filters, seen)
    else:
        yield from _path_leaves(node, names, chain, filters, seen)


def _part(child: Node, chain: Node, filters: frozenset[str]) -> Node:
    """What a further filter would be put behind: the operand, unless all of it is filtered."""
    return chain if filters else child


def _path_leaves(
    node: Node, names: Names, chain: Node, filters: frozenset[str], seen: tuple[str, ...]
) -> Iterator[Leaf]:
    root = root_name(node)
    if root is None or root in seen:
        return
    if root not in names.bound:
        yield Leaf(root, node, chain, filters)
        return
    for origin in names.origins.get(root, ()):
        for leaf in _leaves(origin, names, chain, filters, (*seen, root)):
            # The place is that of the use, wherever the name was bound.
            yield Leaf(leaf.name, node, chain, leaf.filters)


def variables_behind(node: Node, names: Names) -> set[str]:
    """Every variable that a piece of a tree reads, through the names that are bound."""
    seen: set[str] = set()
    waiting = _read(node)
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for origin in names.origins.get(name, ()):
            waiting |= _read(origin) - seen
    return seen & names.variables


def _read(node: Node) -> set[str]:
    return {str(each.value) for each in node.walk() if each.kind == "name"}

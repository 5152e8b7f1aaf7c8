"""Sampling: made-up values for all that a template reads, to see whether a fix changes a text.

The values have the forms in which the template uses them: a name with attributes becomes a
mapping, one that is looped over a list. Each name is also absent once, and once empty, so
that both sides of conditions are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..language import Names, Node

__all__ = ["contexts"]

_PLAIN: tuple[Any, ...] = (
    "text with  blanks\nand lines",
    3,
    True,
    None,
    ["a", "b"],
    [],
    {"a": "b"},
)
_LEAVES: tuple[Any, ...] = ("a <b> & c", "", 0, "two\nlines\n")
_MOST_ALONE = 12
_MOST_STEPS = 32


class _Wanted:
    """How a value is used: which attributes of it are read, and what its items are like."""

    def __init__(self) -> None:
        self.fields: dict[str, _Wanted] = {}
        self.item: _Wanted | None = None

    def field(self, name: str) -> _Wanted:
        return self.fields.setdefault(name, _Wanted())

    def items(self) -> _Wanted:
        self.item = self.item or _Wanted()
        return self.item

    def value(self, leaf: Any) -> Any:
        if self.item is not None:
            return [self.item.value(leaf), self.item.value(f"{leaf}2")]
        if self.fields:
            return {name: wanted.value(leaf) for name, wanted in self.fields.items()}
        return leaf


def contexts(tree: Node, names: Names) -> Iterator[dict[str, Any]]:
    """Values for the names that a template reads.

    Args:
        tree: the template's tree.
        names: its names.
    """
    read = sorted(names.variables)
    yield {}
    for value in _PLAIN:
        yield dict.fromkeys(read, value)
    shaped = _Shaped(tree, names)
    for leaf in _LEAVES:
        yield shaped.context(leaf)
    full = shaped.context("text")
    for name in read[:_MOST_ALONE]:
        yield {key: value for key, value in full.items() if key != name}
        yield {**full, name: ""}


class _Shaped:
    """The forms in which a template uses the names that it reads."""

    def __init__(self, tree: Node, names: Names) -> None:
        self._names = names
        self._roots = {name: _Wanted() for name in names.variables}
        for node in tree.walk():
            if node.kind in ("attr", "item"):
                self._of(node, 0)
        for looped in names.loops.values():
            wanted = self._of(looped, 0)
            if wanted is not None:
                wanted.items()

    def context(self, leaf: Any) -> dict[str, Any]:
        return {name: wanted.value(leaf) for name, wanted in self._roots.items()}

    def _of(self, node: Node, steps: int) -> _Wanted | None:
        """What is wanted of a node's value; None when it is no part of the context."""
        if steps > _MOST_STEPS:  # a loop over its own variable
            return None
        if node.kind == "name":
            looped = self._names.loops.get(node.value)
            if looped is not None:
                wanted = self._of(looped, steps + 1)
                return wanted.items() if wanted is not None else None
            return self._roots.get(node.value)
        if not node.children or node.kind not in ("attr", "item", "filter"):
            return None
        base = self._of(node.children[0], steps + 1)
        if base is None or node.kind == "filter":
            return base
        key = node.value if node.kind == "attr" else _key(node.children[1])
        return base.field(key) if key is not None else base.items()


def _key(index: Node) -> str | None:
    return str(index.value) if index.kind == "text" else None

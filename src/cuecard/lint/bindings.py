"""Bindings: the names that a template binds itself, and where each is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from ..language import Node

__all__ = ["Binding", "BindingKind", "Frame", "Read", "Scopes", "Site"]

BindingKind = Literal[
    "set", "with", "for", "loop", "macro", "parameter", "caller", "import", "self", "partial"
]


class Frame:
    """A part of a template whose names end with it.

    Attributes:
        kind: `template`, or the kind of the statement.
        node: the statement, or the whole tree.
        parent: the frame around it.
    """

    __slots__ = ("kind", "node", "parent")

    def __init__(self, kind: str, node: Node, parent: Frame | None) -> None:
        self.kind = kind
        self.node = node
        self.parent = parent

    def holds(self, node: Node) -> bool:
        """Whether a node stands in it."""
        return self.parent is None or self.node.start <= node.start < self.node.end

    def is_within(self, kind: str) -> bool:
        """Whether it, or a frame around it, is of a kind."""
        frame: Frame | None = self
        while frame is not None and frame.kind != kind:
            frame = frame.parent
        return frame is not None


class Binding:
    """A name that is bound at one place.

    Attributes:
        name: the name.
        kind: what binds it.
        node: the statement.
        frame: where it holds.
        value: what it is made from, when that is one expression.
        hides: what the name may have stood for before; None is the context.
        reads: how many places read it.
        after: offset after which its name stands in the source.
    """

    __slots__ = (
        "after",
        "frame",
        "hides",
        "kind",
        "name",
        "node",
        "reads",
        "value",
    )

    def __init__(
        self,
        name: str,
        kind: BindingKind,
        node: Node,
        frame: Frame,
        *,
        value: Node | None,
        hides: tuple[Binding | None, ...],
        after: int,
    ) -> None:
        self.name = name
        self.kind = kind
        self.node = node
        self.frame = frame
        self.value = value
        self.hides = hides
        self.reads = 0
        self.after = after

    def __repr__(self) -> str:
        return f"Binding({self.name!r}, {self.kind})"

    def place(self, text: str) -> tuple[int, int]:
        """Where its name stands in the source."""
        found = re.compile(rf"\b{re.escape(self.name)}\b").search(text, self.after, self.node.end)
        return found.span() if found else (self.node.at, self.node.at)


class Read(NamedTuple):
    """One place that reads a name.

    Attributes:
        node: the name.
        bindings: what it may stand for; None is the context.
        known: what the conditions around tell of values.
        asked: whether its absence is provided for.
    """

    node: Node
    bindings: tuple[Binding | None, ...]
    known: frozenset[str]
    asked: bool

    @property
    def is_context(self) -> bool:
        """Whether nothing but the context can give it."""
        return self.bindings == (None,)

    @property
    def guarded(self) -> bool:
        """Whether the render cannot fail for want of it."""
        return self.asked or f"?{self.node.value}" in self.known


class Site(NamedTuple):
    """What holds where an expression stands, as in `Read`."""

    known: frozenset[str]
    asked: bool


class Scopes(NamedTuple):
    """What a template's names stand for.

    Attributes:
        bindings: every binding, in the order of the source.
        reads: every place that reads a name, by its node; not those that call it.
        calls: every place that calls a name.
        sites: what holds at attributes, items, calls, filters and operations, by their nodes.
        opened: offset from which a partial whose name is computed may bind any name.
    """

    bindings: list[Binding]
    reads: Mapping[Node, Read]
    calls: Mapping[Node, Read]
    sites: Mapping[Node, Site]
    opened: int | None

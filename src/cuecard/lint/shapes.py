"""Shapes: what is known of the values of variables before there are any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from ..language import Node

__all__ = ["ANY", "TEXT", "Shape", "Variable", "list_of", "mapping_of", "shape_of_type"]

Kind = Literal["any", "text", "number", "boolean", "list", "mapping"]


class Shape(NamedTuple):
    """What a value looks like.

    Attributes:
        kind: `any` when nothing is known.
        fields: of a mapping, the keys that it has; None when they are not known.
        item: of a list, the shape of each item.
    """

    kind: Kind = "any"
    fields: Mapping[str, Shape] | None = None
    item: Shape | None = None

    def inner(self, node: Node) -> Shape:
        """The shape of an attribute or item of it, `ANY` when that cannot be told."""
        if node.kind == "attr" and self.kind == "mapping" and self.fields is not None:
            return self.fields.get(node.value, ANY)
        if node.kind == "item" and self.kind == "list" and self.item is not None:
            return self.item
        return ANY


class Variable(NamedTuple):
    """A variable that something gives.

    Attributes:
        name: the variable.
        source: what gives it, such as ``provider `current_date` `` or `input`.
        scope: how long it holds, as a name of `cuecard.Scope`; None when it is not known.
        shape: what its values look like.
        optional: whether it may be absent.
        line: the line of its declaration in the file, from 1; None when it is elsewhere.
        description: what it is for.
    """

    name: str
    source: str
    scope: str | None = None
    shape: Shape = Shape()
    optional: bool = False
    line: int | None = None
    description: str | None = None


ANY = Shape()
TEXT = Shape("text")


def list_of(item: Shape) -> Shape:
    """A list of items of one shape."""
    return Shape("list", item=item)


def mapping_of(**fields: Shape) -> Shape:
    """A mapping with exactly these keys."""
    return Shape("mapping", fields)


def shape_of_type(kind: str) -> Shape:
    """The shape of a declared type, by JSON Schema's name of it."""
    return {
        "string": TEXT,
        "integer": Shape("number"),
        "number": Shape("number"),
        "boolean": Shape("boolean"),
        "array": Shape("list"),
        "object": Shape("mapping"),
    }.get(kind, ANY)

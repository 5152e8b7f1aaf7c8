"""Text from outside: which outputs print what a user, a file of others or a caller wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..language import Node
from .document import Document
from .known import BUILT_IN
from .origins import Leaf, leaves
from .shapes import Variable

__all__ = ["DIRECTIONS", "LONG_TEXTS", "Printed", "printed_outside_text", "skeleton"]

DIRECTIONS = frozenset(("directive", "intent"))
"""Variables that hold instructions of the user: they are meant to be followed."""

LONG_TEXTS = frozenset(("user_notes", "user_profile", "user", "directive", "context"))
"""Variables that usually hold several lines."""

_KNOWN = frozenset(("user_notes", "user_profile", "user", "skills"))
_SKILL_TEXTS = frozenset(("description", "body", "license", "compatibility"))
_FACTS = frozenset(
    (
        *(
            "id",
            "name",
            "date",
            "time",
            "datetime",
            "zone",
            "day",
            "year",
            "count",
            "number",
            "size",
        ),
        *("limit", "path", "dir", "directory", "folder", "url", "version", "language", "locale"),
        *("model", "provider", "os", "platform", "shell", "branch", "status", "mode", "level"),
    )
)
"""Last words of names whose values are short facts, and no text that somebody wrote."""


class Printed(NamedTuple):
    """An output that prints text from outside.

    Attributes:
        output: the output.
        leaf: the value in it.
        filters: all filters that it goes through, those of blocks around it included.
    """

    output: Node
    leaf: Leaf
    filters: frozenset[str]


def printed_outside_text(document: Document) -> list[Printed]:
    """Every output of text from outside, in their order."""
    names, tree = document.names, document.tree
    if names is None or tree is None:
        return []
    outside = {name for name in names.variables if _is_outside(document.variables.get(name))}
    if not outside:
        return []
    return [
        Printed(output, leaf, filters | leaf.filters)
        for output, filters in _outputs(tree, frozenset())
        for leaf in leaves(output.children[0], names)
        if leaf.name in outside and _is_text(leaf, document.variables[leaf.name])
    ]


def skeleton(document: Document) -> str:
    """The template's text with NUL for every character that is not printed as it stands."""
    pieces: list[str] = []
    position = 0
    for piece in document.pieces:
        if piece.kind == "text":
            pieces.append("\0" * (piece.shown_start - position) + piece.shown)
            position = piece.shown_end
    pieces.append("\0" * (len(document.body.text) - position))
    return "".join(pieces)


def _is_outside(variable: Variable | None) -> bool:
    if variable is None or variable.name.rpartition("_")[2].lower() in _FACTS:
        return False
    if variable.name in _KNOWN:
        return True
    if variable.source in ("input", "slot"):
        return variable.shape.kind not in ("number", "boolean")
    # Of the runtime's own providers only scopes are known.
    ours = variable.source.startswith("provider") and variable is not BUILT_IN.get(variable.name)
    return ours and variable.scope != "static"


def _is_text(leaf: Leaf, variable: Variable) -> bool:
    """Whether it is a text of others, and no name or place that a rule of skills restricts."""
    if leaf.path.kind != "attr":
        return leaf.name != "skills"
    if leaf.name == "skills":
        return leaf.path.value in _SKILL_TEXTS
    # A text has no attributes: this is another variable of the same name.
    return variable.shape.kind != "text" and leaf.path.value.rpartition("_")[2] not in _FACTS


def _outputs(node: Node, filters: frozenset[str]) -> Iterator[tuple[Node, frozenset[str]]]:
    if node.kind in ("filter_block", "set_block"):
        filters |= {str(child.value) for child in node.children if child.kind == "filter"}
    for child in node.children:
        if child.kind == "output":
            yield child, filters
        elif child.children:
            yield from _outputs(child, filters)

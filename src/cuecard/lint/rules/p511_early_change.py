"""A value that changes stands in front of text that stays the same.

## What it does

Looks for the first place of each variable that changes at every turn, or every day, and
counts the text behind it that never changes. It is reported when that is a twentieth of the
template's text, and more than 200 characters (1,000 for a value that changes once a day).

How long a value holds is known of the built-in providers, and of the providers and the
variables of the settings. What an input or another slot holds is not looked at. A block
counts as a whole: what is in it beside the value cannot be cached apart.

## Why it matters

A model provider caches the front of a prompt, up to the first character that has changed.
What comes behind it is paid in full at every turn.

## Example

```jinja
It is {{ current_time }}.

You review changes. (Two pages of rules follow.)
```

## Use instead

```jinja
You review changes. (Two pages of rules follow.)

It is {{ current_time }}.
```
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from ...language import Node
from ...tokens import estimate
from ..document import Document
from ..findings import Finding
from ..origins import variables_behind

CODE = "P511"
NAME = "early-change"
GROUP = "cache"
SEVERITY = "warning"
FIXES = None

_LEAST = {"turn": 200, "day": 1000}
"""Characters of stable text behind a value, from which on it is worth a finding."""

_SILENT = frozenset(("set", "set_block", "macro", "import", "from", "comment", "do"))


class _Piece(NamedTuple):
    """A statement that prints, the changing variables that it reads, and its literal text."""

    node: Node
    changing: frozenset[str]
    characters: int


def check(document: Document) -> Iterator[Finding]:
    """The first place of each changing variable that stands too early."""
    tree, names = document.tree, document.names
    if tree is None or names is None or document.kind not in ("agent", "template"):
        return
    changing = {name for name in names.variables if _scope(document, name) in _LEAST}
    if not changing or "extends" in document.nodes_by_kind:
        return
    pieces = list(_pieces(document, tree, changing))
    total = sum(piece.characters for piece in pieces)
    reported: set[str] = set()
    for number, piece in enumerate(pieces):
        new = piece.changing - reported
        if not new:
            continue
        reported |= new
        behind = [other for other in pieces[number + 1 :] if not other.changing]
        lost = sum(other.characters for other in behind)
        name = max(sorted(new), key=lambda name: _scope(document, name) == "turn")
        if lost > _LEAST[_scope(document, name)] and lost * 20 >= total:
            yield _finding(document, piece.node, name, lost, behind[-1].node)


def _finding(document: Document, piece: Node, name: str, lost: int, last: Node) -> Finding:
    place = _place(document, piece, name)
    tokens = estimate("x" * lost)
    text = document.body.text
    # The line of the last visible character behind which it would do no harm.
    end = last.start + len(text[last.start : last.end].rstrip())
    line, _ = document.body.position(max(last.start, end - 1))
    return document.found(
        f"`{name}` changes every {_scope(document, name)}, so that {lost:,} characters of stable "
        f"text behind it (about {tokens:,} tokens) cannot be cached",
        place.start,
        place.end,
        f"move it behind line {line}, to the end of what stays the same",
    )


def _scope(document: Document, name: str) -> str:
    variable = document.variables.get(name)
    # Inputs and slots are given for a task; how long that is, nobody says.
    if variable is None or variable.source in ("input", "slot"):
        return ""
    return variable.scope or ""


def _place(document: Document, piece: Node, name: str) -> Node:
    """The name within a statement that brings the variable in."""
    names = document.names
    assert names is not None
    read = [node for node in piece.walk() if node.kind == "name"]
    for node in read:
        if node.value == name:
            return node
    return next((node for node in read if name in variables_behind(node, names)), piece)


def _pieces(document: Document, tree: Node, changing: set[str]) -> Iterator[_Piece]:
    names = document.names
    assert names is not None
    literals = _Literals(document)
    for node in tree.children:
        if node.kind in _SILENT:
            continue
        found = frozenset(variables_behind(node, names) & changing)
        yield _Piece(node, found, literals.within(node))


class _Literals:
    """How many characters are printed of the literal text in a statement."""

    def __init__(self, document: Document) -> None:
        texts = [piece for piece in document.pieces if piece.kind == "text"]
        self._starts = [piece.start for piece in texts]
        self._sums = [0, *accumulate(len(piece.shown) for piece in texts)]

    def within(self, node: Node) -> int:
        first = bisect_left(self._starts, node.start)
        return self._sums[bisect_left(self._starts, node.end)] - self._sums[first]

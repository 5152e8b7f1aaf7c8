"""A tag at the end of a line joins what is printed there with the next line.

## What it does

Under every profile but `operator`, the line break after a block tag or a comment vanishes.
That is meant for tags on lines of their own. This rule looks for tags at the end of a line
on which something is printed, and tells of those after which the next line goes on at once:
in the text that follows, in the next round of a loop, or behind the branches of an `if`.

A tag that has a `-` or `+` mark there is passed over. So are a seam with a blank in it, where
running text reads as before, and a seam between `>` and `<`.

## Why it matters

The word at the end of the one line grows together with that at the start of the next, and a
list or a heading that began there is none any more.

## Example

```jinja
Hello{% if name %} {{ name }}{% endif %}
What can I do for you?
```

## Use instead

```jinja
Hello{% if name %} {{ name }}{% endif +%}
What can I do for you?
```

## Fix

Writes `+` before the `%}` of a tag that ends something, which keeps the line break. When the
whole line depends on the tag's condition, the closing tag gets a line of its own instead, so
that no empty line is left. A tag that opens something is left to you. The text changes, so
this is made with `--unsafe-fixes` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..document import Document
from ..findings import Finding, Fix
from ..flow import Seam
from ..pieces import Piece

CODE = "P902"
NAME = "joined-lines"
GROUP = "white-space"
SEVERITY = "warning"
FIXES = "unsafe"

_STRUCTURE = re.compile(r"[ \t]*(?:[-*+][ \t]|\d+[.)][ \t]|#{1,6}[ \t]|[|>]|```|~~~|<)")


def check(document: Document) -> Iterator[Finding]:
    """Each tag whose line break vanishes between two things that are printed."""
    if not document.profile.trim_blocks:
        return
    pieces = document.pieces
    for index, piece in enumerate(pieces[:-1]):
        following = pieces[index + 1]
        if piece.kind != "tag" or following.kind != "text" or piece.trail or piece.word == "raw":
            continue
        if not document.body.text.startswith(("\n", "\r\n"), following.start):
            continue
        left, right = document.flow.before(index), document.flow.after(index)
        if _are_joined(piece, left, right):
            yield document.found(
                f"the line break after {piece.named} vanishes, and joins two lines",
                piece.start,
                piece.end,
                _hint(document, index),
                _fix(document, index),
            )


def _are_joined(piece: Piece, left: Seam, right: Seam) -> bool:
    if left.is_empty or right.is_empty or not (left.has_text or right.has_text):
        return False
    if piece.word == "comment" or _STRUCTURE.match(right.text):
        return not (left.text.endswith(">") and right.text.startswith("<"))
    return left.text[-1:] not in (" ", "\t") and right.text[:1] not in (" ", "\t")


def _hint(document: Document, index: int) -> str:
    piece = document.pieces[index]
    if piece.word == "comment":
        return "write `+#}` to keep the line break, or give the comment a line of its own"
    if piece.opens or piece.word in ("elif", "else"):
        return "give the tag a line of its own, or write `-%}` if they belong together"
    return "write `+%}` to keep the line break, or `-%}` if they belong together"


def _fix(document: Document, index: int) -> Fix | None:
    piece = document.pieces[index]
    if piece.opens or piece.word in ("elif", "else"):
        return None
    opening = document.flow.opener(index)
    if piece.word == "endif" and opening is not None and _begins_line(document, opening):
        edit = document.edit(piece.start, piece.start, "\n")
        return Fix("Give the closing tag a line of its own", (edit,), safe=False)
    edit = document.edit(piece.end - 2, piece.end - 2, "+")
    return Fix("Keep the line break", (edit,), safe=False)


def _begins_line(document: Document, index: int) -> bool:
    start = document.pieces[index].start
    text = document.body.text
    return not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t")

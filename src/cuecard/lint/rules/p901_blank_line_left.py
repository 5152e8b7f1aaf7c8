"""A tag on a line of its own leaves an empty line in the prompt.

## What it does

Looks for block tags and comments that have a line to themselves, in files whose profile
keeps such lines. Of the four profiles that is `operator`. Tags on one line count as one. A
line is passed over when a `-` or `+` mark says what becomes of it, and so is the line of a
`{% for %}` that ends with `{%- endfor %}`: there the line break parts the items.

## Why it matters

The empty lines are tokens that say nothing, they pull lists and tables apart, and those in a
loop come once for each item.

## Example

```markdown
---
name: starter
description: Takes the first steps.
profile: operator
---
{% for step in steps %}
- {{ step }}
{% endfor %}
Begin.
```

## Use instead

```markdown
---
name: starter
description: Takes the first steps.
profile: operator
---
{% for step in steps -%}
- {{ step }}
{% endfor -%}
Begin.
```

## Fix

Writes `-` into the tag, on the side where it removes this line break and nothing else. Where
neither side does, it is left to you. The text changes, so this is made with `--unsafe-fixes`
only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..document import Document
from ..findings import Finding, Fix
from ..pieces import Piece

CODE = "P901"
NAME = "blank-line-left"
GROUP = "white-space"
SEVERITY = "warning"
FIXES = "unsafe"

_ENDS_LINE = re.compile(r"[ \t]*\r?\n")
_ONE_BREAK_BEFORE = re.compile(r"\S\r?\n[ \t]*\Z")
_ONE_BREAK_AFTER = re.compile(r"[ \t]*\r?\n(?=\S|\Z)")


def check(document: Document) -> Iterator[Finding]:
    """Each line of tags that stays, empty."""
    if document.profile.trim_blocks:
        return
    pieces = document.pieces
    for first, last in _lines(pieces):
        if pieces[first].lead == "" == pieces[last].trail and not _parts_items(document, last):
            yield document.found(
                f"the line of {pieces[first].named} stays in the prompt, empty",
                pieces[first].start,
                pieces[last].end,
                "write `-` before the tag's closing `%` or after its opening one",
                _fix(document, first, last),
            )


def _lines(pieces: tuple[Piece, ...]) -> Iterator[tuple[int, int]]:
    """The first and the last tag of each line that has only tags."""
    first: int | None = None
    starts_line = True
    for index, piece in enumerate(pieces):
        if piece.kind == "tag":
            first = index if first is None else first
            continue
        if piece.kind == "output":
            first, starts_line = None, False
            continue
        if first is not None and starts_line and _ENDS_LINE.match(piece.shown):
            yield first, index - 1
        if piece.shown.strip(" \t") or first is None:
            first = None
            _, newline, line = piece.shown.rpartition("\n")
            starts_line = not line.strip(" \t") and (bool(newline) or index == 0)


def _parts_items(document: Document, last: int) -> bool:
    closer = document.flow.closer(last)
    if document.pieces[last].word != "for" or closer is None:
        return False
    return document.pieces[closer].lead == "-"


def _fix(document: Document, first: int, last: int) -> Fix | None:
    pieces = document.pieces
    before = pieces[first - 1].shown if first > 0 else ""
    after = pieces[last + 1].shown
    indented = before.rpartition("\n")[2] != ""
    if _ONE_BREAK_AFTER.match(after) and not indented:
        place = pieces[last].end - 2
    elif _ONE_BREAK_BEFORE.search(before):
        place = pieces[first].start + 2
    else:
        return None
    return Fix("Write `-` into the tag", (document.edit(place, place, "-"),), safe=False)

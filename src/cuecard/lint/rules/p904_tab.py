"""Lines of the prompt are indented with tabs.

## What it does

Looks for lines of the template's text that begin with blanks of which one is a tab. Lines
that follow each other are one finding. Tabs within a line, code between Markdown's fences,
empty lines, and the indentation of tags that vanishes are passed over.

## Why it matters

How far a tab indents is not said anywhere: one reader takes it for four columns, another for
eight, and a Markdown list that mixes tabs and blanks nests as nobody meant it.

## Example

```jinja
- Steps:
\u0009- Read the {{ document }}.
```

## Use instead

```jinja
- Steps:
    - Read the {{ document }}.
```

## Fix

Writes blanks up to the next column that four divides, as Markdown counts. The text changes,
so this is made with `--unsafe-fixes` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..document import Document
from ..findings import Edit, Finding, Fix

CODE = "P904"
NAME = "tab"
GROUP = "white-space"
SEVERITY = "warning"
FIXES = "unsafe"

_INDENT = re.compile(r"^ *\t[ \t]*", re.MULTILINE)


def check(document: Document) -> Iterator[Finding]:
    """Each run of lines that are indented with tabs."""
    if "\t" not in document.body.text:
        return
    text = document.body.text
    run: list[tuple[int, int]] = []
    for start, end in _indents(document):
        if run and text.count("\n", run[-1][1], start) > 1:
            yield _finding(document, run)
            run = []
        run.append((start, end))
    if run:
        yield _finding(document, run)


def _indents(document: Document) -> Iterator[tuple[int, int]]:
    text = document.body.text
    for piece in document.pieces:
        if piece.kind != "text" or "\t" not in piece.shown:
            continue
        for found in _INDENT.finditer(piece.shown):
            start, end = (piece.shown_start + offset for offset in found.span())
            begins_line = start == 0 or text[start - 1] == "\n"
            is_empty = text[end : end + 1] in ("", "\n", "\r")
            if begins_line and not is_empty and not _is_fenced(document, start):
                yield start, end


def _is_fenced(document: Document, offset: int) -> bool:
    return any(start <= offset < end for start, end in document.fences)


def _finding(document: Document, run: list[tuple[int, int]]) -> Finding:
    edits = tuple(_blanks(document, start, end) for start, end in run)
    what = "the line is" if len(run) == 1 else f"{len(run)} lines are"
    return document.found(
        f"{what} indented with tabs",
        run[0][0],
        run[-1][1],
        "indent with blanks",
        Fix("Indent with blanks", edits, safe=False),
    )


def _blanks(document: Document, start: int, end: int) -> Edit:
    return document.edit(start, end, document.body.text[start:end].expandtabs(4))

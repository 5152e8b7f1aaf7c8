"""Text from outside stands where a line break or a fence would break the structure.

## What it does

Looks for outputs of text from outside in a heading, in a row of a table and in a fenced
block of code, and for such text that usually has several lines (the user's notes and
preferences, the instruction, the slot `context`) in an item of a list, without a filter that
leaves one line. In a fence only a filter that takes fences away helps, or a longer fence.

Values that are short facts by their name, like `user_id`, are not meant.

## Why it matters

The first line stays in its place. What follows a line break, or a line of three backticks, is
a paragraph of its own, on a level with your instructions.

## Example

```markdown
---
name: worker
description: Does what it is told.
profile: operator
---
# {{ directive }}
```

## Use instead

```markdown
---
name: worker
description: Does what it is told.
profile: operator
---
# The task

{{ directive }}
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..document import Document
from ..findings import Finding
from ..outside import LONG_TEXTS, Printed, printed_outside_text, skeleton

CODE = "P912"
NAME = "outside-text-in-a-structure"
GROUP = "safety"
SEVERITY = "warning"
FIXES = None

_LONG_FENCE = re.compile(r"\s*(?:`{4,}|~{4,})")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_ROW = re.compile(r"\s*\|.*")
_ONE_LINE = frozenset(
    (
        *(
            "tojson",
            "json",
            "urlencode",
            "replace",
            "length",
            "count",
            "int",
            "float",
            "round",
            "abs",
        ),
        *("bool", "first", "last", "lines", "split", "join", "filesizeformat", "striptags"),
    )
)
_NO_FENCE = _ONE_LINE - {"striptags", "join"} | {"indent"}
_HINTS = {
    "heading": "put it below the heading",
    "row of a table": 'make it one line: `| replace("\\n", " ")`',
    "item of a list": "put it in a paragraph of its own, or add `| indent`",
    "fence": "put it between tags with `| xml_text`, or in a fence of more backticks",
}


def check(document: Document) -> Iterator[Finding]:
    """Outputs of text from outside, in a structure of Markdown."""
    wanted = printed_outside_text(document)
    if not wanted:
        return
    text = skeleton(document)
    fences = [f for f in document.fences if not _LONG_FENCE.match(text, f[0])]
    for printed in wanted:
        what = _structure(printed, text, fences)
        if what is None:
            continue
        leaf = printed.leaf
        yield document.found(
            f"text from `{leaf.name}` could break the {what} that it stands in",
            leaf.chain.start,
            leaf.chain.end,
            _HINTS[what],
        )


def _structure(printed: Printed, text: str, fences: list[tuple[int, int]]) -> str | None:
    start = printed.output.start
    if any(first <= start < last for first, last in fences):
        return None if printed.filters & _NO_FENCE else "fence"
    if printed.filters & _ONE_LINE:
        return None
    line = text[text.rfind("\n", 0, start) + 1 : start].replace("\0", "")
    if _HEADING.match(line):
        return "heading"
    if _ROW.match(line):
        return "row of a table"
    if _ITEM.match(line) and printed.leaf.name in LONG_TEXTS and "indent" not in printed.filters:
        return "item of a list"
    return None

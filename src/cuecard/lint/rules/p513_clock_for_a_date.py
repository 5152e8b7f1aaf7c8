"""The time is shown where only the day is meant.

## What it does

Looks for the built-in `current_datetime` of which only the first ten characters are shown,
and for `current_time` and `current_datetime` behind words such as "Today is" and "Current
date:", in a line that does not speak of the time.

## Why it matters

The time changes the prompt at every turn, and all that follows it cannot be cached. The day
changes it once a day.

## Example

```jinja
Today is {{ current_datetime }}.
```

## Use instead

```jinja
Today is {{ current_date }}.
```

## Fix

Writes `current_date`. That is the day where the user is, while `current_datetime` is UTC, so
it is made with `--unsafe-fixes` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...language import Node
from ..document import Document
from ..findings import Finding, Fix
from ..known import BUILT_IN
from ..outside import skeleton

CODE = "P513"
NAME = "clock-for-a-date"
GROUP = "cache"
SEVERITY = "warning"
FIXES = "unsafe"

_CLOCKS = frozenset(("current_time", "current_datetime"))
_SPEAKS_OF_THE_DAY = re.compile(
    r"(?:\btoday(?:['\u2019]s\s+date)?(?:\s+is)?|\b(?:the|current)\s+date(?:\s+today)?(?:\s+is)?)"
    r"\s*[*_]{0,2}:?[*_]{0,2}\s*[*_`\"]*$",
    re.IGNORECASE,
)
_SPEAKS_OF_THE_TIME = re.compile(
    r"time|clock|hour|minute|second|\bnow\b|\butc\b|\bat\b", re.IGNORECASE
)
_DAY_LENGTH = "10"


def check(document: Document) -> Iterator[Finding]:
    """Outputs of a clock that are meant as a date."""
    names = document.names
    if names is None:
        return
    clocks = {name for name in _CLOCKS & names.variables if _is_ours(document, name)}
    if not clocks:
        return
    text = skeleton(document)
    for output in document.nodes_by_kind.get("output", ()):
        node = output.children[0]
        clock = _cut_to_the_day(node) or (node if _is_said(text, output) else None)
        if clock is None or clock.kind != "name" or clock.value not in clocks:
            continue
        if clock is not node and clock.value != "current_datetime":
            continue
        edit = document.edit(node.start, node.end, "current_date")
        yield document.found(
            f"`{clock.value}` changes every turn, where only the day is meant",
            node.start,
            node.end,
            "use `current_date`, which changes once a day",
            Fix("Write `current_date`", (edit,), safe=False),
        )


def _is_ours(document: Document, name: str) -> bool:
    assert document.names is not None
    ours = document.variables.get(name) is BUILT_IN[name]
    return ours and name not in document.names.bound


def _cut_to_the_day(node: Node) -> Node | None:
    """What is cut to its first ten characters, or to what stands before the `T`."""
    children = node.children
    if node.kind == "slice" and [bound.value for bound in children[1:]] == [_DAY_LENGTH]:
        return children[0]
    if node.kind == "item" and children[1].value == "0":
        return _split_at_t(children[0])
    if node.kind == "filter" and node.value == "first" and children:
        return _split_at_t(children[0])
    return None


def _split_at_t(node: Node) -> Node | None:
    children = node.children
    if len(children) != 2 or children[1].kind != "text" or children[1].value != "T":
        return None
    if node.kind == "filter" and node.value == "split":
        return children[0]
    if node.kind == "call" and children[0].kind == "attr" and children[0].value == "split":
        return children[0].children[0]
    return None


def _is_said(text: str, output: Node) -> bool:
    """Whether the words in front of an output speak of the day, and none of its line of time."""
    start = text.rfind("\n", 0, output.start) + 1
    end = text.find("\n", output.end)
    line = text[start : end if end >= 0 else len(text)]
    before = text[start : output.start]
    return bool(_SPEAKS_OF_THE_DAY.search(before)) and not _SPEAKS_OF_THE_TIME.search(line)

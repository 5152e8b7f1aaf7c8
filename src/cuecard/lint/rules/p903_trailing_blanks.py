"""A line of the prompt ends with blanks.

## What it does

Looks for blanks and tabs before a line break in the text of the template. Two blanks after
text are passed over, because in Markdown they break the line. Blanks within tags and comments
count for nothing, and those at the very end of the template are left alone.

## Why it matters

They cannot be seen, they are tokens, and two versions of a prompt that look the same are not.
Behind a block tag on a line of its own they keep the line, which would vanish without them.

## Example

```jinja
{% if user %}\u0020
Hello {{ user }}.\u0020
{% endif %}
```

## Use instead

```jinja
{% if user %}
Hello {{ user }}.
{% endif %}
```

## Fix

Removes them. That is safe where they are not printed anyway, as before `{%- if x %}`.
Elsewhere the text changes, so it is done with `--unsafe-fixes` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..document import Document
from ..findings import Finding, Fix

CODE = "P903"
NAME = "trailing-blanks"
GROUP = "white-space"
SEVERITY = "warning"
FIXES = "unsafe"

_BLANKS = re.compile(r"(?<![ \t])[ \t]+(?=\r?\n)")
_ENDS = (" \n", "\t\n", " \r\n", "\t\r\n")
_LINE_BREAK = "  "


def check(document: Document) -> Iterator[Finding]:
    """The blanks at the ends of lines."""
    text = document.body.text
    if not any(end in text for end in _ENDS):
        return
    for piece in document.pieces:
        if piece.kind != "text":
            continue
        for found in _BLANKS.finditer(text, piece.start, piece.end):
            start, end = found.span()
            is_alone = start == 0 or text[start - 1] == "\n"
            if found[0] == _LINE_BREAK and not is_alone:
                continue
            edit = document.edit(start, end, "")
            vanishes = end <= piece.shown_start or start >= piece.shown_end
            yield document.found(
                "the line ends with blanks",
                start,
                end,
                "remove them",
                Fix("Remove the blanks", (edit,), safe=vanishes),
            )

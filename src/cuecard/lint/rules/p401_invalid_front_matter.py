"""The front matter cannot be read.

## What it does

Reads the front matter as YAML, and tells where that fails: a value that holds `: ` and is
not quoted, a key that is given twice, a bracket or a quote that is not closed, an alias.

## Why it matters

Nothing of the file can be used: neither its name nor its description, nor what it may use.

## Example

```markdown
---
name: reviewer
description: Use it for one thing: reviews.
---
Review the change.
```

## Use instead

```markdown
---
name: reviewer
description: "Use it for one thing: reviews."
---
Review the change.
```

## Fix

Quotes a value that holds `: `. Before, the file could not be rendered at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...errors import PromptError
from ...frontmatter import read_document
from ..document import Document
from ..findings import Edit, Finding, Fix

CODE = "P401"
NAME = "invalid-front-matter"
GROUP = "files"
SEVERITY = "error"
FIXES = "safe"

_ENTRY = re.compile(r"[\w.-]+:[ \t]+(?P<value>[^\s'\"|>\[{&*!][^\n]*(?:\n[ \t]+[^\s][^\n]*)*)")


def check(document: Document) -> Iterator[Finding]:
    """What the reader of front matter says, with the fix for a colon."""
    for finding in document.told(CODE):
        yield finding._replace(fix=_fix(document, finding))


def _fix(document: Document, finding: Finding) -> Fix | None:
    error = document.header_error
    if error is None or error.span is None or "unquoted" not in finding.message:
        return None
    found = _ENTRY.match(document.text, error.span.start)
    if found is None or " #" in found["value"]:
        # What follows ` #` may be a comment or a part of the text.
        return None
    start = found.start("value")
    value = found["value"].rstrip()
    edit = Edit(start, start + len(value), _quoted(value))
    return Fix("Quote the value", (edit,)) if _helps(document, edit) else None


def _quoted(value: str) -> str:
    if '"' in value or "\\" in value:
        return "'" + value.replace("'", "''") + "'"
    return f'"{value}"'


def _helps(document: Document, edit: Edit) -> bool:
    """Whether the header can be read then, or fails only further down."""
    text = document.text[: edit.start] + edit.text + document.text[edit.end :]
    try:
        read_document(text, document.path)
    except PromptError as error:
        end = edit.start + len(edit.text)
        return error.span is not None and error.span.start >= end
    return True

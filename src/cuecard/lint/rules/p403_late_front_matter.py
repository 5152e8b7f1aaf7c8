"""The front matter does not start on line 1.

## What it does

Looks in agent files and skills without front matter for lines that look like it: nothing but
`key: value` between two lines `---`. An example between Markdown's fences is none.

## Why it matters

Front matter that follows a comment, a heading or an empty line is text. The agent has no
name, no description and no restrictions then, and all of the header is sent to the model.

## Example

```markdown
# Reviewer
---
name: reviewer
description: Reviews a change.
---
Review the change.
```

## Use instead

```markdown
---
name: reviewer
description: Reviews a change.
---
# Reviewer

Review the change.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ..document import Document
from ..findings import Finding

CODE = "P403"
NAME = "late-front-matter"
GROUP = "files"
SEVERITY = "warning"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """What the reader of front matter says, of files that should have some."""
    if document.kind not in ("agent", "skill"):
        return
    for finding in document.told(CODE):
        offset = finding.span.start if finding.span is not None else 0
        if not any(start <= offset < end for start, end in document.fences):
            yield finding

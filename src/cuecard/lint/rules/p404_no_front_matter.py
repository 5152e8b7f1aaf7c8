"""An agent file or a skill has no front matter.

## What it does

Looks for front matter in files that are called `SKILL.md`, `agent.md` or `….agent.md`. Front
matter that starts too late is told of as P403.

## Why it matters

A skill without front matter is left out of every catalog, because nothing says what it is
for. An agent without it has no description, and may use every tool.

## Example

```markdown release.agent.md
Write the release notes.
```

## Use instead

```markdown release.agent.md
---
name: release
description: Writes the notes of a release.
---
Write the release notes.
```
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..document import Document
from ..findings import Finding

CODE = "P404"
NAME = "no-front-matter"
GROUP = "files"
SEVERITY = "error"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """A file of such a name without a header, early or late."""
    name = os.path.basename(document.path).lower()
    if name not in ("skill.md", "agent.md") and not name.endswith(".agent.md"):
        return
    header = document.header
    if header is None or header.has_header or any(document.told("P403")):
        return
    yield document.found_in_file(
        "the file has no front matter",
        0,
        0,
        "begin the file with `---`, a `name`, a `description` and `---`",
    )

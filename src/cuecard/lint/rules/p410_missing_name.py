"""A skill has no name.

## What it does

Looks for `name` in the front matter of a `SKILL.md`. An agent file may do without one: its
file gives the name.

## Why it matters

The format of skills demands a name. Here the name of the folder is used instead, while other
programs leave the skill out.

## Example

```markdown skills/release-notes/SKILL.md
---
description: Writes the notes of a release. Use it when a version is tagged.
---
Collect the changes.
```

## Use instead

```markdown skills/release-notes/SKILL.md
---
name: release-notes
description: Writes the notes of a release. Use it when a version is tagged.
---
Collect the changes.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ..document import Document
from ..findings import Finding

CODE = "P410"
NAME = "missing-name"
GROUP = "files"
SEVERITY = "warning"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """What the reader of skills says."""
    yield from document.told(CODE)

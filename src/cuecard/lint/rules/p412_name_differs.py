"""The name of a skill is not that of its folder.

## What it does

Compares the `name` in a `SKILL.md` with the name of the folder that the file is in.

## Why it matters

The format of skills demands that they are the same, and other programs refuse the skill.
Whoever looks for a skill that is listed in a prompt does not find its folder.

## Example

```markdown skills/notes/SKILL.md
---
name: release-notes
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

CODE = "P412"
NAME = "name-differs-from-folder"
GROUP = "files"
SEVERITY = "warning"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """What the reader of skills says."""
    yield from document.told(CODE)

"""The name of a skill has characters that it may not have.

## What it does

Holds the name of a skill against the format: lower-case letters, digits, and single hyphens
between them.

## Why it matters

Other programs refuse such a skill, and a model that is to call it by its name may write
another.

## Example

```markdown skills/Release_Notes/SKILL.md
---
name: Release_Notes
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

CODE = "P411"
NAME = "invalid-name"
GROUP = "files"
SEVERITY = "warning"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """What the reader of skills says."""
    yield from document.told(CODE)

"""What a skill may use cannot be read, or is not said where it counts.

## What it does

Reads `allowed-tools` of a skill. It tells of a value that is no list of names, of the key
within another one, of two spellings of the key, and of a spelling such as `allowed_tools`,
which is understood here, but not everywhere.

## Why it matters

A restriction that is not understood must not be taken for none. The skill is left out until
it is mended.

## Example

```markdown skills/release-notes/SKILL.md
---
name: release-notes
description: Writes the notes of a release. Use it when a version is tagged.
metadata:
  allowed-tools: Read
---
Collect the changes.
```

## Use instead

```markdown skills/release-notes/SKILL.md
---
name: release-notes
description: Writes the notes of a release. Use it when a version is tagged.
allowed-tools: Read
---
Collect the changes.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ..document import Document
from ..findings import Finding

CODE = "P417"
NAME = "unreadable-restriction"
GROUP = "files"
SEVERITY = "error"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """What the reader of skills says."""
    yield from document.told(CODE)

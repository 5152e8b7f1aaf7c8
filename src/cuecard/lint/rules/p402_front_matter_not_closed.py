"""The front matter is not closed.

## What it does

Looks for the line `---` that ends the front matter of a file whose first line is `---`.

## Why it matters

All that follows would belong to the header, so that the file has no prompt, and its header
is no YAML.

## Example

```markdown
---
name: reviewer
description: Reviews a change.

Review the change.
```

## Use instead

```markdown
---
name: reviewer
description: Reviews a change.
---
Review the change.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ..document import Document
from ..findings import Finding

CODE = "P402"
NAME = "front-matter-not-closed"
GROUP = "files"
SEVERITY = "error"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """What the reader of front matter says."""
    yield from document.told(CODE)

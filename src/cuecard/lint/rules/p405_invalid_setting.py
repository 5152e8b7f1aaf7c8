"""A key of the front matter has a value that it cannot have.

## What it does

Reads the keys that mean something: `name`, `description`, `model`, `tools`, `profile` and
`inputs` of an agent, and the keys of a skill. Each has to be of the kind that it is read as.
Other keys may hold anything.

## Why it matters

An agent whose `tools` or `inputs` cannot be read is refused. A `profile` that does not exist
is left out, and the prompt is rendered by other rules than its author had in mind.

## Example

```markdown
---
name: reviewer
description: Reviews a change.
profile: strikt
---
Review the change.
```

## Use instead

```markdown
---
name: reviewer
description: Reviews a change.
profile: strict
---
Review the change.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ..document import Document
from ..findings import Finding

CODE = "P405"
NAME = "invalid-setting"
GROUP = "files"
SEVERITY = "error"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """What the readers of agents and skills say."""
    yield from document.told(CODE)

"""An agent or a skill has no description.

## What it does

Looks for `description` in the front matter of a skill, and of an agent file. A Markdown file
counts as an agent's when it is called `….agent.md` or its front matter has a `name`, `tools`
or a `model`; other Markdown with front matter may be anything.

## Why it matters

The description is all that a model sees before it chooses an agent or a skill. A skill
without one is left out of the catalog.

## Example

```markdown
---
name: reviewer
---
Review the change.
```

## Use instead

```markdown
---
name: reviewer
description: Reviews a change. Use it before every merge.
---
Review the change.
```
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..document import Document
from ..findings import Finding

CODE = "P413"
NAME = "missing-description"
GROUP = "files"
SEVERITY = "warning"
FIXES = None

_KEYS_OF_AGENTS = ("name", "tools", "model")


def check(document: Document) -> Iterator[Finding]:
    """What the reader of skills says, and the same of agents."""
    yield from document.told(CODE)
    agent, header = document.agent, document.header
    if document.kind != "agent" or agent is None or header is None or not header.has_header:
        return
    if (agent.description or "").strip() or not _is_agent(document.path, header.metadata):
        return
    place = header.place("description") or document.source.span(0, 3)
    hint = "say what the agent does, and when to use it"
    yield document.found_at("`description` is missing", place, hint)


def _is_agent(path: str, metadata: dict[str, object]) -> bool:
    name = os.path.basename(path).lower()
    is_named = name == "agent.md" or name.endswith(".agent.md")
    return is_named or any(key in metadata for key in _KEYS_OF_AGENTS)

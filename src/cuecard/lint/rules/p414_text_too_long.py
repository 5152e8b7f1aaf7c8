"""A text is longer than the programs that read it allow.

## What it does

Counts characters: at most 64 of a skill's name, 1,024 of a description, 500 of a skill's
`compatibility`, and 30,000 of the prompt in a `….agent.md`, which GitHub Copilot reads.

## Why it matters

What is too long is cut off or refused. A description is sent with every request, whether
the agent or skill is used or not.

## Example

```markdown skills/notes-for-every-release-of-every-package-that-this-team-maintains/SKILL.md
---
name: notes-for-every-release-of-every-package-that-this-team-maintains
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

CODE = "P414"
NAME = "text-too-long"
GROUP = "files"
SEVERITY = "warning"
FIXES = None

_MAX_DESCRIPTION = 1_024
_MAX_PROMPT = 30_000


def check(document: Document) -> Iterator[Finding]:
    """What the reader of skills says, and the same of agents."""
    yield from document.told(CODE)
    if document.kind != "agent" or document.agent is None or document.header is None:
        return
    if len((document.agent.description or "").strip()) > _MAX_DESCRIPTION:
        place = document.header.place("description")
        message = f"`description` has more than {_MAX_DESCRIPTION:,} characters"
        yield document.found_at(message, place, "say in it when to use the agent, no more")
    if document.path.lower().endswith(".agent.md") and len(document.body.text) > _MAX_PROMPT:
        end = document.body.text.find("\n")
        yield document.found(
            f"the prompt has more than {_MAX_PROMPT:,} characters",
            0,
            end,
            "move parts of it to skills or to files that the agent reads",
        )

"""Two agents of one folder have the same name, or two skills.

## What it does

Compares the names of all agent files that are checked, and those of all skills. Agents must
differ when they are below the same folder `agents`, or, where there is none, in the same
folder. Skills must differ when they are below the same folder `skills`. A skill that is in
`.claude/skills` and in `.agents/skills` too is there for two clients, which is no mistake.

## Why it matters

One of the two hides the other. Which one depends on the order in which a runtime reads its
files.

## Example

```markdown agents/review.md
---
name: reviewer
description: Reviews a change.
---
Review the change.
```

```markdown agents/second/audit.md
---
name: reviewer
description: Reviews an architecture.
---
Review the architecture.
```

## Use instead

```markdown agents/review.md
---
name: reviewer
description: Reviews a change.
---
Review the change.
```

```markdown agents/second/audit.md
---
name: architect
description: Reviews an architecture.
---
Review the architecture.
```
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ..claims import Claim
from ..document import Document
from ..findings import Finding

CODE = "P415"
NAME = "name-taken"
GROUP = "files"
SEVERITY = "warning"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """Nothing: a file by itself takes no name from another."""
    yield from ()


def claim(document: Document) -> Claim | None:
    """The name of an agent or a skill that its header gives."""
    header = document.header
    if header is None or document.kind not in ("agent", "skill"):
        return None
    name = header.metadata.get("name")
    if not isinstance(name, str) or not name:
        return None
    group = _group(document.path, f"{document.kind}s", 1 if document.kind == "agent" else 2)
    return Claim(document.kind, name, group, document.path, header.place("name"))


def _group(path: str, name: str, levels: int) -> str:
    """The nearest folder of a name above a file, else the one so many levels up."""
    parts = os.path.normpath(path).split(os.sep)
    folders = parts[:-1]
    if name in folders:
        above = len(folders) - folders[::-1].index(name)
        return os.sep.join(folders[:above])
    return os.path.relpath(os.path.join(path, *[os.pardir] * levels))


def across(claims: Iterable[Claim]) -> Iterator[Finding]:
    """Each file whose name an earlier one has."""
    first: dict[tuple[str, ...], Claim] = {}
    for each in sorted(claims, key=lambda claim: claim.path):
        other = first.setdefault(each.what, each)
        if other is not each and not each.silent:
            yield Finding(
                f"the name of this {each.kind} is taken by `{other.path}`",
                each.span,
                "rename one of the two",
                path=each.path,
            )

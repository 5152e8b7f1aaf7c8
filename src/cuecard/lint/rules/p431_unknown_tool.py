"""The file names a tool that there is none of.

## What it does

Compares the names in `tools` of an agent, and in `allowed-tools` of a skill, with the `tools`
of the settings. There and here, `*` stands for anything: `github/*` is known when a known
tool begins like that. What stands in parentheses is not looked at. Without `tools` in the
settings nothing is known, and nothing is reported.

## Why it matters

The agent does not get the tool, and its prompt may tell it to use it all the same.

## Example

```toml
tools = ["Read", "Grep", "Bash"]
```

```markdown
---
name: reviewer
description: Reviews a change.
tools: Read, Gerp
---
Review the change.
```

## Use instead

```toml
tools = ["Read", "Grep", "Bash"]
```

```markdown
---
name: reviewer
description: Reviews a change.
tools: Read, Grep
---
Review the change.
```

## Fix

Writes the nearest name that there is. Since that gives the agent another tool, it is made
with `--unsafe-fixes` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from ...language.vocabulary import nearest
from ..document import Document
from ..findings import Finding, Fix

CODE = "P431"
NAME = "unknown-tool"
GROUP = "files"
SEVERITY = "error"
FIXES = "unsafe"


def check(document: Document) -> Iterator[Finding]:
    """Each tool of the header that the settings do not have."""
    known = document.settings.tools
    if not known:
        return
    position = 0
    for entry in _entries(document):
        name = entry.partition("(")[0].strip()
        start, end = _place(document, name, position)
        position = max(position, end)
        if not _is_known(name, known):
            yield _finding(document, name, start, end)


def _entries(document: Document) -> tuple[str, ...]:
    if document.agent is not None:
        return document.agent.tools or ()
    skill = document.skill.skill if document.skill is not None else None
    return (skill.allowed_tools or ()) if skill is not None else ()


def _is_known(name: str, known: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, each) or fnmatchcase(each, name) for each in known)


def _place(document: Document, name: str, position: int) -> tuple[int, int]:
    """Where a name stands behind its key and behind the names before it."""
    assert document.header is not None
    key = document.header.place("tools" if document.agent is not None else "allowed-tools")
    if key is None:
        return 0, 3
    header = document.header.header.text
    pattern = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    found = pattern.search(header, max(position, key.end))
    return found.span() if found is not None else (key.start, key.end)


def _finding(document: Document, name: str, start: int, end: int) -> Finding:
    hint = nearest(name, document.settings.tools)
    fix = None
    if hint is not None and document.text[start:end] == name:
        other = hint.split("`")[1]
        edit = document.edit(start - document.body_start, end - document.body_start, other)
        fix = Fix(f"Write `{other}`", (edit,), safe=False)
    return document.found_in_file(
        f"there is no tool `{name}`",
        start,
        end,
        hint or "add it to `tools` in the settings, or leave it out",
        fix,
    )

"""The header declares an input that the template never reads.

## What it does

Holds the inputs that a header declares against the variables that the template and its
partials read. Under the profile `operator` the slots that every task has are passed over:
`directive`, `intent` and `context`.

## Why it matters

Whoever renders the agent has to find a value, and it changes nothing. Mostly the template
reads a misspelt name instead.

## Example

```markdown
---
name: reviewer
description: Reviews a change.
inputs:
  language: string
  tone: string
---
Review this change, which is written in {{ language }}.
```

## Use instead

```markdown
---
name: reviewer
description: Reviews a change.
inputs:
  language: string
---
Review this change, which is written in {{ language }}.
```
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...source import Source, Span
from ..document import Document
from ..findings import Finding
from ..known import OPERATOR_SLOTS

CODE = "P211"
NAME = "unread-input"
GROUP = "variables"
SEVERITY = "warning"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """Each declared input that is never read."""
    if document.agent is None or not document.agent.inputs:
        return
    if document.template is None or document.partials is None:
        return
    read = document.template.variables
    usual = OPERATOR_SLOTS if document.profile.name == "operator" else {}
    unread = [e.name for e in document.agent.inputs if e.name not in read | usual.keys()]
    if not unread or document.header is None:
        return
    places = _places(document.header.header)
    for name in unread:
        place = places.get(name) or document.header.place("inputs")
        yield document.found_at(
            f"the input `{name}` is never read", place, "read it in the template, or remove it"
        )


def _places(header: Source) -> dict[str, Span]:
    """Where the names of the inputs stand in a header."""
    import yaml

    first = header.text.find("\n") + 1
    try:
        root = yaml.compose(header.text[first:], Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        return {}
    inputs = _value(root, "inputs")
    pairs = inputs.value if inputs is not None else []
    nodes = [pair[0] if isinstance(pair, tuple) else _value(pair, "name") for pair in pairs]
    return {
        node.value: header.span(first + node.start_mark.index, first + node.end_mark.index)
        for node in nodes
        if node is not None
    }


def _value(mapping: Any, key: str) -> Any:
    """The node of a key's value; None when there is none."""
    return next((value for name, value in mapping.value if name.value == key), None)

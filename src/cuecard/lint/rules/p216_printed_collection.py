"""An output prints a list or a mapping as it is.

## What it does

Looks at outputs of which it is known that they are a list or a mapping: what the built-in
providers give, inputs of a declared type, lists that the template writes out, and what
filters such as `map` and `split` make.

## Why it matters

The text is neither JSON nor prose, but what a programmer's console shows: quotes, brackets
and `None`. It changes with the order of keys and with the kind of the values.

## Example

```markdown
---
name: researcher
description: Looks things up.
---
You have these tools: {{ tools }}
```

## Use instead

```markdown
---
name: researcher
description: Looks things up.
---
You have these tools: {{ tools | map(attribute="name") | join(", ") }}
```

## Fix

Puts it through `tojson`. That changes the text, so it is made with `--unsafe-fixes` only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...language import Node
from ..document import Document
from ..findings import Finding, Fix

CODE = "P216"
NAME = "printed-collection"
GROUP = "variables"
SEVERITY = "warning"
FIXES = "unsafe"

_SIMPLE = frozenset(("name", "attr", "item", "slice", "call", "filter", "list", "tuple"))
"""Expressions that a filter can follow without brackets."""
_WORDS = {"list": "a list", "mapping": "a mapping"}


def check(document: Document) -> Iterator[Finding]:
    """Each output that is a list or a mapping."""
    for node in document.nodes_by_kind.get("output", ()):
        value = node.children[0]
        # A mapping that is written out is mostly no template at all: P122.
        kind = "any" if value.kind == "map" else document.shapes.shape(value).kind
        if kind in _WORDS:
            yield _found(document, value, _WORDS[kind])


def _found(document: Document, value: Node, what: str) -> Finding:
    edits = [document.edit(value.end, value.end, " | tojson")]
    if value.kind not in _SIMPLE:
        edits = [
            document.edit(value.start, value.start, "("),
            document.edit(value.end, value.end, ") | tojson"),
        ]
    hint = "loop over it, or put it through `join` or `tojson`"
    fix = Fix("Print JSON", tuple(edits), safe=False)
    return document.found(f"the output is {what} as it is", value.start, value.end, hint, fix)

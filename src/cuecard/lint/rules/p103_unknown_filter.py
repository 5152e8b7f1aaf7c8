"""The template uses a filter that does not exist.

## What it does

Looks at every filter, also at those that are named as text, as in `map("upper")`. A filter
whose existence the template tests for, as in `"indent" is filter`, is passed over.

## Why it matters

The engine looks for a filter only when it comes to it. Such a template renders until the
branch with the misspelt filter is taken for the first time, and fails then.

## Example

```jinja
{{ tools | lenght }} tools
```

## Use instead

```jinja
{{ tools | length }} tools
```

## Fix

Writes the nearest filter that there is. The template did not render before, so it is made
with `--unsafe-fixes` only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...language import Node
from ...language.vocabulary import FILTERS
from ..document import Document
from ..findings import Finding
from ..words import failures, tested_names, unknown

CODE = "P103"
NAME = "unknown-filter"
GROUP = "syntax"
SEVERITY = "error"
FIXES = "unsafe"


def check(document: Document) -> Iterator[Finding]:
    """Each use of a filter that does not exist."""
    yield from failures(document, CODE)
    for node in document.nodes_by_kind.get("filter", ()):
        for name, start, end in _named(node):
            if name not in FILTERS and name not in tested_names(document, "filter"):
                yield unknown(document, "filter", name, (start, end), FILTERS)


def _named(node: Node) -> Iterator[tuple[str, int, int]]:
    yield node.value, node.at, node.at + len(node.value)
    if node.value != "map":
        return
    arguments = node.children if node.start == node.at else node.children[1:]
    if arguments and arguments[0].kind == "text" and "\\" not in arguments[0].value:
        yield arguments[0].value, arguments[0].start + 1, arguments[0].end - 1

"""The template uses a test that does not exist.

## What it does

Looks at every test, the words after `is`, also at those that are named as text, as in
`select("odd")`. A test whose existence the template tests for is passed over.

## Why it matters

The engine looks for a test only when it comes to it. Such a template renders until the
branch with the misspelt test is taken for the first time, and fails then.

## Example

```jinja
{% if user is defnied %}Hello {{ user }}.{% endif %}
```

## Use instead

```jinja
{% if user is defined %}Hello {{ user }}.{% endif %}
```

## Fix

Writes the nearest test that there is. The template did not render before, so it is made
with `--unsafe-fixes` only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...language import Node
from ...language.vocabulary import TESTS
from ..document import Document
from ..findings import Finding
from ..words import failures, tested_names, unknown

CODE = "P104"
NAME = "unknown-test"
GROUP = "syntax"
SEVERITY = "error"
FIXES = "unsafe"

_SIGNS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_BY_NAME = {"select": 0, "reject": 0, "selectattr": 1, "rejectattr": 1}
"""Filters that are given the name of a test, and as which argument."""
_HINTS = {
    "null": "write `is none`",
    "None": "write `is none`",
    "empty": "write `not x`",
    "list": "write `is sequence`",
    "array": "write `is sequence`",
    "dict": "write `is mapping`",
    "object": "write `is mapping`",
    "str": "write `is string`",
    "bool": "write `is boolean`",
    "callable": "plain data cannot be called",
}


def check(document: Document) -> Iterator[Finding]:
    """Each use of a test that does not exist."""
    yield from failures(document, CODE)
    for node in document.nodes_by_kind.get("test", ()):
        yield from _found(document, node.value, node.at, node.at + len(node.value))
    for node in document.nodes_by_kind.get("filter", ()):
        position = _BY_NAME.get(node.value)
        if position is None:
            continue
        arguments = node.children if node.start == node.at else node.children[1:]
        if all(argument.kind == "text" for argument in arguments[: position + 1]):
            for argument in arguments[position : position + 1]:
                yield from _quoted(document, argument)


def _quoted(document: Document, node: Node) -> Iterator[Finding]:
    if node.value not in _SIGNS and "\\" not in node.value:
        yield from _found(document, node.value, node.start + 1, node.end - 1)


def _found(document: Document, name: str, start: int, end: int) -> Iterator[Finding]:
    if name not in TESTS and name not in tested_names(document, "test"):
        yield unknown(document, "test", name, (start, end), TESTS, _HINTS.get(name))

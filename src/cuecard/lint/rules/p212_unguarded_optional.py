"""The template uses a variable that may be null in a way that fails on null.

## What it does

Looks, under a strict profile, at inputs that are optional and have no default, and at the
variables that a built-in provider may leave null. Null prints nothing, is false, and a loop
over it is empty; most filters take it as empty. An attribute or an item of it fails, and so
do a method, arithmetic, and the filters `abs`, `dictsort`, `filesizeformat`, `first`,
`float`, `int`, `items`, `last`, `lines`, `max`, `min`, `round`, `split` and `truncate`. Such
a use is reported unless a condition around it tells that the value is there.

## Why it matters

The render fails for the first user for whom the value is absent.

## Example

```markdown
---
name: greeter
description: Greets.
profile: strict
inputs:
  user: {type: object, required: false}
---
Hello {{ user.name }}.
```

## Use instead

```markdown
---
name: greeter
description: Greets.
profile: strict
inputs:
  user: {type: object, required: false}
---
Hello{% if user %} {{ user.name }}{% endif %}.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ...language import Node
from ..bindings import Read
from ..document import Document
from ..findings import Finding
from ..shapes import Variable

CODE = "P212"
NAME = "unguarded-optional"
GROUP = "variables"
SEVERITY = "warning"
FIXES = None

_FILTERS = frozenset(
    (
        *("abs", "dictsort", "filesizeformat", "float", "int", "items", "lines"),
        *("round", "split", "truncate"),
    )
)
_ABSENT_FILTERS = frozenset(("attr", "first", "last", "max", "min"))
"""Filters that give an absent value for null, which may be provided for."""
_WITH_DEFAULT = frozenset(("int", "float"))
_OPERATORS = frozenset(("+", "-", "/", "//", "%", "**"))


def check(document: Document) -> Iterator[Finding]:
    """Each use of a variable that may be null which fails when it is."""
    if document.profile.undefined != "strict":
        return
    nullable = {name: v for name, v in document.given.items() if v.optional}
    if not nullable:
        return
    for node, site in document.scopes.sites.items():
        for operand in _failing_operands(node, site.asked):
            read = document.scopes.reads.get(operand)
            variable = nullable.get(operand.value)
            if read is None or variable is None or not read.is_context:
                continue
            if not _is_guarded(document, read, variable):
                yield _found(document, operand, node)


def _is_guarded(document: Document, read: Read, variable: Variable) -> bool:
    name = variable.name
    if name in read.known:
        return True
    # An input that the template provides for everywhere stays absent; null is defined.
    stays_absent = (
        variable.source == "input"
        and document.template is not None
        and name in document.template.optional
    )
    return stays_absent and read.guarded


def _failing_operands(node: Node, asked: bool) -> Iterator[Node]:
    """The operands of an expression that must not be null, as far as they are names."""
    children = node.children
    if node.kind in ("attr", "item"):
        if not asked and children[0].kind == "name":
            yield children[0]
    elif node.kind == "call":
        if children[0].kind == "attr" and children[0].children[0].kind == "name":
            yield children[0].children[0]
    elif node.kind == "filter":
        if _fails(node, asked) and children[0].kind == "name":
            yield children[0]
    elif node.kind == "neg" or (node.kind == "binary" and node.value in _OPERATORS):
        yield from (child for child in children if child.kind == "name")


def _fails(node: Node, asked: bool) -> bool:
    if not node.children or node.start == node.at:
        return False
    if node.value in _ABSENT_FILTERS:
        return not asked
    return node.value in _FILTERS and not (node.value in _WITH_DEFAULT and len(node.children) > 1)


def _found(document: Document, name: Node, node: Node) -> Finding:
    what = {
        "attr": f"its attribute `{node.value}`",
        "item": "an item of it",
        "call": "a method of it",
        "filter": f"the filter `{node.value}`",
    }.get(node.kind, "the operation")
    return document.found(
        f"`{name.value}` may be null, for which {what} fails",
        name.start,
        name.end,
        f"write `{{% if {name.value} %}}` around it, or declare a default",
    )

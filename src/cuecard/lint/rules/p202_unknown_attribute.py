"""The template reads an attribute that its value does not have.

## What it does

Follows what is known of values: what the built-in providers give, the sections of a
`SYSTEM.md`, inputs of a declared type, mappings that the template writes out, and the names
that it makes of them in loops and assignments. An attribute or an item that such a value
lacks is reported, unless the template provides for its absence. In files whose caller may
pass what it likes, it is reported when the name looks like a misspelt one.

## Why it matters

Under a strict profile the render fails, once there is something to loop over; under a
lenient one each line of the list has a hole.

## Example

```jinja
{% for tool in tools %}
- {{ tool.nmae }}: {{ tool.description }}
{% endfor %}
```

## Use instead

```jinja
{% for tool in tools %}
- {{ tool.name }}: {{ tool.description }}
{% endfor %}
```

## Fix

Writes the nearest name that there is. That changes the text, so it is made with
`--unsafe-fixes` only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...language import Node, path_text
from ..document import Document
from ..findings import Finding
from ..guards import path_key
from ..shapes import Shape
from ..words import nearest_word, write_instead

CODE = "P202"
NAME = "unknown-attribute"
GROUP = "variables"
SEVERITY = "error"
FIXES = "unsafe"

_WORDS = {"list": "a list", "text": "a text", "number": "a number", "boolean": "true or false"}


def check(document: Document) -> Iterator[Finding]:
    """Each attribute or item by name that is known not to be there."""
    for node, site in document.scopes.sites.items():
        if node.kind not in ("attr", "item") or site.asked:
            continue
        name = _name(node)
        if name is None or f"?{path_key(node)}" in site.known:
            continue
        base = document.shapes.shape(node.children[0])
        if _lacks(base, name):
            yield _found(document, node, name, base, _nearest(name, base))
            continue
        guess = document.guessed_shapes.shape(node.children[0])
        near = _nearest(name, guess)
        if near is not None and _lacks(guess, name):
            yield _found(document, node, name, guess, near)


def _name(node: Node) -> str | None:
    if node.kind == "attr":
        return str(node.value)
    index = node.children[1]
    return index.value if index.kind == "text" and "\\" not in index.value else None


def _lacks(base: Shape, name: str) -> bool:
    if base.kind == "mapping":
        return base.fields is not None and name not in base.fields
    return base.kind in _WORDS


def _nearest(name: str, base: Shape) -> str | None:
    """The key that is nearest to a name, or the only one that begins with it."""
    fields = base.fields or {}
    longer = [key for key in fields if len(name) > 2 and key.startswith(name)]
    return longer[0] if len(longer) == 1 else nearest_word(name, fields)


def _found(document: Document, node: Node, name: str, base: Shape, near: str | None) -> Finding:
    start, end = _place(node, name)
    owner = path_text(node.children[0], document.body)
    message = f"`{owner}` has no attribute `{name}`"
    hint = None
    if base.kind == "list":
        message = f"`{owner}` is a list, which has no attribute `{name}`"
        hint = "loop over it, or take one item, such as the first: `[0]`"
    elif base.kind in _WORDS:
        message = f"`{owner}` is {_WORDS[base.kind]}, which has no attribute `{name}`"
    elif near is not None:
        hint = f"Did you mean `{near}`?"
    elif base.fields:
        hint = f"it has {', '.join(f'`{key}`' for key in base.fields)}"
    fix = None if near is None else write_instead(document, (start, end), near)
    return document.found(message, start, end, hint, fix)


def _place(node: Node, name: str) -> tuple[int, int]:
    if node.kind == "attr":
        return node.at, node.at + len(name)
    return node.children[1].start + 1, node.children[1].end - 1

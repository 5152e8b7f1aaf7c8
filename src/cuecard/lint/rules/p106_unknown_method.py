"""The template calls a method that its values do not have.

## What it does

Looks at every method that is called. Values are plain data: text has most methods of
Python's text, mappings have `items`, `keys`, `values` and `get`, lists `index` and `count`.
A method that none of these has is reported, and one of another kind where it is known what
the value is: a literal, a variable of a built-in provider, an input of a declared type.

## Why it matters

The call fails when it is made, and not before. The usual cases are the methods that change a
list, which no template may do, and objects with methods of their own, of which a template
sees only the data.

## Example

```jinja
{% set names = [] %}
{% for tool in tools %}{% do names.append(tool.name) %}{% endfor %}
{{ names | join(", ") }}
```

## Use instead

```jinja
{{ tools | map(attribute="name") | join(", ") }}
```

## Fix

Writes the nearest method that there is. The template did not render before, so it is made
with `--unsafe-fixes` only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...language import Node, path_text
from ..bindings import Binding
from ..document import Document
from ..findings import Finding
from ..guards import path_key
from ..inferring import LOOP
from ..shapes import Shape
from ..words import failures, nearest_word, write_instead

CODE = "P106"
NAME = "unknown-method"
GROUP = "syntax"
SEVERITY = "error"
FIXES = "unsafe"

_TEXT = frozenset(
    (
        *("capitalize", "count", "endswith", "find", "format", "isalnum", "isalpha", "isascii"),
        *("isdigit", "islower", "isnumeric", "isspace", "isupper", "join", "lower", "lstrip"),
        *("replace", "rfind", "rstrip", "split", "splitlines", "startswith", "strip", "title"),
        "upper",
    )
)
_MAPPING = frozenset(("get", "items", "keys", "values"))
_LIST = frozenset(("count", "index"))
_ANY = _TEXT | _MAPPING | _LIST
_BY_KIND: dict[str, frozenset[str]] = {
    "any": _ANY,
    "text": _TEXT,
    "list": _LIST,
    "mapping": _MAPPING,
    "number": frozenset(),
    "boolean": frozenset(),
}
_LOOP = frozenset(("cycle", "changed"))
_WORDS = {"text": "string", "number": "number", "boolean": "bool"}
_HINT = "mappings have `items`, `keys`, `values` and `get`; lists `index` and `count`"
_NO_DATA = frozenset(("import", "macro", "caller", "self", "parameter", "partial"))
"""What binds names that may have more than data has."""
_MAKERS = frozenset(("dict", "namespace", "range"))
"""Functions that give data."""


def check(document: Document) -> Iterator[Finding]:
    """Each call of a method that cannot be there."""
    yield from failures(document, CODE)
    for node in document.nodes_by_kind.get("call", ()):
        callee = node.children[0]
        if callee.kind == "attr" and _is_data(document, callee.children[0]):
            yield from _found(document, node, callee)


def _is_data(document: Document, base: Node) -> bool:
    while base.kind in ("attr", "item"):
        base = base.children[0]
    if base.kind != "name":
        return not _is_call_of_a_name(base)
    read = document.scopes.reads.get(base)
    if read is None or (read.is_context and document.is_open):
        return False
    return all(binding is None or _holds_data(binding) for binding in read.bindings)


def _holds_data(binding: Binding) -> bool:
    made = binding.value is not None and _is_call_of_a_name(binding.value)
    return binding.kind not in _NO_DATA and not made


def _is_call_of_a_name(node: Node) -> bool:
    """Whether a function or macro gives the value, as `cycler` does, which has methods."""
    callee = node.children[0] if node.kind == "call" else node
    return callee is not node and callee.kind == "name" and callee.value not in _MAKERS


def _found(document: Document, node: Node, callee: Node) -> Iterator[Finding]:
    base = callee.children[0]
    shape = document.shapes.shape(base)
    name = callee.value
    methods = _LOOP if shape is LOOP else _BY_KIND[shape.kind]
    site = document.scopes.sites.get(node)
    if name in methods or (site is not None and f"?{path_key(callee)}" in site.known):
        return
    near = nearest_word(name, methods)
    fix = None
    if near is not None:
        fix = write_instead(document, (callee.at, callee.end), near, instead_of=name)
    hint = _hint(shape, name) if fix is None else f"Did you mean `{near}`?"
    message = f"unknown method `{name}`"
    if shape.kind in _WORDS:
        message = (
            f"`{path_text(base, document.body)}` is a {_WORDS[shape.kind]}, "
            f"which has no method `{name}`"
        )
    yield document.found(message, callee.at, callee.end, hint, fix)


def _hint(shape: Shape, name: str) -> str | None:
    if shape.kind == "text" and name in _MAPPING:
        return "decode the JSON before it is passed"
    if shape is LOOP:
        return "loops have `cycle` and `changed`"
    return None if shape.kind in _WORDS else _HINT

"""The template calls a function that does not exist.

## What it does

Looks at every name that is called. A template can call the few functions that there are, and
the macros that it defines or imports; values of the context are plain data and cannot be
called. A function that is called only where it `is defined` is passed over. So is what a
template may have from the one that includes it or that it extends, unless the name is that
of a function of Python.

## Why it matters

The engine looks for a function only when it comes to it. Such a template renders until the
call is made for the first time, and fails then.

## Example

```jinja
You have {{ len(tools) }} tools.
```

## Use instead

```jinja
You have {{ tools | length }} tools.
```

## Fix

Writes the nearest function that there is. The template did not render before, so it is made
with `--unsafe-fixes` only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...language.vocabulary import FUNCTION_HINTS, FUNCTIONS
from ..document import Document
from ..findings import Finding
from ..words import failures, unknown

CODE = "P105"
NAME = "unknown-function"
GROUP = "syntax"
SEVERITY = "error"
FIXES = "unsafe"

_INSIDE = {
    "caller": "`caller()` stands inside a macro",
    "loop": "`loop(...)` stands inside a loop that is marked `recursive`",
}


def check(document: Document) -> Iterator[Finding]:
    """Each call of a name that is no function and no macro."""
    yield from failures(document, CODE)
    scopes = document.scopes
    for node, call in scopes.calls.items():
        name = node.value
        if not call.is_context or name in FUNCTIONS or f"?{name}" in call.known:
            continue
        if scopes.opened is not None and node.start > scopes.opened:
            continue
        hint = FUNCTION_HINTS.get(name)
        if document.is_open and (hint is None or name == "super"):
            continue
        if name == "super" and "block" in document.nodes_by_kind:
            continue
        known = FUNCTIONS | _macros(document)
        place = node.start, node.end
        yield unknown(document, "function", name, place, known, hint or _INSIDE.get(name))
    yield from _missing_blocks(document)


def _missing_blocks(document: Document) -> Iterator[Finding]:
    """Blocks that are called as `self.name()` and are not in the template."""
    if document.is_open:
        return
    blocks = {str(node.value) for node in document.nodes_by_kind.get("block", ())}
    for node in document.nodes_by_kind.get("call", ()):
        callee = node.children[0]
        if callee.kind != "attr" or callee.value in blocks:
            continue
        read = document.scopes.reads.get(callee.children[0])
        if read is None or read.node.value != "self":
            continue
        if not read.is_context or "self" not in document.variables:
            yield document.found("no such block", callee.at, callee.end)


def _macros(document: Document) -> frozenset[str]:
    bindings = document.scopes.bindings
    return frozenset(b.name for b in bindings if b.kind in ("macro", "import"))

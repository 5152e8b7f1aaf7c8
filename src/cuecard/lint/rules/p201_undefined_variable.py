"""The template reads a variable that nothing gives.

## What it does

Holds the variables that a template reads against all that could give them: the inputs that
its header declares, the built-in providers, the sections of a `SYSTEM.md`, the slots of an
operator's task, the providers and variables of the settings, and what the template and its
partials set. A name that is none of these is reported when the header declares inputs or
`only-declared` is set. In other files, whose caller may pass what it likes, it is reported
when it can hardly be anything but a misspelt one.

## Why it matters

Under a strict profile the render fails; under a lenient one the prompt has a hole that
nobody sees.

## Example

```jinja
Today is {{ curent_date }}.
```

## Use instead

```jinja
Today is {{ current_date }}.
```

## Fix

Writes the nearest name that something gives. That changes the text, so it is made with
`--unsafe-fixes` only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...language.vocabulary import FUNCTIONS
from ..bindings import Read
from ..document import Document
from ..escaping import escaped_reads
from ..findings import Finding
from ..words import is_misspelt, nearest_word, write_instead

CODE = "P201"
NAME = "undefined-variable"
GROUP = "variables"
SEVERITY = "error"
FIXES = "unsafe"


def check(document: Document) -> Iterator[Finding]:
    """Each use of a name that nothing gives, unless its absence is provided for."""
    if document.names is None or document.kind == "partial":
        return
    escaped = {read.node for read in escaped_reads(document)}
    known = _Known(document)
    guarded = {use.node for use in document.names.uses if use.guarded}
    for node, read in document.scopes.reads.items():
        if read.guarded or node in guarded or node in escaped:
            continue
        if read.is_context and not _may_be_given(document, read):
            yield from _found(document, read, known)


def _may_be_given(document: Document, read: Read) -> bool:
    opened = document.scopes.opened
    if opened is not None and read.node.start > opened:
        return True
    name = read.node.value
    return name in document.variables or name in FUNCTIONS or name == "self"


def _found(document: Document, read: Read, known: _Known) -> Iterator[Finding]:
    name = read.node.value
    near = known.nearest(read)
    if near is None and not document.closed:
        return
    hint = "declare it under `inputs` in the header, or in the settings"
    place = read.node.start, read.node.end
    fix = None
    if near is not None:
        hint = f"Did you mean `{near}`?"
        fix = write_instead(document, place, near)
    yield document.found(f"nothing gives the variable `{name}`", *place, hint, fix)


class _Known:
    """The names that something gives, among which a misspelt one is looked for."""

    def __init__(self, document: Document) -> None:
        self._closed = document.closed
        self._variables = tuple(document.variables)
        self._bindings = document.scopes.bindings
        self._alike: dict[str, frozenset[str]] = {}

    def nearest(self, read: Read) -> str | None:
        """The name that is nearest to the one that is read, if any is near."""
        name = read.node.value
        alike = self._alike.get(name)
        if alike is None:
            known = {*self._variables, *(binding.name for binding in self._bindings)}
            alike = frozenset(n for n in known if self._closed or is_misspelt(name, n))
            self._alike[name] = alike
        if not alike:
            return None
        here = [b.name for b in self._bindings if b.name in alike and b.frame.holds(read.node)]
        return nearest_word(name, alike.intersection((*self._variables, *here)))

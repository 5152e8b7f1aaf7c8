"""The template binds a name that it never reads.

## What it does

Looks at names that are set, bound by `with` or a loop, imported, or given to a macro, and
never read. Of a loop over pairs one name that is read is enough, and so is `loop`.
Names that begin with `_`
are meant to be unread. What another template may read is passed over: everything that a
partial, or a template without any text, binds at its top.

## Why it matters

It is mostly a misspelt name: the loop binds `tool`, and its body reads something else. What
is left over from an older version costs whoever reads the template next.

## Example

```jinja
{% set greeting = "Good morning" %}
Hello {{ user }}.
```

## Use instead

```jinja
{% set greeting = "Good morning" %}
{{ greeting }} {{ user }}.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ..bindings import Binding, Frame
from ..document import Document
from ..findings import Finding
from ..shadowing import shadowing_bindings

CODE = "P214"
NAME = "unused-name"
GROUP = "variables"
SEVERITY = "warning"
FIXES = None

_KINDS = {
    "set": "set",
    "with": "bound",
    "for": "bound",
    "macro": "defined",
    "import": "imported",
}


def check(document: Document) -> Iterator[Finding]:
    """Each name that is never read where it holds."""
    if document.scopes.opened is not None:
        return
    bindings = [b for b in document.scopes.bindings if b.kind in _KINDS]
    read = {(b.frame, b.name) for b in document.scopes.bindings if b.reads}
    exported = _is_exported(document)
    # Of these another rule tells more.
    seen = {(b.frame, b.name) for b in shadowing_bindings(document)}
    for binding in bindings:
        key = binding.frame, binding.name
        if key in read or key in seen or binding.name.startswith("_"):
            continue
        if (exported and binding.frame.parent is None) or _has_read_partner(binding, read):
            continue
        seen.add(key)
        yield _found(document, binding)


def _is_exported(document: Document) -> bool:
    """Whether other templates may read what is bound at the top."""
    if document.is_open or document.partials is None:
        return True
    if not document.profile.partials or document.kind in ("agent", "skill"):
        return False
    tree = document.tree
    return tree is not None and not any(
        child.kind == "output"
        or (child.kind == "data" and document.body.text[child.start : child.end].strip())
        for child in tree.children
    )


def _has_read_partner(binding: Binding, read: set[tuple[Frame, str]]) -> bool:
    """Whether another name of the same pair is read, or the loop itself is."""
    if binding.kind not in ("for", "set") or binding.node.kind == "set_block":
        return False
    partners = (*binding.node.value, "loop") if binding.kind == "for" else binding.node.value
    return any((binding.frame, name) in read for name in partners)


def _found(document: Document, binding: Binding) -> Finding:
    start, end = binding.place(document.body.text)
    hint = "remove it, or correct the name that was meant to read it"
    if binding.kind == "for":
        hint = "correct the name that the loop reads, or call it `_`"
    message = f"`{binding.name}` is {_KINDS[binding.kind]}, but never read"
    return document.found(message, start, end, hint)

"""A name hides another one that is still read.

## What it does

Looks at names that are set within a loop or a block, and at those that a loop or a `with`
binds, when the same name means something else around and is read there afterwards. A `set`
within a loop is reported too when the loop reads the name before it sets it, or adds to it:
each turn of a loop starts with what holds outside. Macros are passed over: what they bind
is their own.

## Why it matters

A `set` within a loop does not change the name outside. A flag or a sum that is kept so is
always what it was before the loop.

## Example

```jinja
{% set found = false %}
{% for tool in tools %}
{% if tool.name == "search" %}{% set found = true %}{% endif %}
{% endfor %}
{% if found %}Search first.{% endif %}
```

## Use instead

```jinja
{% set seen = namespace(search=false) %}
{% for tool in tools %}
{% if tool.name == "search" %}{% set seen.search = true %}{% endif %}
{% endfor %}
{% if seen.search %}Search first.{% endif %}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ..bindings import Binding
from ..document import Document
from ..findings import Finding
from ..shadowing import shadowing_bindings

CODE = "P215"
NAME = "shadowed-name"
GROUP = "variables"
SEVERITY = "warning"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """Each name that hides another which is still read."""
    for binding in shadowing_bindings(document):
        start, end = binding.place(document.body.text)
        hides = "a variable that is given" if binding.hides == (None,) else "the one around it"
        message = f"`{binding.name}` hides {hides}, which is still read"
        yield document.found(message, start, end, _hint(binding))


def _hint(binding: Binding) -> str:
    if binding.kind == "set" and binding.frame.kind == "for":
        return "keep it in a namespace: `{% set ns = namespace(n=0) %}`, `{% set ns.n = 1 %}`"
    return "give one of them another name"

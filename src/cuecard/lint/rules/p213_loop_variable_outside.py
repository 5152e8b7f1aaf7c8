"""The template reads a name of a loop where the loop does not hold.

## What it does

Looks for reads of a loop's variable, or of `loop`, behind the loop, in its `else` branch or
in a macro that the loop calls, where nothing else gives the name. Where only what is
declared gives variables, it looks for names too that are set within a loop.

## Why it matters

What a loop binds ends with it. Behind the loop the name is absent: a strict render fails, a
lenient one prints nothing.

## Example

```jinja
{% for step in steps %}
{{ loop.index }}. {{ step }}
{% endfor %}
The last step is {{ step }}.
```

## Use instead

```jinja
{% for step in steps %}
{{ loop.index }}. {{ step }}
{% endfor %}
The last step is {{ steps | last }}.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ..document import Document
from ..escaping import escaped_reads
from ..findings import Finding

CODE = "P213"
NAME = "loop-variable-outside"
GROUP = "variables"
SEVERITY = "error"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """Each read of a loop's name outside it."""
    kinds = {b.name: b.kind for b in document.scopes.bindings if b.frame.kind == "for"}
    for read in escaped_reads(document):
        name = read.node.value
        message = f"`{name}` is a name of a loop, and is read outside it"
        hint = "read it within the loop, or take the item with `first` or `last`"
        if name == "loop":
            message = "`loop` is read outside a loop"
            hint = "a macro that needs it takes it as an argument"
        elif kinds.get(name) == "set":
            message = f"`{name}` is set within a loop, and is read outside it"
            hint = "keep it in a namespace: `{% set ns = namespace(found=false) %}`"
        yield document.found(message, read.node.start, read.node.end, hint)

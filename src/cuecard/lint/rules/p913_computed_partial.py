"""Which partial is read depends on a value.

## What it does

Looks for `include`, `import`, `from` and `extends` whose file name is no text that is written
out. A choice between such texts, or a loop over a list of them, is fine.

## Why it matters

Whoever gives the value chooses what becomes part of the prompt, from all files of the folder.
Nothing can say beforehand whether the file is there, or which variables the prompt reads.

## Example

```toml
partials = "roles"
```

```jinja roles/reviewer.md
You review changes.
```

```jinja roles/writer.md
You write documentation.
```

```jinja
{% include role ~ ".md" %}
```

## Use instead

```toml
partials = "roles"
```

```jinja roles/reviewer.md
You review changes.
```

```jinja roles/writer.md
You write documentation.
```

```jinja
{% if role == "reviewer" %}
{% include "reviewer.md" %}
{% else %}
{% include "writer.md" %}
{% endif %}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ...language import Names, Node
from ..document import Document
from ..findings import Finding

CODE = "P913"
NAME = "computed-partial"
GROUP = "safety"
SEVERITY = "warning"
FIXES = None

_NAMING = ("include", "import", "from", "extends")


def check(document: Document) -> Iterator[Finding]:
    """Names of partials that are computed."""
    if document.names is None or not any(kind in document.text for kind in _NAMING):
        return
    nodes = document.nodes_by_kind
    for node in (node for kind in _NAMING for node in nodes.get(kind, ())):
        target = node.children[0]
        if not _is_written_out(target, document.names, ()):
            yield document.found(
                f"the value of an expression decides which file this `{node.kind}` reads",
                target.start,
                target.end,
                "write the names out, and choose between them with `if`",
            )


def _is_written_out(node: Node, names: Names, seen: tuple[str, ...]) -> bool:
    if node.kind in ("text", "const"):
        return True
    if node.kind == "if_expr":
        chosen = (node.children[0], *node.children[2:])
        return all(_is_written_out(child, names, seen) for child in chosen)
    if node.kind in ("list", "tuple", "and", "or"):
        return all(_is_written_out(child, names, seen) for child in node.children)
    if node.kind != "name" or node.value in seen or node.value in names.variables:
        return False
    origins = names.origins.get(node.value)
    return bool(origins) and all(
        _is_written_out(origin, names, (*seen, node.value)) for origin in origins or ()
    )

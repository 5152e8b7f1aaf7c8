"""A list of tools, skills or servers is shown in the order in which it happens to arrive.

## What it does

Looks for loops over a list of tools, skills or MCP servers that a provider of the runtime
itself gives, and that nothing in the template sorts. The lists of the built-in providers
are not meant: tools come in the agent's order, skills are sorted when they are found, and
servers come from the configuration.

## Why it matters

Tools are often listed in the order in which their servers answered. When that order changes,
the prompt changes, and what was cached of it is lost.

## Example

```toml
[providers]
servers = ["mcp_tools"]
```

```jinja
{% for tool in mcp_tools %}
- {{ tool.name }}
{% endfor %}
```

## Use instead

```toml
[providers]
servers = ["mcp_tools"]
```

```jinja
{% for tool in mcp_tools | sort(attribute="name") %}
- {{ tool.name }}
{% endfor %}
```

## Fix

Sorts by `name`, where the loop shows that the items have one. The order may change, so it is
made with `--unsafe-fixes` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...language import Node, is_path, root_name
from ..document import Document
from ..findings import Finding, Fix
from ..known import BUILT_IN

CODE = "P512"
NAME = "unsorted-list"
GROUP = "cache"
SEVERITY = "warning"
FIXES = "unsafe"

_LISTS = re.compile(r"(?:.*_)?(?:tools|skills|mcp|servers)")
_KEEPING_ORDER = frozenset(("list", "select", "reject", "selectattr", "rejectattr", "unique"))


def check(document: Document) -> Iterator[Finding]:
    """Loops over such a list, as it is or with some items left out."""
    if document.names is None:
        return
    if not any(_arrives(document, name) for name in document.names.variables):
        return
    for node in document.nodes_by_kind.get("for", ()):
        iterable = node.children[0]
        name = _listed(iterable)
        if name is None or name in document.names.bound or not _arrives(document, name):
            continue
        yield document.found(
            f"the order of `{name}` is that in which its provider gives it",
            iterable.start,
            iterable.end,
            'sort it: `| sort(attribute="name")`',
            _fix(document, node),
        )


def _arrives(document: Document, name: str) -> bool:
    """Whether a provider of the runtime gives such a list."""
    variable = document.variables.get(name)
    if variable is None or variable is BUILT_IN.get(name) or not _LISTS.fullmatch(name):
        return False
    return variable.source.startswith("provider")


def _listed(node: Node) -> str | None:
    while node.kind == "filter" and node.value in _KEEPING_ORDER and node.children:
        node = node.children[0]
    return root_name(node) if is_path(node) else None


def _fix(document: Document, loop: Node) -> Fix | None:
    """Sorting by name, when the loop's own variable is asked for its name."""
    (target, *others) = loop.value
    if others or not any(
        node.kind == "attr" and node.value == "name" and root_name(node) == target
        for node in loop.walk()
    ):
        return None
    end = loop.children[0].end
    edit = document.edit(end, end, ' | sort(attribute="name")')
    return Fix("Sort it by `name`", (edit,), safe=False)

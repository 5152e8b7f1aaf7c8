"""`safe` and `autoescape` do nothing here.

## What it does

Looks for the filter `safe` and the tag `autoescape`. Nothing is ever escaped in a prompt, so
there is nothing to switch off.

## Why it matters

They make believe that values are escaped elsewhere. Behind `safe` even `escape` does nothing:
`{{ x | safe | escape }}` prints `<` as it is.

## Example

```jinja
{{ tool.parameters | tojson | safe }}
```

## Use instead

```jinja
{{ tool.parameters | tojson }}
```

## Fix

Removes it, where it is the last filter of what is printed. Elsewhere that could change what
another filter makes of the value, so it is made with `--unsafe-fixes` only. The tags of
`autoescape` are removed when they have no marks for white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...language import Node
from ...scanner import Part
from ..document import Document
from ..findings import Edit, Finding, Fix

CODE = "P914"
NAME = "safe-filter"
GROUP = "safety"
SEVERITY = "warning"
FIXES = "safe"

_ARGUMENTS = re.compile(r"\s*\(\s*\)")
_BREAK = re.compile(r"\r?\n")


def check(document: Document) -> Iterator[Finding]:
    """Every filter `safe`, and every tag `autoescape`."""
    if document.tree is None or not ("safe" in document.text or "autoescape" in document.text):
        return
    nodes = document.nodes_by_kind
    last = {id(node) for output in nodes.get("output", ()) for node in _printed(output)}
    for node in nodes.get("filter", ()):
        if node.value == "safe":
            yield document.found(
                "the filter `safe` does nothing: nothing is ever escaped",
                node.at,
                node.at + len("safe"),
                "remove it",
                _without_filter(document, node, id(node) in last),
            )
    for node in nodes.get("autoescape", ()):
        yield document.found(
            "the tag `autoescape` does nothing: nothing is ever escaped",
            node.at,
            node.at + len("autoescape"),
            "remove it and its `endautoescape`",
            _without_tags(document, node),
        )


def _printed(node: Node) -> Iterator[Node]:
    """The expressions whose value an output prints as it is."""
    (value,) = node.children[:1]
    if value.kind == "if_expr":
        for child in (value.children[0], *value.children[2:]):
            yield from _printed(Node("output", 0, 0, None, (child,)))
    else:
        yield value
        if value.kind == "filter" and value.value == "safe" and value.children:
            yield from _printed(value)


def _without_filter(document: Document, node: Node, safe: bool) -> Fix | None:
    if not node.children:
        return None
    text = document.body.text
    start = text.rfind("|", 0, node.at)
    start = len(text[:start].rstrip())
    end = node.at + len("safe")
    arguments = _ARGUMENTS.match(text, end)
    if arguments is not None:
        end = arguments.end()
    return Fix("Remove `safe`", (document.edit(start, end, ""),), safe)


def _without_tags(document: Document, node: Node) -> Fix | None:
    """The removal of both tags, with the white space that they take away."""
    opening = next(part for part in document.parts if part.start == node.start)
    closing = next(part for part in document.parts if part.end == node.end)
    if any((tag.lead, tag.trail) != ("", "") for tag in (opening, closing)):
        return None
    edits = tuple(_without_tag(document, tag) for tag in (opening, closing))
    return Fix("Remove the tags", edits)


def _without_tag(document: Document, tag: Part) -> Edit:
    text = document.body.text
    start, end = tag.start, tag.end
    if document.profile.trim_blocks:
        match = _BREAK.match(text, end)
        end = match.end() if match is not None else end
    if document.profile.lstrip_blocks:
        line = text.rfind("\n", 0, start) + 1
        start = line if not text[line:start].strip() else start
    return document.edit(start, end, "")

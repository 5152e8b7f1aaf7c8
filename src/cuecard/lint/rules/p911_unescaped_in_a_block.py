"""Text from outside stands unescaped between tags.

## What it does

Looks for outputs of text from outside (notes and preferences of the user, descriptions of
skills, inputs, the slot `context`, what the runtime's own providers give) that stand within a
block of several lines, such as `<documents>` … `</documents>`, or in the attribute of a tag,
without `xml_text`, `escape`, `tojson` or another filter that leaves no tag.

Values that are short facts by their name, like `user_id` and `file_path`, are not meant, nor
is the user's instruction itself, nor a value between tags in one line.

## Why it matters

A text that holds `</documents>` closes the block: what follows it reads like your own words.
A description of a skill has done that in a real project.

## Example

```jinja
<notes>
{{ user_notes }}
</notes>
```

## Use instead

```jinja
<notes>
{{ user_notes | xml_text }}
</notes>
```

## Fix

Adds `| xml_text`, in an attribute `| escape`. That changes a text that holds `<`, `>` or `&`,
so it is made with `--unsafe-fixes` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..document import Document
from ..findings import Finding, Fix
from ..outside import DIRECTIONS, printed_outside_text, skeleton

CODE = "P911"
NAME = "unescaped-in-a-block"
GROUP = "safety"
SEVERITY = "warning"
FIXES = "unsafe"

_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]*)([\s\0][^<>]*)?>")
_ESCAPING = frozenset(
    (
        *("xml_text", "e", "escape", "tojson", "json", "urlencode", "striptags", "replace"),
        *("length", "count", "int", "float", "round", "abs", "bool", "filesizeformat", "sum"),
    )
)


class _Element(NamedTuple):
    name: str
    start: int
    end: int


def check(document: Document) -> Iterator[Finding]:
    """Outputs of text from outside, in a block or in a tag."""
    wanted = [
        printed
        for printed in printed_outside_text(document)
        if printed.leaf.name not in DIRECTIONS and not printed.filters & _ESCAPING
    ]
    if not wanted:
        return
    elements, tags = _elements(skeleton(document))
    for output, leaf, _ in wanted:
        tag = _around(tags, output.start, output.end)
        element = tag or _around(elements, output.start, output.end)
        if element is None:
            continue
        name = "escape" if tag else "xml_text"
        chain = leaf.chain
        edit = document.edit(chain.end, chain.end, f" | {name}")
        where = f"the tag `<{element.name}>`" if tag else f"the block `<{element.name}>`"
        yield document.found(
            f"text from `{leaf.name}` could close {where}",
            chain.start,
            chain.end,
            f"escape it: `| {name}`",
            Fix(f"Add `| {name}`", (edit,), safe=False),
        )


def _around(elements: list[_Element], start: int, end: int) -> _Element | None:
    """The innermost element around a range."""
    found = [e for e in elements if e.start <= start and end <= e.end]
    return max(found, key=lambda element: element.start, default=None)


def _elements(text: str) -> tuple[list[_Element], list[_Element]]:
    """Blocks of several lines that are closed, by their content; and tags, by their own range."""
    blocks: list[_Element] = []
    tags: list[_Element] = []
    opened: list[_Element] = []
    for match in _TAG.finditer(text):
        name = match[2]
        if not match[1]:
            tags.append(_Element(name, match.start(), match.end()))
            opened.append(_Element(name, match.end(), match.end()))
            continue
        for index in range(len(opened) - 1, -1, -1):
            if opened[index].name == name:
                start = opened[index].end
                if "\n" in text[start : match.start()]:
                    blocks.append(_Element(name, start, match.start()))
                del opened[index:]
                break
    return blocks, tags

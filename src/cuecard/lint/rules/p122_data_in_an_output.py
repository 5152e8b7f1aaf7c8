"""An output holds data, as if it were an example and no template.

## What it does

Looks for outputs that hold a mapping as it is written, such as `{{ {"a": 1} }}`. Where the
template does not parse for the sake of one, as with `{{"a": 1}}`, P101 tells of the first,
and this rule of the others.

## Why it matters

Two braces around JSON are mostly an example that was meant to be read by the model, or come
from a text in which braces had to be doubled. The engine takes them for an output: it fails,
or prints something that is not JSON.

## Example

```jinja
Answer {{ user }} with {{ {"status": "done"} }}.
```

## Use instead

```jinja
Answer {{ user }} with {% raw %}{"status": "done"}{% endraw %}.
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import PromptError
from ...language.vocabulary import RAW_HINT
from ...scanner import Part, scan
from ..document import Document
from ..findings import Finding

CODE = "P122"
NAME = "data-in-an-output"
GROUP = "syntax"
SEVERITY = "warning"
FIXES = None


def check(document: Document) -> Iterator[Finding]:
    """Each output that holds a mapping."""
    for node in document.nodes_by_kind.get("output", ()):
        if node.children[0].kind == "map":
            yield _found(document, node.start, node.end)
    error = document.failure
    if error is None or error.code != "P101" or error.span is None:
        return
    for part in _parts(document):
        failed = part.start <= error.span.start < part.end
        if part.kind == "output" and _is_mapping(part) and not failed:
            yield _found(document, part.start, part.end)


def _parts(document: Document) -> list[Part]:
    try:
        return scan(document.body, document.profile.limits)
    except PromptError:
        return []


def _is_mapping(part: Part) -> bool:
    """Whether the tokens are those of a mapping, with or without brackets of its own."""
    tokens = part.tokens[1:] if part.tokens and part.tokens[0].text == "{" else part.tokens
    return len(tokens) > 1 and tokens[0].kind == "string" and tokens[1].text == ":"


def _found(document: Document, start: int, end: int) -> Finding:
    return document.found("the output holds data as it is written", start, end, RAW_HINT)

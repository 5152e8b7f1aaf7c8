"""A delimiter is broken, so that a tag is printed as text.

## What it does

Looks through the text that is printed for what is a tag but for its delimiters: a block tag
with a blank in them, as in `{ % if x % }`, a comment, an output of a name that the template
knows, and a brace too many behind an output. Code between Markdown's fences and in
backticks, JSON and LaTeX are passed over.

## Why it matters

Nothing fails: the model reads the tag, and a branch that was meant to be left out.
Formatters of Markdown and HTML break delimiters in this way.

## Example

```jinja
Hello {{ user }}. { { user } } is here since { % if day %}{{ day }}.
```

## Use instead

```jinja
Hello {{ user }}. {{ user }} is here since {{ day }}.
```

## Fix

Writes the delimiter as it has to be. What was text becomes a tag, so it is made with
`--unsafe-fixes` only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...language.vocabulary import TAGS
from ...scanner import Part
from ..document import Document
from ..findings import Finding, Fix

CODE = "P121"
NAME = "broken-delimiter"
GROUP = "syntax"
SEVERITY = "warning"
FIXES = "unsafe"

_WORDS = "|".join(sorted({*TAGS, *(f"end{tag}" for tag in TAGS), "elif", "else"}))
_BLOCK = re.compile(rf"\{{[ \t]+%[-+]?[ \t]*(?:{_WORDS})\b(?P<inner>[^{{}}%\n]*?)[-+]?%[ \t]*\}}")
_COMMENT = re.compile(r"\{[ \t]+#(?P<inner>[^{}#\n]*)#[ \t]*\}")
_OUTPUT = re.compile(
    r"\{[ \t]*\{[ \t]*(?P<name>[^\W\d]\w*)(?P<inner>(?:\.\w+|\[[^\[\]{}\n]*\])*"
    r"(?:[ \t]*\|[^{}\n]*)?)[ \t]*\}[ \t]*\}"
)
_BEFORE = re.compile(r"[\\`$^_}=\w]$")
"""What stands before braces in code, LaTeX and shells."""


def check(document: Document) -> Iterator[Finding]:
    """Each tag that is printed as text."""
    text = document.body.text
    if document.failure is not None:
        return
    for part in document.parts or [Part("text", 0, len(text))]:
        if part.kind != "text" or "{" not in text[part.start : part.end]:
            continue
        for pattern, what in ((_BLOCK, "tag"), (_COMMENT, "comment"), (_OUTPUT, "output")):
            for found in pattern.finditer(text, part.start, part.end):
                if _is_meant(document, found, what):
                    yield _broken(document, found, what)
    yield from _braces_behind(document)


def _is_meant(document: Document, found: re.Match[str], what: str) -> bool:
    start = found.start()
    if any(begin <= start < end for begin, end in document.fences):
        return False
    if what != "output":
        return document.body.text[start - 1 : start] != "`"
    if _BEFORE.search(document.body.text, max(0, start - 1), start):
        return False
    name = found["name"]
    names = document.names
    known = names is not None and (name in names.variables or name in names.bound)
    return known or name in document.variables


def _broken(document: Document, found: re.Match[str], what: str) -> Finding:
    start, end = found.span()
    whole = found[0]
    mark = {"tag": "%", "comment": "#", "output": "{"}[what]
    close = {"tag": "%}", "comment": "#}", "output": "}}"}[what]
    inner = whole[1:-1].strip()[1:-1]
    written = f"{{{mark}{inner}{close}"
    fix = Fix("Write the delimiter together", (document.edit(start, end, written),), safe=False)
    message = f"this {what} is printed as text: its delimiters are not `{{{mark}` and `{close}`"
    hint = f"write `{{{mark}` and `{close}` without a blank between"
    return document.found(message, start, end, hint, fix)


def _braces_behind(document: Document) -> Iterator[Finding]:
    """A brace behind an output, in a template that has no other."""
    text = document.body.text
    texts = [part for part in document.parts if part.kind == "text"]
    if any("{" in text[part.start : part.end] for part in texts):
        return
    outputs = {part.end for part in document.parts if part.kind == "output"}
    for part in texts:
        if part.start in outputs and text[part.start] == "}":
            start, end = part.start, part.start + 1
            fix = Fix("Remove the brace", (document.edit(start, end, ""),), safe=False)
            message = "a brace too many stands behind the output, and is printed"
            yield document.found(message, start, end, "remove it", fix)

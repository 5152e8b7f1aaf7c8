"""The file holds `{{`, `{%` or `{#` that was never meant as a template.

## What it does

Looks at files that do not parse, for the delimiters of other languages in the place where
that fails: Go and Helm, Handlebars and Mustache, GitHub Actions, shell scripts, objects
between doubled braces, anchors of headings, labels and dates. In files that parse it looks
for the expressions of GitHub Actions. A file that declares `inputs`, or reads a variable that
is known, is a template: there such a place is a syntax error (P101).

## Why it matters

Examples in a prompt are to be sent as they are. Here they end the render, or vanish from the
prompt because nothing gives such a variable.

## Example

```markdown
---
name: deployer
description: Deploys a service.
---
Set the image to `{{ .Values.image }}`.
```

## Use instead

```markdown
---
name: deployer
description: Deploys a service.
---
Set the image to `{% raw %}{{ .Values.image }}{% endraw %}`.
```

## Fix

Puts the whole text of a file that does not parse between `{% raw %}` and `{% endraw %}`, or
else the expression. What is meant as a template and what is not has to be guessed, so this
is made with `--unsafe-fixes` only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..document import Document
from ..findings import Finding, Fix

CODE = "P433"
NAME = "accidental-delimiters"
GROUP = "files"
SEVERITY = "error"
FIXES = "unsafe"

_HINT = "put text that is no template between `{% raw %}` and `{% endraw %}`"


def check(document: Document) -> Iterator[Finding]:
    """Each place that looks like another language."""
    for kind, start, end in document.foreign:
        yield document.found(
            f"this looks like {kind}, and is read as a part of the template",
            start,
            end,
            _HINT,
            _fix(document, start, end),
            severity="warning" if document.failure is None else "error",
        )


def _fix(document: Document, start: int, end: int) -> Fix | None:
    text = document.body.text
    trims = document.profile.trim_blocks
    if "endraw" in text:
        return None
    if document.failure is None:
        closing = "{% endraw +%}" if trims and text[end : end + 1] in "\r\n" else "{% endraw %}"
        edits = document.edit(start, start, "{% raw %}"), document.edit(end, end, closing)
        return Fix("Put the expression between `raw` tags", edits, safe=False)
    newline = "\r\n" if "\r\n" in text else "\n"
    ends_line = text.endswith("\n")
    if trims:
        # The tags get lines of their own, which vanish.
        opening, closing = f"{{% raw %}}{newline}", "{% endraw %}" + newline * ends_line
        end = len(text)
    else:
        opening, closing = "{% raw %}", "{% endraw %}"
        end = len(text) - len(newline) * ends_line
    edits = document.edit(0, 0, opening), document.edit(end, end, closing)
    return Fix("Put the text between `raw` tags", edits, safe=False)

"""The file begins with a byte order mark.

## What it does

Looks for the character U+FEFF at the very start of a file.

## Why it matters

It cannot be seen, and it is left out here. A program that does not leave it out finds no
front matter behind it, because line 1 is not `---` then, or sends it to the model.

## Example

```markdown
\ufeff---
name: reviewer
description: Reviews a change.
---
Review the change.
```

## Use instead

```markdown
---
name: reviewer
description: Reviews a change.
---
Review the change.
```

## Fix

Removes it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..document import Document
from ..findings import Edit, Finding, Fix

CODE = "P434"
NAME = "byte-order-mark"
GROUP = "files"
SEVERITY = "warning"
FIXES = "safe"


def check(document: Document) -> Iterator[Finding]:
    """The mark, which stands before the first character of the text."""
    if document.mark:
        yield document.found_in_file(
            "the file begins with a byte order mark",
            0,
            0,
            "save the file as UTF-8 without one",
            Fix("Remove the byte order mark", (Edit(-len(document.mark), 0, ""),)),
        )

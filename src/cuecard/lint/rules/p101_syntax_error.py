"""The template does not parse, or does what its profile refuses.

## What it does

Reads the template as a render would, and tells the first error that it finds: a tag that is
not closed, an unknown tag, a name that templates may not read, or a limit that is exceeded.
The code is that of the exception which a render would raise. A place that looks like another
language is told of as P433.

## Why it matters

Such a template never renders. Under the profile `live` it would be sent as it stands, with
all its tags.

## Example

```jinja
{% if user %}Hello {{ user.name }}
```

## Use instead

```jinja
{% if user %}Hello {{ user.name }}{% endif %}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from ..document import Document
from ..findings import Finding

CODE = "P101"
NAME = "syntax-error"
GROUP = "syntax"
SEVERITY = "error"
FIXES = None
ALSO = (
    *("P102", "P107", "P108", "P109"),
    *("P110", "P111", "P112", "P113", "P803", "P804", "P805"),
)
_OF_OTHERS = frozenset(("P103", "P104", "P105", "P106"))
"""Codes that have rules of their own."""


def check(document: Document) -> Iterator[Finding]:
    """The error that a render would begin with."""
    error = document.failure
    if error is not None and error.code not in _OF_OTHERS and not document.foreign:
        yield Finding(error.message, error.span, error.hint, None, error.code)

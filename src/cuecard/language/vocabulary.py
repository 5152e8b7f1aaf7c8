"""The words of the template language: what exists, what people write instead, what is near."""

from __future__ import annotations

from collections.abc import Iterable

from ..scanner import BLOCKS

__all__ = [
    "FILTERS",
    "FUNCTIONS",
    "FUNCTION_HINTS",
    "RAW_HINT",
    "TAGS",
    "TAG_HINTS",
    "TESTS",
    "nearest",
]

TAGS = (*BLOCKS, "include", "import", "from", "extends", "do", "raw", "break", "continue")
"""Every tag that begins a statement."""

FUNCTIONS = frozenset(("range", "dict", "namespace", "cycler", "joiner", "raise_exception"))
"""Functions that every template may call."""

RAW_HINT = "if this is no template, put it between `{% raw %}` and `{% endraw %}`"

FUNCTION_HINTS = {
    "len": "use the filter: `x | length`",
    "str": "use the filter: `x | string`",
    "int": "use the filter: `x | int`",
    "float": "use the filter: `x | float`",
    "list": "use the filter: `x | list`",
    "sorted": "use the filter: `x | sort`",
    "sum": "use the filter: `x | sum`",
    "min": "use the filter: `x | min`",
    "max": "use the filter: `x | max`",
    "abs": "use the filter: `x | abs`",
    "round": "use the filter: `x | round`",
    "reversed": "use the filter: `x | reverse`",
    "zip": "use the filter: `x | zip(y)`",
    "enumerate": "use `loop.index0` inside the loop",
    "isinstance": "use a test: `x is string`, `x is mapping`, `x is sequence`",
    "print": "write `{{ x }}`",
    "super": "`super()` stands inside a block of a template that extends another",
    "strftime_now": "pass the date in the context",
}
TAG_HINTS = {
    "elseif": "write `elif`",
    "elsif": "write `elif`",
    "verbatim": "write `{% raw %}` … `{% endraw %}`",
    "endverbatim": "write `{% raw %}` … `{% endraw %}`",
    "switch": "write `{% if %}` … `{% elif %}` … `{% endif %}`",
    "var": "write `{% set name = value %}`",
    "let": "write `{% set name = value %}`",
    "assign": "write `{% set name = value %}`",
    "print": "write `{{ value }}`",
    "trans": "translations are no part of the template language",
    "generation": "remove the tag, which only training templates use",
}
FILTERS = frozenset(
    (
        "abs",
        "attr",
        "batch",
        "bool",
        "capitalize",
        "chain",
        "count",
        "d",
        "default",
        "dictsort",
        "e",
        "escape",
        "filesizeformat",
        "first",
        "float",
        "format",
        "groupby",
        "indent",
        "int",
        "items",
        "join",
        "json",
        "last",
        "length",
        "lines",
        "list",
        "lower",
        "map",
        "max",
        "min",
        "pluralize",
        "pprint",
        "raw",
        "reject",
        "rejectattr",
        "replace",
        "reverse",
        "round",
        "safe",
        "select",
        "selectattr",
        "slice",
        "sort",
        "split",
        "string",
        "striptags",
        "sum",
        "title",
        "tojson",
        "trim",
        "truncate",
        "unique",
        "upper",
        "urlencode",
        "wordwrap",
        "xml_text",
        "zip",
    )
)
TESTS = frozenset(
    (
        "boolean",
        "defined",
        "divisibleby",
        "endingwith",
        "eq",
        "equalto",
        "escaped",
        "even",
        "false",
        "filter",
        "float",
        "ge",
        "greaterthan",
        "gt",
        "in",
        "int",
        "integer",
        "iterable",
        "le",
        "lessthan",
        "lower",
        "lt",
        "mapping",
        "ne",
        "none",
        "number",
        "odd",
        "safe",
        "sameas",
        "sequence",
        "startingwith",
        "string",
        "test",
        "true",
        "undefined",
        "upper",
    )
)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the known word nearest to a misspelt one, if any is near."""
    # Only failures ask for this.
    from difflib import get_close_matches

    # The names of a context may be no texts at all.
    candidates = [word for word in map(str, known) if not word.startswith("_")]
    close = get_close_matches(name, candidates, n=1, cutoff=0.6)
    if not close:
        lowered = {candidate.lower(): candidate for candidate in candidates}
        found = lowered.get(name.lower())
        return f"Did you mean `{found}`?" if found else None
    return f"Did you mean `{close[0]}`?" if close[0] != name else None

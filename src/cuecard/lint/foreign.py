"""Foreign: delimiters in a file that were never meant for this template language."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from ..errors import PromptError
from ..scanner import Part

__all__ = ["Foreign", "find_foreign", "reads_one_of"]

_GITHUB = frozenset(
    (
        *("github", "secrets", "env", "inputs", "matrix", "steps", "needs", "runner", "vars"),
        *("job", "jobs", "strategy"),
    )
)
_KINDS = (
    ("an expression of GitHub Actions", re.compile(r"(?<=\$)\{\{")),
    ("a length in a shell script", re.compile(r"(?<=\$)\{#")),
    ("a tag of Handlebars or Mustache", re.compile(r"\{\{\{|\{\{[~-]?\s*[#/^>!&]")),
    (
        "a tag of a Go template",
        re.compile(
            r"\{\{-?\s*(?:\.|\$|/\*|(?:range|end|if|else|with|template|define|block)\b"
            r'|(?:include|tpl|toYaml|printf|quote|default)\s+[".$(])'
        ),
    ),
    (
        "an object between doubled braces",
        re.compile(r"\{\{\s*(?:[\w$-]+|\"[^\"\n]*\"|'[^'\n]*')\s*:"),
    ),
    ("a set of labels between doubled braces", re.compile(r"\{\{\s*\w+\s*(?:=~?|!=|!~)\s*[\"'{]")),
    ("a format of a date", re.compile(r"\{%[A-Za-z](?![A-Za-z])")),
    ("an anchor, or a tag of Svelte", re.compile(r"\{#[\w.:@-]+")),
)
_READ = re.compile(
    r"(?<!\$)\{\{[-+]?\s*([^\W\d]\w*)"
    r"|\{%[-+]?\s*(?:(?:el)?if(?:\s+not)?|for\s+[\w, ]+\s+in)\s+([^\W\d]\w*)"
)


class Foreign(NamedTuple):
    """A delimiter that was not meant.

    Attributes:
        kind: what it looks like, in words.
        start: where it begins in the template.
        end: where it ends, as far as that can be told.
    """

    kind: str
    start: int
    end: int


def reads_one_of(text: str, names: Collection[str]) -> bool:
    """Whether a template that may not parse prints or asks for one of some variables."""
    return any((found[1] or found[2]) in names for found in _READ.finditer(text))


def find_foreign(text: str, parts: list[Part], failure: PromptError | None) -> Iterator[Foreign]:
    """The delimiter that a template fails at, or all that look like GitHub's.

    Args:
        text: the template.
        parts: its parts, if it can be read.
        failure: why it cannot be read.
    """
    if failure is None:
        for part in parts:
            is_marked = part.start > 0 and text[part.start - 1] == "$"
            if is_marked and part.kind == "output" and part.tokens[0].text in _GITHUB:
                yield Foreign(_KINDS[0][0], part.start - 1, part.end)
    elif failure.code == "P101" and failure.span is not None:
        start = _delimiter(text, failure.span.start)
        for kind, pattern in _KINDS:
            found = pattern.match(text, max(0, start))
            if found is not None:
                yield Foreign(kind, start, found.end())
                return


def _delimiter(text: str, offset: int) -> int:
    """Where the tag begins that an offset is in, with all of its braces."""
    start = max(text.rfind(opening, 0, offset + 2) for opening in ("{{", "{%", "{#"))
    while start > 0 and text[start - 1] == "{":
        start -= 1
    return start

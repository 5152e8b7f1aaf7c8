"""Words: findings about a name that does not exist, with the nearest one that does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..language.vocabulary import nearest
from .document import Document
from .findings import Finding, Fix

__all__ = [
    "failures",
    "is_misspelt",
    "nearest_word",
    "tested_names",
    "unknown",
    "write_instead",
]

_ALIKE = 0.85
"""How alike a name in an open file and a known one must be, from 0 to 1."""
_CLOSE = 0.75
"""How alike a name and the word that a fix writes must be."""


def failures(document: Document, *codes: str) -> Iterator[Finding]:
    """Why a template cannot be read or compiled, if it is of one of these codes."""
    error = document.failure
    if error is not None and error.code in codes:
        yield Finding(error.message, error.span, error.hint, None, error.code)


def unknown(
    document: Document,
    what: str,
    name: str,
    place: tuple[int, int],
    known: Iterable[str],
    hint: str | None = None,
) -> Finding:
    """A finding for a filter, test, function or method that does not exist.

    Args:
        document: the file.
        what: what it would be.
        name: the name that does not exist.
        place: where it stands in the template.
        known: the names that do.
        hint: what to do when none of these is near, or what helps better.
    """
    near = None if hint is not None else nearest_word(name, known)
    fix = None if near is None else write_instead(document, place, near, instead_of=name)
    hint = hint if near is None else f"Did you mean `{near}`?"
    return document.found(f"unknown {what} `{name}`", *place, hint, fix)


def nearest_word(name: str, known: Iterable[str]) -> str | None:
    """The known word that is nearest to a misspelt one, if any is near."""
    hint = nearest(name, known)
    return hint.split("`")[1] if hint else None


def write_instead(
    document: Document, place: tuple[int, int], word: str, *, instead_of: str | None = None
) -> Fix | None:
    """A fix that writes another word, and so changes the text.

    With `instead_of` there is none for a word that is too far from it to be meant.
    """
    if instead_of is not None and _likeness(instead_of, word) < _CLOSE:
        return None
    return Fix(f"Write `{word}`", (document.edit(*place, word),), safe=False)


def is_misspelt(name: str, word: str) -> bool:
    """Whether a name can hardly be anything but a misspelt word.

    A plural is a word of its own, and so is a name that differs in a number or in length.
    """
    if min(len(name), len(word)) < 4 or abs(len(name) - len(word)) > 2:
        return False
    if name.rstrip("s") == word.rstrip("s") or _letters(name) == _letters(word):
        return name.lower() == word.lower()
    return _likeness(name, word, _ALIKE) >= _ALIKE


def _likeness(name: str, word: str, enough: float = 0.0) -> float:
    """How alike two names are, from 0 to 1; 0 when that is less than enough."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, name, word)
    return matcher.ratio() if matcher.quick_ratio() >= enough else 0.0


def _letters(name: str) -> str:
    return "".join(character for character in name if not character.isdecimal())


def tested_names(document: Document, test: str) -> frozenset[str]:
    """Names for which the template looks whether they exist, as in `"indent" is filter`."""
    return frozenset(
        str(node.children[0].value)
        for node in document.nodes_by_kind.get("test", ())
        if node.value == test and node.children[0].kind == "text"
    )

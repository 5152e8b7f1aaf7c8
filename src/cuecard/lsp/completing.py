"""What could be written at the cursor."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Literal, NamedTuple

from ..scanner import BLOCKS
from . import words
from .analysis import Analysis
from .bindings import open_blocks
from .cursor import Cursor, base_before, cursor_at
from .describing import (
    describe_binding,
    describe_shape,
    describe_variable,
    describe_word,
    detail_of,
)
from .header import HeaderPlace, header_place
from .tags import Tag, tag_at
from .words import Word

__all__ = ["Choice", "Choices", "choices_at"]

_MOST_FILES = 500
_OPERATORS = ("and", "or", "not", "in", "is", "if", "else")

Kind = Literal["variable", "binding", "attribute", "function", "keyword", "key", "value", "file"]


class Choice(NamedTuple):
    """A word that could be written.

    Attributes:
        label: the word.
        kind: what it is.
        detail: more of it, in a few words.
        text: all there is to say of it, as Markdown.
        rank: choices of a lower rank come first.
        behind: what is written behind the word.
    """

    label: str
    kind: Kind
    detail: str = ""
    text: str = ""
    rank: int = 1
    behind: str = ""


class Choices(NamedTuple):
    """The choices at a place, and the range that a choice replaces."""

    choices: list[Choice]
    start: int
    end: int


def choices_at(analysis: Analysis, offset: int) -> Choices | None:
    """What could be written at an offset; None where nothing is offered."""
    if offset < analysis.header_end:
        place = header_place(analysis.text, offset)
        if place is None:
            return None
        return Choices(list(_in_header(analysis, place)), place.start, place.end)
    tag = tag_at(analysis.tags, offset)
    if tag is None:
        return None
    cursor = cursor_at(tag, offset)
    inside = 1 if cursor.kind == "partial" and cursor.word else 0
    choices = list(_in_tag(analysis, cursor))
    return Choices(choices, cursor.start + inside, cursor.end - inside) if choices else None


def _in_header(analysis: Analysis, place: HeaderPlace) -> Iterator[Choice]:
    if place.is_value:
        yield from (Choice(value, "value") for value in place.choices())
        if place.section == "top" and place.key in ("tools", "allowed-tools"):
            yield from (Choice(name, "value") for name in analysis.checker.settings.tools)
        return
    known = analysis.document.header if analysis.document is not None else None
    written = known.metadata if known is not None and place.section == "top" else {}
    colon = analysis.text[place.end : place.end + 1] != ":"
    for key, text in place.keys(skill=analysis.target.kind == "skill").items():
        if key not in written or key == place.word:
            yield Choice(key, "key", "", text, behind=": " if colon else "")


def _in_tag(analysis: Analysis, cursor: Cursor) -> Iterator[Choice]:
    if cursor.kind == "attribute":
        yield from _attributes(analysis, cursor)
    elif cursor.kind == "filter":
        yield from _words(words.FILTERS, "filter")
    elif cursor.kind == "test":
        yield from _words(words.TESTS, "test")
        if cursor.before[-1].text == "is":
            yield Choice("not", "keyword", "the opposite of a test")
    elif cursor.kind == "tag":
        yield from _tags(analysis, cursor.tag)
    elif cursor.kind == "partial":
        yield from _partials(analysis)
    elif cursor.kind == "operator":
        yield from (Choice(word, "keyword") for word in _OPERATORS)
    elif cursor.kind in ("variable", "function"):
        yield from _names(analysis, cursor.tag)


def _words(table: dict[str, Word], kind: str) -> Iterator[Choice]:
    for name, word in table.items():
        yield Choice(name, "function", word.text, describe_word(name, kind, word))


def _attributes(analysis: Analysis, cursor: Cursor) -> Iterator[Choice]:
    base = base_before(cursor.before)
    fields = analysis.shape(base, cursor.tag).fields if base is not None else None
    for name, shape in (fields or {}).items():
        yield Choice(name, "attribute", describe_shape(shape))


def _names(analysis: Analysis, tag: Tag) -> Iterator[Choice]:
    bound = analysis.bindings(tag.start)
    for name, binding in bound.items():
        yield Choice(name, "binding", binding.what, describe_binding(binding), 0)
    for name, variable in analysis.variables.items():
        if name not in bound:
            text = describe_variable(variable)
            rank = 0 if variable.source == "input" else 1
            yield Choice(name, "variable", detail_of(variable), text, rank)
    for name, word in words.FUNCTIONS.items():
        if name not in bound and name not in analysis.variables:
            text = describe_word(name, "function", word)
            yield Choice(name, "function", word.text, text, 2)


def _tags(analysis: Analysis, tag: Tag) -> Iterator[Choice]:
    opened = open_blocks(analysis.tags, tag.start)
    if opened:
        word = opened[-1].word
        yield Choice(BLOCKS[word], "keyword", f"closes the block of `{word}`", "", 0)
        if word == "if":
            yield Choice("elif", "keyword", "another condition", "", 0)
        if word in ("if", "for"):
            yield Choice("else", "keyword", "what is printed otherwise", "", 0)
    for name, entry in words.TAGS.items():
        yield Choice(name, "keyword", entry.text, describe_word(name, "tag", entry))


def _partials(analysis: Analysis) -> Iterator[Choice]:
    """The files in the folder of partials, by the names that a template calls them."""
    document = analysis.document
    if document is None or document.folder is None:
        return
    root = str(document.folder.path)
    names = (
        os.path.relpath(os.path.join(place, name), root).replace(os.sep, "/")
        for place, folders, files in os.walk(root)
        for name in files
        if not name.startswith(".")
    )
    for name, _ in zip(names, range(_MOST_FILES), strict=False):
        yield Choice(name, "file")

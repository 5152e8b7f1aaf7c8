"""What an editor shows of the word under the cursor."""

from __future__ import annotations

from typing import NamedTuple

from . import words
from .analysis import Analysis
from .cursor import Cursor, base_before, cursor_at
from .describing import describe_binding, describe_shape, describe_variable, describe_word
from .header import header_place
from .tags import tag_at

__all__ = ["Hover", "hover_at"]


class Hover(NamedTuple):
    """A text, as Markdown, and the range of the word that it is about."""

    text: str
    start: int
    end: int


def hover_at(analysis: Analysis, offset: int) -> Hover | None:
    """What there is to say of the word at an offset."""
    if offset < analysis.header_end:
        return _header(analysis, offset)
    tag = tag_at(analysis.tags, offset)
    if tag is None:
        return None
    cursor = cursor_at(tag, offset)
    text = _text(analysis, cursor) if cursor.word else None
    return Hover(text, cursor.start, cursor.end) if text else None


def _header(analysis: Analysis, offset: int) -> Hover | None:
    place = header_place(analysis.text, offset)
    if place is None or not place.word:
        return None
    if place.section == "inputs" and not place.is_value:
        variable = analysis.variables.get(place.word)
        text = describe_variable(variable) if variable is not None else None
    else:
        text = place.keys(skill=analysis.target.kind == "skill").get(place.key)
        text = f"**`{place.key}`**\n\n{text}" if text else None
    return Hover(text, place.start, place.end) if text else None


def _text(analysis: Analysis, cursor: Cursor) -> str | None:
    name = cursor.word
    if cursor.kind == "attribute":
        return _attribute(analysis, cursor)
    if cursor.kind in ("variable", "function"):
        return _name(analysis, cursor)
    table = {"filter": words.FILTERS, "test": words.TESTS, "tag": words.TAGS}.get(cursor.kind, {})
    opener = name.removeprefix("end")
    if cursor.kind == "tag" and (name in ("elif", "else") or opener != name):
        name = opener if opener != name else "if"
    return describe_word(name, cursor.kind, table[name]) if name in table else None


def _name(analysis: Analysis, cursor: Cursor) -> str | None:
    name = cursor.word
    binding = analysis.bindings(cursor.tag.start).get(name)
    if binding is not None:
        return describe_binding(binding)
    if cursor.kind == "function" or name not in analysis.variables:
        word = words.FUNCTIONS.get(name)
        return describe_word(name, "function", word) if word is not None else None
    return describe_variable(analysis.variables[name])


def _attribute(analysis: Analysis, cursor: Cursor) -> str | None:
    base = base_before(cursor.before)
    if base is None:
        return None
    fields = analysis.shape(base, cursor.tag).fields or {}
    if cursor.word not in fields:
        return None
    shape = describe_shape(fields[cursor.word])
    source = analysis.text[base.start : base.end]
    return f"**`{cursor.word}`**{f' — {shape}' if shape else ''}\n\nAn attribute of `{source}`."

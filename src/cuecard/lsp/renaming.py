"""All places of a variable in a file, and another name for it."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..lint.known import BUILT_IN, OPERATOR_SLOTS, SECTIONS
from .analysis import Analysis
from .cursor import cursor_at
from .header import declaration_of, header_place
from .tags import tag_at

__all__ = ["Places", "RefusedError", "places_at", "rename", "renameable_at"]

_NAME = re.compile(r"[^\W\d_]\w*")
_WORDS = frozenset(
    ("and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "True", "False")
) | {"None", "loop", "self", "caller"}


class RefusedError(Exception):
    """A request that cannot be met, for a reason that is told to the user."""


class Places(NamedTuple):
    """The places of a variable.

    Attributes:
        name: the variable.
        start: where the asked one starts.
        end: where it ends.
        uses: where the template reads it.
        declaration: where the header declares it.
    """

    name: str
    start: int
    end: int
    uses: list[tuple[int, int]]
    declaration: tuple[int, int] | None


def places_at(analysis: Analysis, offset: int) -> Places | None:
    """The places of the variable at an offset; None when there is none.

    Names that the template itself binds are not variables, nor are uses that they hide.
    """
    asked = _asked(analysis, offset)
    if asked is None:
        return None
    name, start, end = asked
    document = analysis.document
    names = document.names if document is not None else None
    uses = []
    if names is not None:
        starts = [analysis.offset_in_body(use.node.at) for use in names.uses if use.name == name]
        uses = [(each, each + len(name)) for each in dict.fromkeys(starts)]
    declaration = declaration_of(analysis.text, analysis.header_end, name)
    if (start, end) not in uses and (start, end) != declaration:
        return None
    return Places(name, start, end, uses, declaration)


def _asked(analysis: Analysis, offset: int) -> tuple[str, int, int] | None:
    if offset < analysis.header_end:
        place = header_place(analysis.text, offset)
        return (place.word, place.start, place.end) if place is not None else None
    tag = tag_at(analysis.tags, offset)
    cursor = cursor_at(tag, offset) if tag is not None else None
    if cursor is None or cursor.kind != "variable" or not cursor.word:
        return None
    return cursor.word, cursor.start, cursor.end


def renameable_at(analysis: Analysis, offset: int) -> Places:
    """The places of the variable at an offset, which may be renamed.

    Raises:
        RefusedError: nothing there can be renamed.
    """
    document = analysis.document
    if document is None or document.failure is not None or document.header_error is not None:
        raise RefusedError("the file cannot be read as it stands: mend its errors first")
    places = places_at(analysis, offset)
    if places is None:
        raise RefusedError("only variables can be renamed, and this is none")
    source = _fixed_by(analysis, places)
    if source is not None:
        raise RefusedError(f"`{places.name}` is given by {source}, which calls it so")
    return places


def _fixed_by(analysis: Analysis, places: Places) -> str | None:
    """What gives a variable that the file does not name itself."""
    if places.declaration is not None:
        return None
    variable = analysis.variables.get(places.name)
    if variable is None:
        return None
    if variable.source == "slot":
        return "the task" if places.name in OPERATOR_SLOTS else None
    sources = {"section": "the folder's facts", "a declared slot": "the settings"}
    return sources.get(variable.source, variable.source)


def rename(analysis: Analysis, offset: int, name: str) -> list[tuple[int, int]]:
    """The ranges to write another name to.

    Raises:
        RefusedError: the variable or the name will not do.
    """
    places = renameable_at(analysis, offset)
    if not _NAME.fullmatch(name) or name in _WORDS:
        raise RefusedError(f"`{name}` is no name that a template can read")
    if name == places.name:
        return []
    document = analysis.document
    assert document is not None, "the places are those of a document"
    names = document.names
    if names is not None and name in names.bound:
        raise RefusedError(f"the template binds `{name}` itself, which would hide the variable")
    if (names is not None and name in names.variables) or name in analysis.variables:
        given = name in {**BUILT_IN, **SECTIONS, **OPERATOR_SLOTS}
        why = "is the name of a variable that is given already" if given else "is there already"
        raise RefusedError(f"`{name}` {why}")
    declared = [places.declaration] if places.declaration is not None else []
    return [*declared, *places.uses]

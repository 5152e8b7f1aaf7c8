"""Positions: between an editor's lines and code units, and offsets of characters.

Lines end where the protocol says: at LF, CR LF, or CR. Columns count the code units of the
encoding that was agreed on, UTF-16 by default.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Place", "Positions"]

_BREAK = re.compile(r"\r\n|\n|\r")
_WIDTHS: dict[str, Callable[[str], int]] = {
    "utf-8": lambda c: 1 if c < "\x80" else 2 if c < "\u0800" else 3 if c <= "\uffff" else 4,
    "utf-16": lambda c: 1 if c <= "\uffff" else 2,
    "utf-32": lambda c: 1,
}


class Place(NamedTuple):
    """A line and a column of it, both from 0, the column in code units."""

    line: int
    column: int


class Positions:
    """The lines of a text.

    Args:
        text: the text.
        encoding: `utf-8`, `utf-16` or `utf-32`: what columns count.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self._text = text
        self._width = _WIDTHS.get(encoding, _WIDTHS["utf-16"])
        self._plain = encoding == "utf-32" or text.isascii()
        self._starts = [0]
        self._ends: list[int] = []
        for found in _BREAK.finditer(text):
            self._ends.append(found.start())
            self._starts.append(found.end())
        self._ends.append(len(text))

    def offset(self, place: Place) -> int:
        """Offset of a place; one behind the end of its line or of the text is brought back.

        A place within a character is that of the character.
        """
        if place.line >= len(self._starts):
            return len(self._text)
        start, end = self._starts[place.line], self._ends[place.line]
        if self._plain:
            return min(start + place.column, end)
        column = 0
        for offset in range(start, end):
            column += self._width(self._text[offset])
            if column > place.column:
                return offset
        return end

    def place(self, offset: int) -> Place:
        """The place of an offset; one within a line break is that of the break."""
        offset = max(0, min(offset, len(self._text)))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        offset = min(offset, self._ends[line])
        if self._plain:
            return Place(line, offset - start)
        return Place(line, sum(map(self._width, self._text[start:offset])))

    def line_of(self, offset: int) -> tuple[int, int]:
        """Where the line of an offset starts and ends, without its line break."""
        line = bisect_right(self._starts, offset) - 1
        return self._starts[line], self._ends[line]

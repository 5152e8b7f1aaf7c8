"""A rewritten text, and the way back from a place in it to the source."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from ..source import Source

__all__ = ["Rewritten"]


class Rewritten:
    """A rewritten text and its map back to the source."""

    def __init__(self, source: Source, edits: list[tuple[int, int, str]]) -> None:
        self.source = source
        self._starts = [start for start, _, _ in edits]
        self._shifts = [0]
        for start, end, text in edits:
            self._shifts.append(self._shifts[-1] + len(text) - (end - start))
        pieces: list[str] = []
        self._new: list[int] = [0]
        self._old: list[int] = [0]
        self._inserted: list[bool] = [False]
        position = length = 0
        for start, end, text in edits:
            pieces += (source.text[position:start], text)
            length += start - position
            self._mark(length, start, True)
            length += len(text)
            self._mark(length, end, False)
            position = end
        pieces.append(source.text[position:])
        self.text = "".join(pieces)
        self._as_source = source if not edits else Source(self.text)

    def _mark(self, new: int, old: int, inserted: bool) -> None:
        self._new.append(new)
        self._old.append(old)
        self._inserted.append(inserted)

    def between(self, start: int, end: int) -> str:
        """The rewritten text of a range of the source whose ends no edit touches."""
        return self.text[self._moved(start) : self._moved(end)]

    def _moved(self, offset: int) -> int:
        return offset + self._shifts[bisect_left(self._starts, offset)]

    def offset(self, byte_offset: int) -> int:
        """Character offset in the source of a byte offset in the rewritten text."""
        offset = self._as_source.offset_of_byte(byte_offset)
        index = bisect_right(self._new, offset) - 1
        if self._inserted[index]:
            return self._old[index]
        return self._old[index] + offset - self._new[index]

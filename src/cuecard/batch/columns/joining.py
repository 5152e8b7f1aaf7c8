"""Joining: from the texts of the segments to the prompts, in pieces of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...scanner import WHITE_SPACE
from ..arrow import TEXT, Array, np, pa, pc
from .values import Texts

__all__ = ["Joining"]

_EMPTY = pa.scalar("", TEXT)
_FEW = 4
"""Texts are glued to those beside them when there are so many times more rows."""


class Joining:
    """The texts of all segments for the rows of a part.

    Args:
        pieces: the texts of each segment.
        rows: how many rows there are.
        trims: whether white space at the end becomes one line break.
    """

    def __init__(self, pieces: Sequence[str | Texts], rows: int, *, trims: bool) -> None:
        self.rows = rows
        self._pieces = _glued(list(pieces), rows)
        self._trims = False
        if trims:
            ended = _ended(self._pieces)
            self._trims = ended is None
            self._pieces = self._pieces if ended is None else ended

    def bytes(self) -> Any:
        """The length of each row in UTF-8."""
        return _sum(self._pieces, self.rows, pc.binary_length)

    def prompts(self, start: int, stop: int) -> Array:
        """The joined texts of some rows."""
        parts = [_part(piece, start, stop) for piece in self._pieces]
        if not any(isinstance(part, pa.Array) for part in parts):
            text = "".join(piece for piece in self._pieces if isinstance(piece, str))
            joined = pa.repeat(pa.scalar(text, TEXT), stop - start)
        elif len(parts) == 1:
            joined = _without_nulls(parts[0])
        else:
            joined = _join(parts)
        if not self._trims:
            return joined
        return _join([pc.utf8_rtrim(joined, characters=WHITE_SPACE), pa.scalar("\n", TEXT)])


def characters(pieces: Sequence[str | Texts], rows: int) -> Any:
    """How many characters the texts of each row have together."""
    return _sum(pieces, rows, pc.utf8_length)


def _sum(pieces: Sequence[str | Texts], rows: int, measure: Any) -> Any:
    total = np.zeros(rows, np.int64)
    for piece in pieces:
        if isinstance(piece, str):
            total += measure(pa.scalar(piece, TEXT)).as_py()
            continue
        lengths = pc.fill_null(measure(piece.entries), 0).to_numpy(zero_copy_only=False)
        total += lengths if piece.index is None else lengths[piece.index]
    return total


def _join(parts: list[Any]) -> Array:
    # Arrow can replace nulls while it joins, but takes twice as long then.
    return pc.binary_join_element_wise(*map(_without_nulls, parts), _EMPTY)


def _without_nulls(part: Any) -> Any:
    if isinstance(part, pa.Array) and part.null_count:
        return pc.fill_null(part, _EMPTY)
    return part


def _part(piece: str | Texts, start: int, stop: int) -> Any:
    if isinstance(piece, str):
        return pa.scalar(piece, TEXT)
    if piece.index is None:
        return piece.entries.slice(start, stop - start)
    return piece.entries.take(pa.array(piece.index[start:stop]))


# gluing -------------------------------------------------------------------------------------------


def _glued(pieces: list[str | Texts], rows: int) -> list[str | Texts]:
    """Texts for all rows joined to each other, and to few entries beside them."""
    glued: list[str | Texts] = []
    for piece in pieces:
        if piece == "":
            continue
        last = glued[-1] if glued else None
        both = None if last is None else _both(last, piece, rows)
        if both is None:
            glued.append(piece)
        else:
            glued[-1] = both
    return glued


def _both(left: str | Texts, right: str | Texts, rows: int) -> str | Texts | None:
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    if isinstance(left, Texts) and isinstance(right, Texts):
        if left.index is None or left.index is not right.index:
            return None
        return Texts(_join([left.entries, right.entries]), left.index)
    if isinstance(left, str):
        assert isinstance(right, Texts)
        if _is_few(right, rows):
            return Texts(_join([pa.scalar(left, TEXT), right.entries]), right.index)
    elif isinstance(right, str) and _is_few(left, rows):
        return Texts(_join([left.entries, pa.scalar(right, TEXT)]), left.index)
    return None


def _is_few(texts: Texts, rows: int) -> bool:
    return texts.index is not None and len(texts.entries) * _FEW <= rows


def _ended(pieces: list[str | Texts]) -> list[str | Texts] | None:
    """The pieces with their end trimmed, when that touches no more than the last one."""
    if not pieces:
        return ["\n"]
    *others, last = pieces
    if isinstance(last, str):
        text = last.rstrip(WHITE_SPACE)
        return [*others, f"{text}\n"] if text else _ended(others)
    trimmed = pc.utf8_rtrim(last.entries, characters=WHITE_SPACE)
    shortest = pc.min(pc.binary_length(trimmed)).as_py()
    if trimmed.null_count or not shortest:
        return None
    return [*others, Texts(trimmed, last.index), "\n"]


def cuts(lengths: Any, most: int) -> Iterator[tuple[int, int]]:
    """Where to cut rows of these lengths, so that each piece is about so long at most."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(ends):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        yield start, stop
        start = stop

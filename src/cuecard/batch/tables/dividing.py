"""Dividing: into which parts the rows of a file go.

It depends on the input alone, and not on the machine: what one has begun another can finish.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from .parts import PART_BYTES, PART_ROWS, Part

__all__ = ["Piece", "divided", "rows_of_parts"]

_SHARES = 8
"""Into about so many parts an input of few rows is divided."""

_LEAST_ROWS = 1 << 10
"""Fewer rows are not worth a part of their own."""


class Piece(NamedTuple):
    """A range of a file that can be read by itself: a row group, or some megabytes of lines.

    Attributes:
        start: its first row in Parquet, its first byte in JSON Lines.
        stop: the one after its last.
        rows: how many it has.
        size: bytes, before compression.
    """

    start: int
    stop: int
    rows: int
    size: int


def rows_of_parts(rows: int, most: int = PART_ROWS) -> int:
    """The most rows of a part.

    An input of few rows is divided too, for several processors. The number is a power of two,
    as that of the rows of most row groups.

    Args:
        rows: those of all files.
        most: the most rows that a part may have in any case.
    """
    share = 1 << (max(rows - 1, 0) // _SHARES).bit_length()
    return min(most, max(share, _LEAST_ROWS))


def divided(whole: Part, pieces: Sequence[Piece], rows: int) -> list[Part]:
    """The parts of a file.

    Args:
        whole: the file as one part.
        pieces: its pieces, in order; none for a file that cannot be divided.
        rows: the most rows of a part.
    """
    if whole.format == "parquet":
        ranges = _ranges(pieces, rows)
        parts = [
            replace(whole, start=start, stop=stop, first_row=start, rows=length, weight=length)
            for start, stop in ranges
            for length in [stop - start]
        ]
    elif whole.format == "jsonl":
        parts = list(_runs(whole, pieces, rows))
    else:
        parts = [whole]
    return [replace(part, index=index, of=len(parts)) for index, part in enumerate(parts)]


def _ranges(groups: Iterable[Piece], most: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows: small row groups together, large ones divided evenly."""
    start = stop = size = 0
    for group in groups:
        if stop > start and (stop - start + group.rows > most or size + group.size > PART_BYTES):
            yield start, stop
            start, size = stop, 0
        pieces = max(-(-group.rows // most), -(-group.size // PART_BYTES), 1)
        pieces = min(pieces, max(group.rows, 1))
        if pieces > 1:
            bounds = [stop + group.rows * piece // pieces for piece in range(pieces + 1)]
            yield from pairwise(bounds)
            start = stop = bounds[-1]
            continue
        stop, size = stop + group.rows, size + group.size
    if stop > start:
        yield start, stop


def _runs(whole: Part, chunks: Iterable[Piece], most: int) -> Iterator[Part]:
    """Runs of lines, each of as many chunks as it takes."""
    start = stop = first_row = rows = 0
    for chunk in chunks:
        rows, stop = rows + chunk.rows, chunk.stop
        if rows >= most or stop - start >= PART_BYTES:
            yield _run(whole, start, stop, first_row, rows)
            start, first_row, rows = stop, first_row + rows, 0
    if rows:
        yield _run(whole, start, stop, first_row, rows)


def _run(whole: Part, start: int, stop: int, first_row: int, rows: int) -> Part:
    return replace(
        whole, start=start, stop=stop, first_row=first_row, rows=rows, weight=stop - start
    )

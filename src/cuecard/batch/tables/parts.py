"""Parts: the pieces of the input that are rendered one by one, each into a file of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from .formats import Format, stem_of

__all__ = ["PART_BYTES", "PART_ROWS", "Fault", "Part", "PartError", "limited", "named"]

PART_ROWS = 1 << 17
"""The most rows of a part, where a file can be divided; as many as a row group has."""

PART_BYTES = 128 << 20
"""About the most bytes of a part before compression, where a file can be divided."""


@dataclass(frozen=True)
class Part:
    """A range of one input file.

    Attributes:
        file: the path or URL of the file.
        name: the file's name below the input.
        format: the file's format.
        start: where the part begins: a row of Parquet, a byte of JSON Lines, 0 for CSV.
        stop: where it ends; None for the end of the file.
        first_row: rows of the file before it.
        rows: its rows; None when that is known only when they are read.
        weight: how much work it is, in rows or in bytes, the same for all of one format.
        digest: a hash of the file's contents.
        index: its place among the parts of the file.
        of: how many parts the file has.
        output: its name in the output.
    """

    file: str
    name: str
    format: Format
    start: int = 0
    stop: int | None = None
    first_row: int = 0
    rows: int | None = None
    weight: int = 0
    digest: str = ""
    index: int = 0
    of: int = 1
    output: str = ""

    @property
    def made_of(self) -> list[Any]:
        """What decides the rows of the part, and how they are told."""
        return [self.name, self.digest, self.start, self.stop, self.first_row, self.rows]

    def as_dict(self) -> dict[str, Any]:
        """The part as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Fault:
    """A file or part that could not be rendered, and why.

    Attributes:
        name: the name of the file below the input.
        code: key of `cuecard.errors.CODES`.
        message: one sentence, which holds no value.
        hint: the remedy, when known.
    """

    name: str
    code: str
    message: str
    hint: str | None = None


class PartError(Exception):
    """A part cannot be read or written.

    Attributes:
        code: key of `cuecard.errors.CODES`.
        message: one sentence, which holds no value.
        hint: the remedy, when known.
    """

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


def named(parts: Iterable[Part], ending: str) -> list[Part]:
    """Parts with names in the output: their file's, numbered when it has several.

    Args:
        parts: the parts of all files, those of one file together.
        ending: what each name ends in, such as `.parquet`.
    """
    taken: set[str] = set()
    given = []
    for part in parts:
        stem = stem_of(part.name)
        if part.of > 1:
            stem += f".part-{part.index:05d}"
        output = stem + ending
        if output in taken:
            # `a.csv` and `a.CSV`, or `a.jsonl` and `a.ndjson`.
            output = f"{part.name}.part-{part.index:05d}{ending}"
        taken.add(output)
        given.append(replace(part, output=output))
    return given


def limited(parts: Sequence[Part], limit: int | None) -> list[Part]:
    """The parts that hold the first rows of all; the last of them is cut.

    Args:
        parts: parts whose rows are known.
        limit: how many rows; None for all.
    """
    if limit is None:
        return list(parts)
    kept = []
    for part in parts:
        if limit <= 0:
            break
        assert part.rows is not None
        if part.rows > limit:
            part = replace(part, rows=limit, weight=limit)
        limit -= part.rows or 0
        kept.append(part)
    return kept

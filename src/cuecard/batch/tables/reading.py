"""Reading a part: its rows as batches, with what is wrong with single rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from ...errors import PromptError
from ..arrow import pa
from .lines import Table, chunks_of, table_of
from .parts import Part, PartError
from .places import open_file
from .schemas import fitted
from .sheets import tables_of

__all__ = ["read_part"]

_BATCH_BYTES = 16 << 20
_BATCH_ROWS = 1 << 15


def read_part(part: Part, schema: Any) -> Iterator[Table]:
    """The rows of a part, in order, a batch at a time.

    Args:
        part: the part.
        schema: the columns of its file; their types may be wider than the file's.

    Raises:
        PartError: the file cannot be read (P801), is damaged (P823), or its values do not fit
            (P822).
    """
    try:
        with open_file(part.file) as file:
            yield from _READERS[part.format](file, part, schema)
    except PromptError as error:
        raise PartError(error.code, error.message, error.hint) from error
    except (pa.ArrowException, OSError) as error:
        raise PartError("P823", "the file is damaged") from error


def _read_parquet(file: IO[bytes], part: Part, schema: Any) -> Iterator[Table]:
    from pyarrow import parquet  # type: ignore[import-untyped]

    source = parquet.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)
    facts = source.metadata
    left = part.rows or 0
    groups, skipped = _groups(facts, part.start, left)
    size = sum(facts.row_group(group).total_byte_size for group in groups[:1])
    rows = facts.row_group(groups[0]).num_rows if groups else 1
    step = max(1, min(_BATCH_ROWS, _BATCH_BYTES * rows // max(size, 1)))
    for batch in source.iter_batches(batch_size=step, row_groups=groups, use_threads=False):
        if left <= 0:
            break
        if skipped >= batch.num_rows:
            skipped -= batch.num_rows
            continue
        batch = batch.slice(skipped, left)
        skipped = 0
        left -= batch.num_rows
        yield Table(fitted(batch, schema), {})
    if left > 0:
        raise PartError("P823", "the file has fewer rows than it says")


def _groups(facts: Any, start: int, rows: int) -> tuple[list[int], int]:
    """The row groups of a number of rows, and how many of the first one's come before these."""
    groups: list[int] = []
    skipped = first = 0
    for index in range(facts.num_row_groups):
        stop = first + facts.row_group(index).num_rows
        if first < start + rows and stop > start:
            skipped = skipped if groups else start - first
            groups.append(index)
        first = stop
    return groups, skipped


def _read_lines(file: IO[bytes], part: Part, schema: Any) -> Iterator[Table]:
    left = part.rows or 0
    for chunk in chunks_of(file, part.start, part.stop):
        for first in range(0, len(chunk.lines), _BATCH_ROWS):
            lines = chunk.lines[first : min(first + _BATCH_ROWS, first + left)]
            if lines:
                yield table_of(lines, schema)
            left -= len(lines)


def _read_csv(file: IO[bytes], part: Part, schema: Any) -> Iterator[Table]:
    yield from tables_of(file, schema.names, part.rows)


_READERS = {"parquet": _read_parquet, "jsonl": _read_lines, "csv": _read_csv}

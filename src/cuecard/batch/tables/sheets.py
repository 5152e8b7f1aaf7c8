"""CSV: columns of text, each cell as it is written; a bad line is one bad row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from ..arrow import pa, pc
from .lines import Row, Table
from .parts import PartError

__all__ = ["header_of", "tables_of"]

_BLOCK = 1 << 20
_LARGEST_BLOCK = 1 << 30


def header_of(file: IO[bytes]) -> tuple[list[str], bool]:
    """The names of the columns, and whether there is any row.

    Raises:
        PartError: the file is no CSV (P823), or its header is not UTF-8 (P802).
    """
    uneven: list[tuple[int, Row]] = []
    reader = _reader(file, None, uneven, _BLOCK)
    if reader is None:
        return [], False
    try:
        names = list(reader.schema.names)
    except UnicodeDecodeError:
        raise PartError("P802", "the header is not UTF-8") from None
    return names, _has_rows(reader) or bool(uneven)


def _has_rows(reader: Any) -> bool:
    try:
        return any(batch.num_rows for batch in reader)
    except pa.ArrowInvalid:
        return True  # whatever is wrong with them is found when they are read


def tables_of(file: IO[bytes], names: list[str], limit: int | None = None) -> Iterator[Table]:
    """The rows, some thousand at a time.

    Args:
        file: the file.
        names: the names of the columns.
        limit: the most rows to give.

    Raises:
        PartError: the file is no CSV (P823).
    """
    block = _BLOCK
    given = 0
    while True:
        try:
            for table in _tables(file, names, block, given):
                if limit is not None and given + len(table.batch) > limit:
                    yield _cut(table, limit - given)
                    return
                given += len(table.batch)
                yield table
            return
        except _TooSmallError:
            # A row is read as a piece: the next attempt passes over what was given already.
            block *= 8
            if block > _LARGEST_BLOCK:
                raise PartError(
                    "P823", "a row of more than 1 GiB, or a quote without end"
                ) from None


class _TooSmallError(Exception):
    """A row that is longer than a block."""


def _cut(table: Table, rows: int) -> Table:
    faults = {row: fault for row, fault in table.faults.items() if row < rows}
    return Table(table.batch.slice(0, rows), faults)


def _tables(file: IO[bytes], names: list[str], block: int, skipped: int) -> Iterator[Table]:
    """The rows after those that are skipped."""
    uneven: list[tuple[int, Row]] = []
    reader = _reader(file, names, uneven, block)
    row = 0
    while True:
        try:
            batch = next(reader, None)
        except pa.ArrowInvalid as error:
            raise _read_error(error) from None
        table = _with_uneven(batch, names, row, uneven)
        row += len(table.batch)
        if row > skipped:
            fresh = min(len(table.batch), row - skipped)
            yield _tail(table, len(table.batch) - fresh)
        if batch is None:
            return


def _tail(table: Table, first: int) -> Table:
    faults = {row - first: fault for row, fault in table.faults.items() if row >= first}
    return Table(table.batch.slice(first), faults)


def _read_error(error: Exception) -> Exception:
    # Arrow's words may hold a part of the data; only these are looked for.
    if "straddl" in str(error):
        return _TooSmallError()
    return PartError("P823", "the file is no CSV, or ends within a quoted cell")


def _reader(
    file: IO[bytes], names: list[str] | None, uneven: list[tuple[int, Row]], block: int
) -> Any:
    from pyarrow import csv  # type: ignore[import-untyped]

    def note(row: Any) -> str:
        # The header is row 1.
        message = f"the line has {row.actual_columns:,} cells, the header {row.expected_columns:,}"
        uneven.append((row.number - 2, ("P827", message)))
        return "skip"

    file.seek(0)
    while True:
        try:
            return csv.open_csv(
                pa.PythonFile(file, mode="r"),
                read_options=csv.ReadOptions(use_threads=False, block_size=block),
                parse_options=csv.ParseOptions(newlines_in_values=True, invalid_row_handler=note),
                convert_options=csv.ConvertOptions(
                    column_types=None if names is None else dict.fromkeys(names, pa.binary()),
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    null_values=[""],
                ),
            )
        except UnicodeDecodeError:
            raise PartError("P802", "the header is not UTF-8") from None
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                return None
            found = _read_error(error)
            if not isinstance(found, _TooSmallError) or names is not None:
                raise found from None
            block *= 8
            if block > _LARGEST_BLOCK:
                raise PartError("P823", "the file is no CSV") from None
            file.seek(0)


def _with_uneven(batch: Any, names: list[str], first: int, uneven: list[tuple[int, Row]]) -> Table:
    """A batch as text, and a row of nulls at the place of each line that was passed over."""
    faults: dict[int, Row] = {}
    columns = [] if batch is None else [_text(column, faults) for column in batch.columns]
    rows = 0 if batch is None else batch.num_rows
    index: list[int | None] = []
    good = 0
    late: dict[int, Row] = {}
    while good < rows or (batch is None and uneven):
        if uneven and uneven[0][0] == first + len(index):
            late[len(index)] = uneven.pop(0)[1]
            index.append(None)
        elif good < rows:
            # All rows up to the next bad line at once.
            until = uneven[0][0] - first - len(index) if uneven else rows - good
            count = max(1, min(rows - good, until))
            index.extend(range(good, good + count))
            good += count
        else:
            late[len(index)] = uneven.pop(0)[1]
            index.append(None)
    schema = pa.schema([pa.field(name, pa.large_string()) for name in names])
    if batch is None:
        nulls = [pa.nulls(len(index), pa.large_string()) for _ in names]
        return Table(pa.RecordBatch.from_arrays(nulls, schema=schema), late)
    if late:
        take = pa.array(index, pa.int64())
        columns = [pc.take(column, take) for column in columns]
        places = {row: place for place, row in enumerate(index) if row is not None}
        faults = {places[row]: fault for row, fault in faults.items()} | late
    return Table(pa.RecordBatch.from_arrays(columns, schema=schema), faults)


def _text(column: Any, faults: dict[int, Row]) -> Any:
    """A column as text; a cell that is not UTF-8 is a fault, and keeps what can be read of it."""
    try:
        return column.cast(pa.large_string())
    except pa.ArrowInvalid:
        pass
    texts = []
    for row, cell in enumerate(column.to_pylist()):
        try:
            texts.append(None if cell is None else cell.decode())
        except UnicodeDecodeError:
            faults.setdefault(row, ("P802", "a cell of the row is not UTF-8"))
            texts.append(cell.decode(errors="replace"))
    return pa.array(texts, pa.large_string())

"""JSON Lines: chunks of whole lines, and tables of them in which a bad line is one bad row."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from ..arrow import pa
from .parts import PartError
from .schemas import json_types, unified

__all__ = ["Chunk", "Table", "chunks_of", "schema_of", "table_of"]

_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"

Row = tuple[str, str]
"""Code and message of a bad row."""


class Chunk(NamedTuple):
    """Whole lines of a file that are not blank, and the byte after the last of them."""

    lines: list[bytes]
    stop: int


class Table(NamedTuple):
    """A batch with a row for each line, and what is wrong with some of them."""

    batch: Any
    faults: dict[int, Row]


def chunks_of(file: IO[bytes], start: int = 0, stop: int | None = None) -> Iterator[Chunk]:
    """The lines of a range of a file, some megabytes at a time.

    Args:
        file: the file.
        start: the byte that the first line begins at.
        stop: the byte after the last line; None for the end of the file.
    """
    file.seek(start)
    head = file.read(len(_BOM)) if start == 0 else b""
    at = start + len(head)
    rest = [head.removeprefix(_BOM)]
    while True:
        size = _CHUNK if stop is None else min(_CHUNK, stop - at)
        data = file.read(size) if size > 0 else b""
        at += len(data)
        if not data:
            break
        # A line of many megabytes is searched once, and not again with each piece of it.
        lines, newline, tail = data.rpartition(b"\n")
        if newline:
            yield _chunk(b"".join([*rest, lines]), at - len(tail))
            rest = []
        rest.append(tail)
    if any(rest):
        yield _chunk(b"".join(rest), at)


def _chunk(data: bytes, stop: int) -> Chunk:
    return Chunk([line for line in data.split(b"\n") if line and not line.isspace()], stop)


def schema_of(lines: list[bytes]) -> Any:
    """The columns of lines, None for none; lines that fit no others are passed over."""
    schema: Any = None
    for found in _schemas(lines):
        try:
            schema = found if schema is None else unified(schema, found)
        except PartError:
            continue
    return schema


def _schemas(lines: list[bytes]) -> Iterator[Any]:
    table = _parse(lines, None)
    if table is not None:
        yield json_types(table.schema)
    elif len(lines) > 1:
        half = len(lines) // 2
        yield from _schemas(lines[:half])
        yield from _schemas(lines[half:])


def table_of(lines: list[bytes], schema: Any) -> Table:
    """The rows of lines, read as the schema says; bad ones are null."""
    faults: dict[int, Row] = {}
    good = [table for table in _tables(lines, schema, 0, faults) if table.num_rows]
    if len(good) == 1 and not faults:
        return Table(good[0], faults)
    read = pa.Table.from_batches(good, schema)
    places = iter(range(len(lines)))
    index = [None if row in faults else next(places) for row in range(len(lines))]
    return Table(_one_batch(read.take(pa.array(index, pa.int64())), schema), faults)


def _tables(lines: list[bytes], schema: Any, first: int, faults: dict[int, Row]) -> Iterator[Any]:
    """Batches of the good lines, in order; a piece that cannot be read is halved."""
    table = _parse(lines, schema)
    if table is not None:
        yield _one_batch(table, schema)
    elif len(lines) == 1:
        faults[first] = _fault(lines[0])
    elif lines:
        half = len(lines) // 2
        yield from _tables(lines[:half], schema, first, faults)
        yield from _tables(lines[half:], schema, first + half, faults)


def _one_batch(table: Any, schema: Any) -> Any:
    columns = [_one_array(table.column(name)) for name in schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _one_array(column: Any) -> Any:
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)


def _parse(lines: list[bytes], schema: Any) -> Any:
    """The table of lines, None when one of them is no object that fits."""
    from pyarrow import json  # type: ignore[import-untyped]

    data = b"\n".join(lines)
    options = json.ParseOptions(
        explicit_schema=schema,
        unexpected_field_behavior="infer" if schema is None else "ignore",
    )
    try:
        data.decode()
        table = json.read_json(
            io.BytesIO(data),
            read_options=json.ReadOptions(use_threads=False, block_size=len(data) + 1),
            parse_options=options,
        )
    except (UnicodeDecodeError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    # Two objects in one line would be two rows.
    if table.num_rows != len(lines) or len(set(table.schema.names)) < len(table.schema.names):
        return None
    return table


def _fault(line: bytes) -> Row:
    """Why a line is no row. What Arrow says of it may hold a value, and is not told."""
    import json

    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError:
        return "P802", "the line is not UTF-8"
    except (ValueError, RecursionError):
        return "P806", "the line is no JSON"
    if not isinstance(value, dict):
        return "P806", "the line is no JSON object"
    return "P822", "a value is of another type than its column"

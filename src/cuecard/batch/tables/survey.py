"""The survey: what the input holds, before any of its rows is rendered.

Of Parquet it reads the footers, of CSV the headers, of JSON Lines every line, since nothing
else tells their columns. A file that cannot be read, or does not fit the others, is a fault;
the rest is rendered all the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import IO, Any

from ...errors import PromptError
from ..arrow import pa
from .formats import Format, format_of
from .lines import chunks_of, schema_of
from .parts import PART_BYTES, PART_ROWS, Fault, Part, PartError, limited
from .places import Found, absolute, find_files, is_url, open_file
from .schemas import check_names, json_types, plain, unified
from .sheets import header_of, tables_of

__all__ = ["Survey", "survey"]

_THREADS = 8
_ENDS = 64 << 10


@dataclass(frozen=True)
class Survey:
    """What there is to render.

    Attributes:
        format: the format of the files.
        schema: the columns that they have in common, with the types that hold all of them.
        schemas: the columns of each file, by its name below the input.
        parts: the parts of all files, in order.
        faults: the files that cannot be rendered.
    """

    format: Format
    schema: Any
    schemas: dict[str, Any]
    parts: list[Part]
    faults: list[Fault]


@dataclass(frozen=True)
class _File:
    schema: Any
    parts: list[Part]


def survey(place: str, *, limit: int | None = None, part_rows: int = PART_ROWS) -> Survey:
    """Look at the files of an input.

    Args:
        place: a file, a folder or a glob, local or a URL.
        limit: how many rows are wanted, the first ones; None for all.
        part_rows: the most rows of a part, where a file can be divided.

    Raises:
        PromptError: there is no file (P801) or no row (P820), a file's format is unknown
            (P821), or there are files of several formats (P822).
    """
    files = find_files(place)
    kind = _common_format(files, place)
    with ThreadPoolExecutor(_THREADS) as pool:
        seen = list(pool.map(lambda file: _look(file, kind, part_rows), files))
    schema: Any = None
    schemas: dict[str, Any] = {}
    parts: list[Part] = []
    faults: list[Fault] = []
    for file, found in zip(files, seen, strict=True):
        try:
            if isinstance(found, PartError):
                raise found
            if found.schema is None:
                continue
            schema = found.schema if schema is None else unified(schema, found.schema)
        except PartError as error:
            faults.append(Fault(file.name, error.code, error.message, error.hint))
            continue
        schemas[file.name] = found.schema
        parts.extend(found.parts)
    if limit is not None:
        parts = limited([_counted(part, limit) for part in parts], limit)
    if not faults and not any(part.rows is None or part.rows for part in parts):
        raise PromptError("the input has no rows", code="P820", template=place)
    if schema is not None and not schema.names:
        raise PromptError("the input has no columns", code="P820", template=place)
    return Survey(kind, schema, schemas, parts, faults)


def _common_format(files: Sequence[Found], place: str) -> Format:
    first = format_of(files[0].path)
    for file in files:
        if format_of(file.path) != first:
            raise PromptError(
                f"the input has files of several formats: `{files[0].name}` and `{file.name}`",
                code="P822",
                template=place,
                hint="name those of one format by a glob, such as `tasks/*.parquet`",
            )
    return first


def _look(file: Found, kind: Format, part_rows: int) -> _File | PartError:
    whole = Part(absolute(file.path), file.name, kind)
    try:
        with open_file(file.path) as data:
            found = _LOOKS[kind](data, whole, part_rows)
            if found.schema is not None:
                check_names(found.schema)
            digest = _ends_digest(data, file) if is_url(file.path) else _digest(data)
    except PartError as error:
        return error
    except PromptError as error:
        return PartError(error.code, error.message, error.hint)
    except OSError as error:
        return PartError("P801", f"cannot read the file: {error.strerror or type(error).__name__}")
    parts = [
        replace(part, digest=digest, index=index, of=len(found.parts))
        for index, part in enumerate(found.parts)
    ]
    return _File(found.schema, parts)


def _digest(data: IO[bytes]) -> str:
    data.seek(0)
    return hashlib.file_digest(data, "sha256").hexdigest()  # type: ignore[arg-type]


def _ends_digest(data: IO[bytes], file: Found) -> str:
    """A hash of the size and both ends: to read all of a distant file takes too long."""
    digest = hashlib.sha256(str(file.size).encode())
    for start in (0, max(0, file.size - _ENDS)):
        data.seek(start)
        digest.update(data.read(_ENDS))
    return digest.hexdigest()


# Parquet -----------------------------------------------------------------------------------


def _look_at_parquet(data: IO[bytes], whole: Part, part_rows: int) -> _File:
    from pyarrow import parquet  # type: ignore[import-untyped]

    try:
        file = parquet.ParquetFile(data)
        schema, facts = file.schema_arrow, file.metadata
        parts = [
            replace(whole, start=start, stop=stop, first_row=start, rows=rows, weight=rows)
            for start, stop in _ranges(facts, part_rows)
            for rows in [stop - start]
        ]
    except (pa.ArrowException, OSError) as error:
        raise PartError("P823", "the file is no Parquet, or is damaged") from error
    return _File(plain(schema), parts)


def _ranges(facts: Any, part_rows: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows: small row groups together, large ones divided evenly."""
    start = stop = size = 0
    for index in range(facts.num_row_groups):
        group = facts.row_group(index)
        if stop > start and (
            stop - start + group.num_rows > part_rows or size + group.total_byte_size > PART_BYTES
        ):
            yield start, stop
            start, size = stop, 0
        pieces = max(-(-group.num_rows // part_rows), -(-group.total_byte_size // PART_BYTES), 1)
        pieces = min(pieces, max(group.num_rows, 1))
        if pieces > 1:
            bounds = [stop + group.num_rows * piece // pieces for piece in range(pieces + 1)]
            yield from pairwise(bounds)
            start = stop = bounds[-1]
            continue
        stop, size = stop + group.num_rows, size + group.total_byte_size
    if stop > start:
        yield start, stop


# JSON Lines ---------------------------------------------------------------------------------


def _look_at_lines(data: IO[bytes], whole: Part, part_rows: int) -> _File:
    schema: Any = None
    parts: list[Part] = []
    start = stop = first_row = rows = 0
    for chunk in chunks_of(data):
        found = schema_of(chunk.lines)
        if found is not None:
            schema = _widened(schema, found)
        rows += len(chunk.lines)
        stop = chunk.stop
        if rows >= part_rows or stop - start >= PART_BYTES:
            parts.append(_range(whole, start, stop, first_row, rows))
            start, first_row, rows = stop, first_row + rows, 0
    if rows:
        parts.append(_range(whole, start, stop, first_row, rows))
    if schema is None and parts:
        schema = pa.schema([])
    return _File(None if schema is None else json_types(schema), parts)


def _widened(schema: Any, found: Any) -> Any:
    """The columns so far and those of some lines more."""
    try:
        return found if schema is None else unified(schema, found)
    except PartError:
        return schema  # the rows that do not fit are told one by one when they are read


def _range(whole: Part, start: int, stop: int, first_row: int, rows: int) -> Part:
    return replace(
        whole, start=start, stop=stop, first_row=first_row, rows=rows, weight=stop - start
    )


# CSV ---------------------------------------------------------------------------------------


def _look_at_csv(data: IO[bytes], whole: Part, part_rows: int) -> _File:
    names, has_rows = header_of(data)
    if not names:
        return _File(None, [])
    schema = pa.schema([pa.field(name, pa.large_string()) for name in names])
    data.seek(0, 2)
    rows = None if has_rows else 0
    return _File(schema, [replace(whole, rows=rows, weight=data.tell())])


def _counted(part: Part, limit: int) -> Part:
    """A part whose rows are known: of CSV they are counted, up to the limit."""
    if part.rows is not None:
        return part
    rows = 0
    try:
        with open_file(part.file) as data:
            names, _ = header_of(data)
            for table in tables_of(data, names, limit):
                rows += len(table.batch)
    except (PartError, PromptError):
        pass  # it is told when the part is rendered
    return replace(part, rows=rows, weight=rows)


_LOOKS = {"parquet": _look_at_parquet, "jsonl": _look_at_lines, "csv": _look_at_csv}

"""The survey: what the input holds, before any of its rows is rendered.

Of Parquet it reads the footers, of CSV the headers, of JSON Lines every line, since nothing
else tells their columns. A file that cannot be read, or does not fit the others, is a fault;
the rest is rendered all the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import IO, Any

from ...errors import PromptError
from ..arrow import pa
from .dividing import Piece, divided, rows_of_parts
from .formats import Format, format_of
from .lines import chunks_of, schema_of
from .parts import PART_ROWS, Fault, Part, PartError, limited
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
    """A file that was looked at; one that cannot be divided has no pieces."""

    schema: Any
    whole: Part
    pieces: Sequence[Piece] = ()

    @property
    def rows(self) -> int:
        return sum(piece.rows for piece in self.pieces)


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
        seen = list(pool.map(lambda file: _look(file, kind), files))
    most = rows_of_parts(sum(each.rows for each in seen if isinstance(each, _File)), part_rows)
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
        parts.extend(divided(found.whole, found.pieces, most))
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


def _look(file: Found, kind: Format) -> _File | PartError:
    whole = Part(absolute(file.path), file.name, kind)
    try:
        with open_file(file.path) as data:
            found = _LOOKS[kind](data, whole)
            if found.schema is not None:
                check_names(found.schema)
            digest = _ends_digest(data, file) if is_url(file.path) else _digest(data)
    except PartError as error:
        return error
    except PromptError as error:
        return PartError(error.code, error.message, error.hint)
    except OSError as error:
        return PartError("P801", f"cannot read the file: {error.strerror or type(error).__name__}")
    return replace(found, whole=replace(found.whole, digest=digest))


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


def _look_at_parquet(data: IO[bytes], whole: Part) -> _File:
    from pyarrow import parquet  # type: ignore[import-untyped]

    try:
        file = parquet.ParquetFile(data)
        schema, facts = file.schema_arrow, file.metadata
        pieces, start = [], 0
        for group in map(facts.row_group, range(facts.num_row_groups)):
            stop = start + group.num_rows
            pieces.append(Piece(start, stop, group.num_rows, group.total_byte_size))
            start = stop
    except (pa.ArrowException, OSError) as error:
        raise PartError("P823", "the file is no Parquet, or is damaged") from error
    return _File(plain(schema), whole, pieces)


# JSON Lines ---------------------------------------------------------------------------------


def _look_at_lines(data: IO[bytes], whole: Part) -> _File:
    schema: Any = None
    pieces, start = [], 0
    for chunk in chunks_of(data):
        found = schema_of(chunk.lines)
        if found is not None:
            schema = _widened(schema, found)
        pieces.append(Piece(start, chunk.stop, len(chunk.lines), chunk.stop - start))
        start = chunk.stop
    if schema is None and any(piece.rows for piece in pieces):
        schema = pa.schema([])
    return _File(None if schema is None else json_types(schema), whole, pieces)


def _widened(schema: Any, found: Any) -> Any:
    """The columns so far and those of some lines more."""
    try:
        return found if schema is None else unified(schema, found)
    except PartError:
        return schema  # the rows that do not fit are told one by one when they are read


# CSV ---------------------------------------------------------------------------------------


def _look_at_csv(data: IO[bytes], whole: Part) -> _File:
    names, has_rows = header_of(data)
    if not names:
        return _File(None, whole)
    schema = pa.schema([pa.field(name, pa.large_string()) for name in names])
    data.seek(0, 2)
    rows = None if has_rows else 0
    return _File(schema, replace(whole, rows=rows, weight=data.tell()))


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

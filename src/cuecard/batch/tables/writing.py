"""Writing tables: a part's rows into a file, and the files of parts into one."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from typing import IO, Any, Protocol

from ..arrow import pa, pc
from .formats import Format

__all__ = ["Writer", "join_files", "make_writer"]

_GROUP_BYTES = 64 << 20
_GROUP_ROWS = 1 << 17


class Writer(Protocol):
    """Takes batches of one schema, in order."""

    def write(self, batch: Any) -> None:
        """Add rows."""

    def close(self) -> None:
        """Write what is left."""

    def abandon(self) -> None:
        """Leave the file as it is, since something failed."""


def make_writer(
    kind: Format, file: IO[bytes], schema: Any, *, long: str = "", header: bool = True
) -> Writer:
    """A writer of a format.

    Args:
        kind: the format.
        file: where to.
        schema: the columns.
        long: a column of long texts, whose least and greatest nobody looks for.
        header: whether CSV begins with the names of its columns.
    """
    if kind == "parquet":
        return _ParquetWriter(file, schema, long)
    return _CsvWriter(file, schema, header) if kind == "csv" else _LinesWriter(file)


class _ParquetWriter:
    def __init__(self, file: IO[bytes], schema: Any, long: str) -> None:
        self._texts = [field.name for field in schema if _is_hollow(field.type)]
        self._schema = _as_texts(schema, self._texts)
        self._writer = _parquet(file, self._schema, long)
        self._held: list[Any] = []
        self._bytes = self._rows = 0

    def write(self, batch: Any) -> None:
        self._held.append(_with_texts(batch, self._texts))
        self._bytes += batch.nbytes
        self._rows += batch.num_rows
        if self._bytes >= _GROUP_BYTES or self._rows >= _GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        # One row group each time: how much is held does not depend on the length of a prompt.
        if self._held:
            self._writer.write_table(pa.Table.from_batches(self._held, self._schema))
        self._held, self._bytes, self._rows = [], 0, 0

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        # Else it would write the end of the file when it is collected.
        self._writer.is_open = False


def _parquet(file: IO[bytes], schema: Any, long: str = "") -> Any:
    from pyarrow import parquet  # type: ignore[import-untyped]

    return parquet.ParquetWriter(
        file,
        schema,
        compression="zstd",
        write_statistics=[name for name in schema.names if name != long],
    )


class _LinesWriter:
    def __init__(self, file: IO[bytes]) -> None:
        import msgspec

        self._file = file
        self._encoder = msgspec.json.Encoder(decimal_format="string")

    def write(self, batch: Any) -> None:
        rows = _with_times(batch).to_pylist(maps_as_pydicts="lossy")
        self._file.write(self._encoder.encode_lines(rows))

    def close(self) -> None:
        pass

    def abandon(self) -> None:
        pass


class _CsvWriter:
    def __init__(self, file: IO[bytes], schema: Any, header: bool) -> None:
        from pyarrow import csv

        self._texts = [field.name for field in schema if not _is_cell(field.type)]
        self._writer = csv.CSVWriter(
            file,
            _as_texts(schema, self._texts),
            write_options=csv.WriteOptions(include_header=header),
        )

    def write(self, batch: Any) -> None:
        self._writer.write_batch(_with_texts(batch, self._texts))

    def close(self) -> None:
        self._writer.close()

    def abandon(self) -> None:
        pass


def _is_cell(kind: Any) -> bool:
    """Whether CSV has a form for a type; others are written as JSON."""
    types = pa.types
    return not (
        types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind)
    ) and bool(types.is_primitive(kind) or _is_text(kind) or types.is_decimal(kind))


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_hollow(kind: Any) -> bool:
    """Whether a type holds a struct without fields, for which Parquet has no form."""
    if pa.types.is_struct(kind):
        return kind.num_fields == 0 or any(_is_hollow(field.type) for field in kind)
    if pa.types.is_map(kind):
        return _is_hollow(kind.item_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _is_hollow(kind.value_type)
    return False


def _as_texts(schema: Any, names: list[str]) -> Any:
    return pa.schema(
        [pa.field(f.name, pa.large_string() if f.name in names else f.type) for f in schema]
    )


def _with_texts(batch: Any, names: list[str]) -> Any:
    """A batch with some of its columns as JSON."""
    if not names:
        return batch
    import msgspec

    encode = msgspec.json.Encoder(decimal_format="string").encode
    timed = _with_times(batch)
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name in names:
            values = timed.column(name).to_pylist(maps_as_pydicts="lossy")
            texts = [None if value is None else encode(value).decode() for value in values]
            column = pa.array(texts, pa.large_string())
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=_as_texts(batch.schema, names))


def _with_times(batch: Any) -> Any:
    """A batch whose times of nanoseconds are texts, since Python's have only microseconds."""
    columns = []
    for column in batch.columns:
        kind = column.type
        if pa.types.is_timestamp(kind) and kind.unit == "ns":
            texts = column.cast(pa.timestamp("ns")).cast(pa.string())
            texts = pc.replace_substring(texts, " ", "T")
            column = texts if kind.tz is None else pc.binary_join_element_wise(texts, "Z", "")
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def join_files(kind: Format, paths: Iterable[str], file: IO[bytes], schema: Any) -> None:
    """Write the rows of several files as one; those of CSV have no headers.

    Args:
        kind: the format of all.
        paths: the files, in order.
        file: where to.
        schema: the columns.
    """
    if kind == "parquet":
        _join_parquet(paths, file, schema)
        return
    if kind == "csv":
        make_writer(kind, file, schema).close()
    for path in paths:
        with open(path, "rb") as part:
            shutil.copyfileobj(part, file, 1 << 20)


def _join_parquet(paths: Iterable[str], file: IO[bytes], schema: Any) -> None:
    from pyarrow import parquet

    texts = [field.name for field in schema if _is_hollow(field.type)]
    with _parquet(file, _as_texts(schema, texts)) as writer:
        for path in paths:
            with parquet.ParquetFile(path) as part:
                for group in range(part.num_row_groups):
                    writer.write_table(part.read_row_group(group))

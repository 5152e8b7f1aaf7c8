"""Plain data: what the rows of an Arrow array are to a template.

| Arrow | template |
|---|---|
| texts, integers, floats, booleans, null | themselves |
| dates, times, timestamps, durations | ISO 8601 text |
| decimals | text, as `str(Decimal)` writes it |
| binary | text, in Base64 |
| lists | lists |
| structs, maps | mappings; of a map's equal keys the last one counts |
| dictionaries | what the entry is |
| other types | what `pyarrow` makes of them, as a value of any context |
"""

from __future__ import annotations

from base64 import b64encode
from itertools import pairwise
from typing import Any

from ..arrow import TEXT, Array, mask_of, pa
from .lists import is_listing, runs_of
from .times import duration_texts, time_texts

__all__ = ["Unreadable", "is_text", "plain_values", "text_form", "unreadable_in"]


class Unreadable:
    """Stands for a value that cannot be had: `code` and `message` say why."""

    __slots__ = ("code", "message")

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message


NO_DATE = Unreadable("P701", "the time is in no year from 1 to 9999")
NO_TEXT = Unreadable("P705", "the text is not valid UTF-8")
NO_KEY = Unreadable("P706", "the key of a map is a list or a mapping")
NO_VALUE = Unreadable("P701", "the value has no form as plain data")


def is_text(kind: Any) -> bool:
    """Whether a type is text to Arrow."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def text_form(array: Array) -> tuple[Array, Unreadable | None] | None:
    """The texts that an array's values are to a template, or None when they are no texts.

    Beside them comes what a value is whose text is null although it is not.
    """
    kind = array.type
    if is_text(kind):
        return _checked(array)
    if pa.types.is_date(kind) or pa.types.is_time(kind) or pa.types.is_timestamp(kind):
        return time_texts(array), NO_DATE
    if pa.types.is_duration(kind):
        return duration_texts(array), None
    if pa.types.is_decimal(kind):
        return array.cast(pa.string()).cast(TEXT), None
    if _is_binary(kind):
        encoded = [None if v is None else b64encode(v).decode() for v in array.to_pylist()]
        return pa.array(encoded, TEXT), None
    return None


def _is_binary(kind: Any) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _checked(array: Array) -> tuple[Array, Unreadable | None]:
    """Valid texts; Parquet files are not checked when they are read."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raw = array.cast(pa.large_binary()).to_pylist()
        return pa.array(list(map(_decoded, raw)), TEXT), NO_TEXT
    return array.cast(TEXT), None


def _decoded(raw: bytes | None) -> str | None:
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError:
        return None


def plain_values(array: Array) -> list[Any]:
    """The values as plain data, row by row; one that cannot be had is an `Unreadable`."""
    formed = text_form(array)
    if formed is not None:
        texts, lost = formed
        values: list[Any] = texts.to_pylist()
        if lost is not None and texts.null_count > array.null_count:
            for row in range(len(values)):
                if values[row] is None and array[row].is_valid:
                    values[row] = lost
        return values
    return _nested_values(array)


def _nested_values(array: Array) -> list[Any]:
    kind = array.type
    if pa.types.is_dictionary(kind):
        entries = [*plain_values(array.dictionary), None]
        return [entries[-1 if index is None else index] for index in array.indices.to_pylist()]
    if pa.types.is_struct(kind):
        names = [kind.field(index).name for index in range(kind.num_fields)]
        columns = [plain_values(array.field(index)) for index in range(kind.num_fields)]
        rows = zip(*columns, strict=True) if columns else ((),) * len(array)
        return _without_nulls([dict(zip(names, row, strict=True)) for row in rows], array)
    if is_listing(kind):
        return _lists(array)
    if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        return _one_by_one(array)
    try:
        return list(array.to_pylist())
    except (ValueError, OverflowError, pa.ArrowException):
        return _one_by_one(array)


def _without_nulls(values: list[Any], array: Array) -> list[Any]:
    null = mask_of(array)
    if null is None:
        return values
    return [None if absent else value for value, absent in zip(values, null, strict=True)]


def _lists(array: Array) -> list[Any]:
    offsets, items = runs_of(array)
    read = [plain_values(part) for part in items]
    is_map = len(read) == 2
    flat = list(zip(*read, strict=True)) if is_map else read[0]
    rows: list[Any] = [flat[start:stop] for start, stop in pairwise(offsets.tolist())]
    return _without_nulls(list(map(_mapping, rows)) if is_map else rows, array)


def _mapping(pairs: list[tuple[Any, Any]]) -> Any:
    try:
        return dict(pairs)
    except TypeError:
        return NO_KEY


def _one_by_one(array: Array) -> list[Any]:
    values = []
    for scalar in array:
        try:
            values.append(scalar.as_py())
        except (ValueError, OverflowError, pa.ArrowException):
            values.append(NO_VALUE)
    return values


def unreadable_in(value: Any) -> Unreadable | None:
    """What of a value cannot be had."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Unreadable):
            return item
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            waiting += item
    return None

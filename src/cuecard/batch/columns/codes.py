"""Codes: a column as one small number a row, the same for rows that hold the same.

All is done by Arrow and NumPy, for lists, structs and maps too: a list is a run of its items'
codes, which are bytes to Arrow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..arrow import Array, np, pa
from .lists import is_listing, runs_of

__all__ = ["Codes", "UncodedError", "codes_of", "combined"]

_MOST = 1 << 62


class Codes(NamedTuple):
    """A code from 0 for each row, and how many there are."""

    codes: Any
    size: int


class UncodedError(Exception):
    """There is no way to give the rows of such a column codes."""


def codes_of(array: Array) -> Codes:
    """The codes of an array. Null has one of its own.

    Raises:
        UncodedError: of a union, an extension type or the like.
    """
    kind = array.type
    if pa.types.is_null(kind):
        return Codes(np.zeros(len(array), np.int64), min(len(array), 1))
    if pa.types.is_dictionary(kind):
        return _of_dictionary(array)
    if pa.types.is_struct(kind):
        return _of_struct(array)
    if is_listing(kind):
        return _of_list(array)
    if pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType):
        raise UncodedError
    if pa.types.is_floating(kind):
        # As numbers, zero would equal its negative, which prints otherwise.
        array = array.cast(pa.float64()).view(pa.int64())
    try:
        return _dense(array)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise UncodedError from None


def combined(parts: list[Codes], rows: int) -> Codes:
    """One code for each combination of codes that is met."""
    if not parts:
        return Codes(np.zeros(rows, np.int64), min(rows, 1))
    together, count = parts[0]
    for codes, more in parts[1:]:
        if count * max(more, 1) > _MOST:
            together, count = _dense(pa.array(together))
        together, count = together * more + codes, count * more
    return _dense(pa.array(together)) if len(parts) > 1 else parts[0]


def _dense(array: Array) -> Codes:
    encoded = array.dictionary_encode(null_encoding="encode")
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Codes(codes, len(encoded.dictionary))


def _with_nulls(codes: Codes, array: Array) -> Codes:
    """The same codes with one more for null, whatever a row holds under it."""
    if array.null_count == 0:
        return codes
    null = array.is_null().to_numpy(zero_copy_only=False)
    return _dense(pa.array(np.where(null, codes.size, codes.codes)))


def _of_dictionary(array: Array) -> Codes:
    entries = codes_of(array.dictionary)
    if not len(array.dictionary):
        return Codes(np.zeros(len(array), np.int64), min(len(array), 1))
    index = array.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return _dense(pa.array(entries.codes[index], mask=_null_mask(array)))


def _null_mask(array: Array) -> Any:
    return array.indices.is_null().to_numpy(zero_copy_only=False)


def _of_struct(array: Array) -> Codes:
    fields = [codes_of(array.field(index)) for index in range(array.type.num_fields)]
    return _with_nulls(combined(fields, len(array)), array)


def _of_list(array: Array) -> Codes:
    offsets, items = runs_of(array)
    codes = np.ascontiguousarray(combined([codes_of(part) for part in items], offsets[-1]).codes)
    places = np.ascontiguousarray(offsets * codes.itemsize)
    runs = pa.Array.from_buffers(
        pa.large_binary(), len(array), [None, pa.py_buffer(places), pa.py_buffer(codes)]
    )
    return _with_nulls(_dense(runs), array)

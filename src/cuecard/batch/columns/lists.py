"""Lists, of whatever type they are, as runs of their items."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..arrow import Array, np, pa, taken

__all__ = ["Runs", "is_listing", "runs_of"]


class Runs(NamedTuple):
    """The lists of an array.

    Attributes:
        offsets: where the items of each row begin, and at last where the last ones end.
        items: all items, those of one row after those of the row before; of a map, the
            arrays of the keys and of the values.
    """

    offsets: Any
    items: tuple[Array, ...]


def is_listing(kind: Any) -> bool:
    """Whether the values of a type are lists or maps."""
    types = pa.types
    return bool(
        types.is_list(kind)
        or types.is_large_list(kind)
        or types.is_map(kind)
        or types.is_fixed_size_list(kind)
        or types.is_list_view(kind)
        or types.is_large_list_view(kind)
    )


def runs_of(array: Array) -> Runs:
    """The lists of an array; what a null row holds is of no importance."""
    kind = array.type
    if pa.types.is_fixed_size_list(kind):
        return _of_fixed(array)
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return _of_views(array)
    offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    if not len(array):
        return Runs(np.zeros(1, np.int64), tuple(part.slice(0, 0) for part in _items(array)))
    first, last = int(offsets[0]), int(offsets[-1])
    return Runs(offsets - first, tuple(part.slice(first, last - first) for part in _items(array)))


def _items(array: Array) -> tuple[Array, ...]:
    return (array.keys, array.items) if pa.types.is_map(array.type) else (array.values,)


def _of_fixed(array: Array) -> Runs:
    size = array.type.list_size
    items = array.values.slice(array.offset * size, len(array) * size)
    return Runs(np.arange(len(array) + 1, dtype=np.int64) * size, (items,))


def _of_views(array: Array) -> Runs:
    """Views may overlap and stand in any order, so that their items are taken anew."""
    starts = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    sizes = array.sizes.to_numpy(zero_copy_only=False).astype(np.int64)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    rows = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
    return Runs(offsets, (taken(array.values, rows),))

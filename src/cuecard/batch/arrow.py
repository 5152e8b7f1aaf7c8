"""Arrow and NumPy, which the extra `batch` brings, and what every module here says with them."""

from __future__ import annotations

from typing import Any

from ..errors import MissingExtraError

try:
    import numpy as np
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.compute as pc  # type: ignore[import-untyped]
except ModuleNotFoundError as error:
    raise MissingExtraError(
        f"rendering tables needs the package `{error.name}`", hint="pip install 'cuecard[batch]'"
    ) from None

__all__ = ["TEXT", "Array", "first_rows", "mask_of", "np", "pa", "pc", "taken", "texts_of"]

Array = Any
"""An Arrow array; the package has no types of its own."""

TEXT = pa.large_string()
"""The type of all texts here: a column of prompts may exceed the 2 GiB of `string`."""


def texts_of(values: list[str | None]) -> Array:
    """Texts as a column."""
    return pa.array(values, TEXT)


def mask_of(array: Array) -> Any:
    """Which rows are null, as a NumPy array; None when there is none."""
    if array.null_count == 0:
        return None
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False))


def first_rows(codes: Any, count: int) -> Any:
    """The first row of each code."""
    first = np.empty(count, np.int64)
    # Of equal places the last one assigned stays, so the rows come in backwards.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first


def taken(array: Array, rows: Any) -> Array:
    """Some rows of an array, by their numbers."""
    try:
        return array.take(pa.array(rows))
    except pa.ArrowNotImplementedError:
        # Arrow cannot take from views of texts, nor from what holds some.
        if not len(rows):
            return array.slice(0, 0)
        return pa.concat_arrays([array.slice(row, 1) for row in rows.tolist()])

"""Slots: a column of tasks, of each of which the keys are variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...operator import slots_from_prompt
from ...values import Freezer
from ..arrow import Array, first_rows, np, taken
from .codes import UncodedError, codes_of
from .plain import Unreadable, plain_values, unreadable_in
from .values import Column, listed

__all__ = ["Slots"]

_SAMPLE = 1024


class Slots:
    """The slots of the rows of a part; what several rows have in common is read once.

    Attributes:
        bad: the rows whose slots cannot be read at all, as a NumPy mask; None for none.
    """

    def __init__(self, array: Array, freezer: Callable[[], Freezer]) -> None:
        self._freezer = freezer
        self._index = _index_of(array)
        if self._index is not None:
            rows = first_rows(self._index, int(self._index.max()) + 1)
            array = taken(array, rows)
        self._slots = [_read(value) for value in plain_values(array)]
        bad = np.array([isinstance(slots, Unreadable) for slots in self._slots], bool)
        self.bad = None
        if bad.any():
            self.bad = bad if self._index is None else bad[self._index]

    def names(self) -> set[str]:
        """Every slot that a row has."""
        return {key for slots in self._slots if isinstance(slots, dict) for key in slots}

    def gives(self, name: str) -> bool:
        """Whether a row has this slot."""
        return any(isinstance(slots, dict) and name in slots for slots in self._slots)

    def column(self, name: str, otherwise: Any) -> Column:
        """One slot as the values of a variable.

        Args:
            name: the slot.
            otherwise: the value for rows that do not have it; `ABSENT` for none.
        """
        values = [
            slots.get(name, otherwise) if isinstance(slots, dict) else otherwise
            for slots in self._slots
        ]
        return listed(values, self._index, name, self._freezer)

    def row(self, row: int) -> dict[str, Any] | Unreadable:
        """All slots of one row."""
        return self._slots[row if self._index is None else int(self._index[row])]


def _index_of(array: Array) -> Any:
    """The number of each row's slots; None when hardly any two rows have the same."""
    if not len(array):
        return None
    try:
        if len(array) > 2 * _SAMPLE:
            spread = np.linspace(0, len(array) - 1, _SAMPLE).astype(np.int64)
            if codes_of(taken(array, spread)).size > 0.9 * _SAMPLE:
                return None
        return codes_of(array).codes
    except UncodedError:
        return None


def _read(value: Any) -> dict[str, Any] | Unreadable:
    if isinstance(value, Unreadable):
        return value
    if isinstance(value, dict):
        return unreadable_in(list(value.keys())) or dict(value)
    return slots_from_prompt(value)

"""Columns: the values of one variable over the rows of a part, as whoever asks needs them.

A segment that only prints text asks for the text, and no row becomes an object of Python. One
that does more asks for the codes, and for the frozen values of a row for each code.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from ...errors import ContextError
from ...values import NULL, BigInt, Freezer
from ..arrow import TEXT, Array, first_rows, mask_of, np, pa, pc, taken, texts_of
from .codes import Codes, UncodedError, codes_of
from .plain import Unreadable, plain_values, text_form, unreadable_in

__all__ = ["ABSENT", "Column", "Texts", "column_of", "key_of", "listed", "shared"]

ABSENT: Any = object()
"""Stands for the value of a name that a row does not give."""


def _named(value: object) -> Any:
    if value is NULL:
        return None
    if isinstance(value, BigInt):
        return msgspec.msgpack.Ext(1, str(value).encode())
    raise TypeError


_encode = msgspec.msgpack.Encoder(enc_hook=_named).encode


class Texts(NamedTuple):
    """A text for each row: entries, and which of them a row has; all of them when None.

    Null stands for nothing.
    """

    entries: Array
    index: Any = None


class Column:
    """The values of a variable, row by row.

    Attributes:
        rows: how many.
        bad: the rows whose values cannot be had or frozen, as a NumPy mask; None when there
            is none. Whatever else a column says about these is void.
        partial: whether some rows may give no value at all.
    """

    rows: int
    bad: Any = None
    partial = False

    def text(self) -> Texts | None:
        """The values, when each is text or null."""
        return None

    def printed(self) -> Texts | None:
        """What an output prints of them, when that is known without the engine."""
        return self.text()

    def codes(self) -> Codes:
        """The same code for rows that print the same whatever is done with them."""
        raise NotImplementedError

    def frozen(self, rows: Any = None) -> list[Any]:
        """The values of these rows, or of all, as the engine takes them; `ABSENT` for none."""
        raise NotImplementedError

    def plain(self, row: int) -> Any:
        """The value of one row as plain data, `ABSENT`, or `Unreadable`."""
        raise NotImplementedError


def _thawed(value: Any) -> Any:
    return None if value is NULL else value


class _Constant(Column):
    """A value that all rows share."""

    def __init__(self, value: Any, frozen: Any, rows: int) -> None:
        self.rows = rows
        self._value, self._frozen = value, frozen

    def text(self) -> Texts | None:
        if type(self._frozen) is not str and self._frozen is not NULL:
            return None
        return Texts(texts_of([_thawed(self._frozen)]), np.zeros(self.rows, np.int64))

    def codes(self) -> Codes:
        return Codes(np.zeros(self.rows, np.int64), min(self.rows, 1))

    def frozen(self, rows: Any = None) -> list[Any]:
        return [self._frozen] * (self.rows if rows is None else len(rows))

    def plain(self, row: int) -> Any:
        return self._value


class _Coded(Column):
    """A column of an Arrow array."""

    def __init__(self, array: Array) -> None:
        self.rows = len(array)
        self._array = array

    @cached_property
    def _codes(self) -> Codes:
        return codes_of(self._array)

    def codes(self) -> Codes:
        return self._codes

    def _taken(self, rows: Any) -> Array:
        return self._array if rows is None else self._array.take(pa.array(rows))

    def plain(self, row: int) -> Any:
        return plain_values(self._array.slice(row, 1))[0]


class _TextColumn(_Coded):
    """Texts, or what is text to a template."""

    def __init__(self, array: Array, texts: Array, lost: Unreadable | None) -> None:
        super().__init__(texts)
        self._lost = lost
        self._origin = array
        if lost is not None and texts.null_count > array.null_count:
            self.bad = mask_of(texts) & np.asarray(array.is_valid().to_numpy(zero_copy_only=False))

    def text(self) -> Texts | None:
        return Texts(self._array)

    def frozen(self, rows: Any = None) -> list[Any]:
        values = self._taken(rows).to_pylist()
        if self._array.null_count == 0:
            return list(values)
        return [NULL if value is None else value for value in values]

    def plain(self, row: int) -> Any:
        value = self._array[row].as_py()
        return self._lost if value is None and self._origin[row].is_valid else value


class _NumberColumn(_Coded):
    """Integers, floats, booleans or nulls."""

    def __init__(self, array: Array, name: str, freezer: Freezer) -> None:
        super().__init__(array)
        self._name, self._freezer = name, freezer

    def printed(self) -> Texts | None:
        kind = self._array.type
        if pa.types.is_integer(kind):
            return Texts(self._array.cast(TEXT))
        if pa.types.is_boolean(kind):
            yes, no = pa.scalar("True", TEXT), pa.scalar("False", TEXT)
            return Texts(pc.if_else(self._array, yes, no))
        return Texts(pa.nulls(self.rows, TEXT)) if pa.types.is_null(kind) else None

    def frozen(self, rows: Any = None) -> list[Any]:
        values = self._taken(rows).to_pylist()
        if self._array.type == pa.uint64():
            # Beyond 63 bits the engine would round.
            return [self._freezer.freeze(self._name, value) for value in values]
        if self._array.null_count == 0:
            return list(values)
        return [NULL if value is None else value for value in values]


class _Entries(Column):
    """Values in Python, of any kind, which are frozen once."""

    def __init__(self, values: Sequence[Any], name: str, freezer: Callable[[], Freezer]) -> None:
        self.rows = len(values)
        self._values = values
        self._frozen = [_freeze(value, name, freezer) for value in values]
        self.partial = any(value is ABSENT for value in values)
        bad = [index for index, value in enumerate(self._frozen) if isinstance(value, Unreadable)]
        if bad:
            self.bad = np.zeros(self.rows, bool)
            self.bad[bad] = True
            for index in bad:
                self._frozen[index] = NULL

    @cached_property
    def _texts(self) -> Texts | None:
        if any(type(value) is not str and value is not NULL for value in self._frozen):
            return None
        return Texts(texts_of(list(map(_thawed, self._frozen))))

    def text(self) -> Texts | None:
        return self._texts

    @cached_property
    def _codes(self) -> Codes:
        numbers: dict[Hashable, int] = {}
        codes = [numbers.setdefault(key_of(value), len(numbers)) for value in self._frozen]
        return Codes(np.array(codes, np.int64), len(numbers))

    def codes(self) -> Codes:
        return self._codes

    def frozen(self, rows: Any = None) -> list[Any]:
        return self._frozen if rows is None else [self._frozen[row] for row in rows]

    def plain(self, row: int) -> Any:
        return self._values[row]


class _Indexed(Column):
    """Entries, and which of them each row has.

    Args:
        entries: the values.
        index: for each row the number of its entry.
        distinct: whether no two entries are the same, and each is some row's.
    """

    def __init__(self, entries: Column, index: Any, *, distinct: bool = False) -> None:
        self.rows = len(index)
        self._entries, self._index, self._distinct = entries, index, distinct
        self.partial = entries.partial
        if entries.bad is not None:
            self.bad = entries.bad[index]

    def text(self) -> Texts | None:
        return self._indexed(self._entries.text())

    def printed(self) -> Texts | None:
        return self._indexed(self._entries.printed())

    def _indexed(self, texts: Texts | None) -> Texts | None:
        if texts is None:
            return None
        return Texts(
            texts.entries, self._index if texts.index is None else texts.index[self._index]
        )

    @cached_property
    def _codes(self) -> Codes:
        if self._distinct:
            return Codes(self._index, self._entries.rows)
        entries = self._entries.codes()
        used = np.zeros(entries.size, np.int64)
        codes = entries.codes[self._index]
        used[codes] = 1
        return Codes((np.cumsum(used) - 1)[codes], int(used.sum()))

    def codes(self) -> Codes:
        return self._codes

    def frozen(self, rows: Any = None) -> list[Any]:
        return self._entries.frozen(self._index if rows is None else self._index[rows])

    def plain(self, row: int) -> Any:
        return self._entries.plain(int(self._index[row]))


def _freeze(value: Any, name: str, freezer: Callable[[], Freezer]) -> Any:
    kind = type(value)
    if value is ABSENT or kind is bool or kind is float:
        return value
    if kind is str and value.isascii():
        return value
    try:
        return freezer().freeze(name, value)
    except ContextError as error:
        return unreadable_in(value) or Unreadable(error.code, error.message)


def key_of(value: Any) -> Hashable:
    """A key that frozen values share only when they are the same: `True` is not `1`."""
    if type(value) is str or value is ABSENT:
        return value
    if value is NULL:
        return None
    try:
        return _encode(value)
    except Exception:
        # Keys that are no text, for one.
        return repr(value).encode("utf-8", "surrogatepass")


def column_of(array: Array, name: str, freezer: Callable[[], Freezer]) -> Column:
    """An Arrow array as the values of a variable.

    Args:
        array: the rows; no chunks.
        name: the variable.
        freezer: makes what freezes a value that is not just text or a number.
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _of_dictionary(array, name, freezer)
    formed = text_form(array)
    if formed is not None:
        return _TextColumn(array, *formed)
    if pa.types.is_float16(kind):
        array = array.cast(pa.float64())
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return _NumberColumn(array, name, freezer())
    if pa.types.is_null(kind):
        return _NumberColumn(array, name, freezer())
    try:
        codes, count = codes_of(array)
    except UncodedError:
        return _Entries(plain_values(array), name, freezer)
    # Only a row for each code is converted.
    values = plain_values(taken(array, first_rows(codes, count)))
    return _Indexed(_Entries(values, name, freezer), codes, distinct=True)


def _of_dictionary(array: Array, name: str, freezer: Callable[[], Freezer]) -> Column:
    entries, indices = array.dictionary, array.indices
    if indices.null_count or not len(entries):
        # Null becomes one entry more.
        entries = pa.concat_arrays([entries, pa.nulls(1, entries.type)])
        indices = indices.cast(pa.int64()).fill_null(len(entries) - 1)
    index = indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return _Indexed(column_of(entries, name, freezer), index)


def listed(values: Sequence[Any], index: Any, name: str, freezer: Callable[[], Freezer]) -> Column:
    """Values in Python, and which of them each row has.

    Args:
        values: plain data, or `ABSENT`.
        index: for each row the number of its value; None when the values are the rows.
        name: the variable.
        freezer: makes what freezes a value.
    """
    entries = _Entries(values, name, freezer)
    return entries if index is None else _Indexed(entries, index)


def shared(value: Any, frozen: Any, rows: int) -> Column:
    """A value that all rows have.

    Args:
        value: as plain data, or whatever becomes that.
        frozen: the same as the engine takes it.
        rows: how many rows there are.
    """
    return _Constant(value, frozen, rows)

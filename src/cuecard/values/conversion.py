"""Conversion: copies of values as plain data, whatever types people keep them in.

Plain `dict` and `list` come out, or `guarded` containers, which show templates the reading
methods (`items`, `get`, ...) and hide all others.
"""

from __future__ import annotations

import enum
import os
import types
from collections import UserString
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any

from ..errors import ContextError
from ..profile import Limits
from .frozen import NULL, BigInt, FrozenList, FrozenMap, FrozenRecord

__all__ = ["Conversion", "RefusedError", "freeze_mapping"]


class RefusedError(Exception):
    """Carries a refused value's path upwards, one step a level."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.message = message
        self.hint = hint
        self.steps: list[str] = []
        self.ancestors: set[int] = set()

    def leave(self, container: object, step: str) -> RefusedError:
        """Note one step of the path, on the way up out of a container."""
        if self.code == "P703" and id(container) in self.ancestors:
            self.code, self.message = "P702", "the value contains itself"
            self.hint = "give the template a copy without the reference back"
            self.steps.clear()
        self.ancestors.add(id(container))
        self.steps.append(step)
        return self


def _step(key: object) -> str:
    if isinstance(key, str):
        key = "".join((key,))  # what a class of its own shows may be anything
        if key.isidentifier():
            return f".{key}"
    is_shown = type(key) in (str, bool, float) or (type(key) is int and not _is_too_large(key))
    text = repr(key) if is_shown else "?"
    return f"[{text if len(text) <= 40 else text[:37] + '...'}]"


_INT_MIN, _INT_MAX = -(2**63), 2**63 - 1


@lru_cache(maxsize=1)
def _iso_types() -> tuple[type, ...]:
    """Types whose text is the one that JSON libraries write for them."""
    import datetime
    import decimal
    import uuid

    return (
        datetime.datetime,
        datetime.date,
        datetime.time,
        datetime.timedelta,
        uuid.UUID,
        decimal.Decimal,
    )


_HINTS: tuple[tuple[type, str], ...] = (
    (types.GeneratorType, "make it a list first: `list(...)`"),
    ((bytes), "decode it to text first: `.decode()`"),
    ((bytearray), "decode it to text first: `.decode()`"),
    (types.ModuleType, "pass the values that the template needs"),
    (BaseException, "pass its message as text: `str(error)`"),
)


class Conversion:
    """One conversion: counts values, and knows which containers to make."""

    __slots__ = ("_characters", "_list", "_map", "_max_depth", "_nodes")

    def __init__(self, limits: Limits, guarded: bool) -> None:
        self._max_depth = limits.depth
        self._nodes = limits.nodes
        # One text may stand in many places, and would be printed in each.
        self._characters = 2 * limits.output
        self._map: type[dict[Any, Any]] = FrozenMap if guarded else dict
        self._list: type[list[Any]] = FrozenList if guarded else list

    def freeze(self, value: Any, depth: int = 0) -> Any:
        """The value as plain data."""
        kind = type(value)
        if kind is str:
            if depth:
                self._spend_text(len(value))
            return _checked_text(value)
        if value is None:
            return NULL
        if kind is bool or kind is float:
            return value
        if kind is int:
            return value if _INT_MIN <= value <= _INT_MAX else _big_int(value)
        if depth >= self._max_depth:
            raise RefusedError(
                "P703",
                f"nested more than {self._max_depth} levels deep",
                "flatten the value, or raise `Limits.depth`",
            )
        if kind is dict:
            return self._dict(value, depth)
        if kind is list:
            return self._plain_list(value, depth)
        if kind is tuple:
            return self._sequence(value, value, depth)
        return self._convert(value, depth)

    def _spend(self, count: int) -> None:
        self._nodes -= count
        if self._nodes < 0:
            raise RefusedError(
                "P704",
                "holds more values than allowed",
                "pass only what the template needs, or raise `Limits.nodes`",
            )

    def _spend_text(self, length: int) -> None:
        self._characters -= length
        if self._characters < 0:
            raise RefusedError(
                "P704",
                "holds more text than allowed",
                "pass only what the template needs, or raise `Limits.output`",
            )

    # Most data is plain: these two do for `dict` and `list` what the general ones below do
    # for every mapping and iterable, with short texts and numbers copied on the spot.

    def _dict(self, value: dict[Any, Any], depth: int) -> dict[Any, Any]:
        self._spend(len(value))
        frozen = self._map()
        depth += 1
        length = 0
        key: Any = None
        try:
            for key, item in value.items():
                name = key if type(key) is str and key.isascii() else self._key(key)
                kind = type(item)
                if kind is str and item.isascii():
                    frozen[name] = item
                    length += len(item)
                elif kind is bool:
                    frozen[name] = item
                else:
                    frozen[name] = self.freeze(item, depth)
            self._spend_text(length)
        except RefusedError as refusal:
            raise refusal.leave(value, _step(key)) from None
        return frozen

    def _plain_list(self, value: list[Any], depth: int) -> list[Any]:
        self._spend(len(value))
        frozen = self._list()
        add = list.append
        depth += 1
        length = 0
        index = -1
        try:
            # Reading an item may run code of its own, which may lengthen the list.
            for index, item in enumerate(value.copy()):  # noqa: B007 - a step of the path
                if type(item) is str and item.isascii():
                    add(frozen, item)
                    length += len(item)
                else:
                    add(frozen, self.freeze(item, depth))
            self._spend_text(length)
        except RefusedError as refusal:
            raise refusal.leave(value, f"[{index}]") from None
        return frozen

    def _mapping(self, items: Any, owner: object, depth: int) -> dict[Any, Any]:
        frozen = self._map()
        for key in items:
            self._spend(1)
            try:
                frozen[self._key(key)] = self.freeze(items[key], depth + 1)
            except RefusedError as refusal:
                raise refusal.leave(owner, _step(key)) from None
        return frozen

    def _key(self, key: Any) -> str | int | float:
        if type(key) is str:
            return _checked_text(key)
        if isinstance(key, enum.Enum):
            return self._key(key.value)
        if type(key) in (bool, float):
            return key  # type: ignore[no-any-return]
        if type(key) is int:
            _check_size(key)
            return key
        if isinstance(key, str):
            return _checked_text("".join((key,)))
        if isinstance(key, (*_iso_types(), os.PathLike)):
            return str(self.freeze(key))
        raise RefusedError(
            "P706", f"expected a key of type `str`, got `{type(key).__name__}`", "use text keys"
        )

    def _sequence(self, items: Iterable[Any], owner: object, depth: int) -> list[Any]:
        frozen = self._list()
        add = list.append
        for index, item in enumerate(items):
            self._spend(1)
            try:
                add(frozen, self.freeze(item, depth + 1))
            except RefusedError as refusal:
                raise refusal.leave(owner, f"[{index}]") from None
        return frozen

    def _convert(self, value: Any, depth: int) -> Any:
        try:
            return self._convert_unchecked(value, depth)
        except (RefusedError, MemoryError, KeyboardInterrupt):
            raise
        except BaseException as error:
            # A value does not end the program, whatever it raises.
            # What the value's own methods say may hold the value: logs show causes too.
            raise RefusedError(
                "P701",
                f"`{type(value).__name__}` cannot be read: it raised `{type(error).__name__}`",
            ) from None

    def _convert_unchecked(self, value: Any, depth: int) -> Any:
        if isinstance(value, enum.Enum):
            return self.freeze(value.value, depth + 1)
        if isinstance(value, (str, UserString)):
            return _checked_text("".join((value if isinstance(value, str) else value.data,)))
        if isinstance(value, int):
            return self.freeze(int.__int__(value), depth)
        if isinstance(value, float):
            return float.__float__(value)
        if isinstance(value, _iso_types()):
            return _iso_text(value)
        if isinstance(value, os.PathLike):
            return self.freeze(os.fspath(value), depth)
        fields = _record_fields(value)
        if fields is not None:
            return self._mapping(fields, value, depth)
        if hasattr(type(value), "__pydantic_root_model__"):
            return self.freeze(value.model_dump(), depth + 1)
        if isinstance(value, tuple):
            return self._tuple(value, depth)
        if isinstance(value, Mapping):
            return self._mapping(value, value, depth)
        if isinstance(value, Set):
            return self._set(value, depth)
        if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
            return self._sequence(value, value, depth)
        name = type(value).__name__
        hint = next((text for kind, text in _HINTS if isinstance(value, kind)), None)
        raise RefusedError(
            "P701",
            f"expected plain data, got `{name}`",
            hint or "convert it to text, numbers, lists or mappings first",
        )

    def _tuple(self, value: tuple[Any, ...], depth: int) -> list[Any]:
        items = self._sequence(value, value, depth)
        fields = getattr(type(value), "_fields", None)
        if isinstance(fields, tuple):
            return FrozenRecord(items, fields)
        return items

    def _set(self, value: Set[Any], depth: int) -> list[Any]:
        items = self._sequence(value, value, depth)
        # Kinds that cannot be compared stand apart; any fixed order keeps the bytes stable.
        list.sort(items, key=_order)
        return items


def _order(item: Any) -> tuple[str, Any]:
    if isinstance(item, str):
        return "text", item
    if isinstance(item, (int, float, BigInt)):
        return "number", item
    return "other", repr(item)


_MAX_BITS = 8192


def _is_too_large(value: int) -> bool:
    # Python itself refuses to print integers of more than 4,300 digits.
    return value.bit_length() > _MAX_BITS


def _check_size(value: int) -> None:
    if _is_too_large(value):
        raise RefusedError("P704", f"the integer has more than {_MAX_BITS:,} bits")


def _big_int(value: int) -> BigInt:
    _check_size(value)
    return BigInt(value)


def _iso_text(value: Any) -> str:
    """The text that JSON libraries write for a date, a time, a UUID or a decimal."""
    import datetime

    import msgspec

    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, datetime.timedelta):
        plain = datetime.timedelta(value.days, value.seconds, value.microseconds)
        return str(msgspec.to_builtins(plain))
    return str(value)


def _checked_text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise RefusedError(
                "P705",
                "the text has a lone surrogate, which is no Unicode character",
                "decode it with `errors='replace'`",
            ) from None
    return text


def _record_fields(value: Any) -> dict[str, Any] | None:
    """The fields of a dataclass, attrs class, msgspec struct or pydantic model, or None.

    Those with an underscore in front are the record's own, and left out.
    """
    kind = type(value)
    names: Iterable[str] | None = None
    if hasattr(kind, "__dataclass_fields__"):
        names = _dataclass_names(kind)
    elif hasattr(kind, "__struct_fields__"):
        names = kind.__struct_fields__
    elif hasattr(kind, "__attrs_attrs__"):
        names = (attribute.name for attribute in kind.__attrs_attrs__)
    if names is not None:
        return {name: getattr(value, name) for name in names if not name.startswith("_")}
    if hasattr(kind, "__pydantic_validator__"):
        dumped = value.model_dump()
        # A root model may stand for a list or a text.
        return dumped if isinstance(dumped, dict) else None
    return None


def _dataclass_names(kind: Any) -> list[str]:
    # Pseudo-fields (ClassVar, InitVar) are kept in the same mapping.
    return [n for n, f in kind.__dataclass_fields__.items() if f._field_type.name == "_FIELD"]


def freeze_mapping(value: Any) -> Mapping[str, Any]:
    """The top level of a context: a mapping, or the fields of a record.

    Raises:
        ContextError: it is neither (P707).
    """
    if isinstance(value, Mapping):
        return value
    try:
        fields = _record_fields(value)
    except Exception as error:
        raise ContextError(
            f"`{type(value).__name__}` cannot be read: it raised `{type(error).__name__}`"
        ) from None
    if fields is None:
        raise ContextError(
            f"expected a mapping of names to values, got `{type(value).__name__}`",
            code="P707",
            hint="pass a dict, a dataclass or a model",
        )
    return fields

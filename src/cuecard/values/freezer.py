"""Freezing: the context that a template sees is plain data, copied from the caller's.

The engine hands templates every public attribute of a Python object, so none may reach
it. A `Freezer` copies a value into `None`-like null, `bool`, `int`, `float`, `str`, `list`
and `dict`, converts the types that people keep their data in, and refuses everything
else with the path of the value.

Two kinds of containers come out. Plain `dict` and `list` are the fast ones; they are safe
only for a template that cannot ask for one of their methods. `guarded` containers show
templates the reading methods (`items`, `get`, ...) and hide all others.
"""

from __future__ import annotations

import enum
import os
import types
from collections import UserString
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, NamedTuple

from ..errors import ContextError
from ..profile import Limits
from .frozen import NULL, BigInt, FrozenList, FrozenMap, FrozenRecord

__all__ = ["Freezer", "freeze_mapping"]


class _RefusedError(Exception):
    """Carries a refused value's path upwards, one step a level."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.message = message
        self.hint = hint
        self.steps: list[str] = []
        self.ancestors: set[int] = set()

    def leave(self, container: object, step: str) -> _RefusedError:
        if self.code == "P703" and id(container) in self.ancestors:
            self.code, self.message = "P702", "the value contains itself"
            self.hint = "give the template a copy without the reference back"
            self.steps.clear()
        self.ancestors.add(id(container))
        self.steps.append(step)
        return self


def _step(key: object) -> str:
    if isinstance(key, str) and key.isidentifier():
        return f".{key}"
    text = repr(key) if isinstance(key, (str, int, float)) else "?"
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


class _Conversion:
    """One conversion: counts values, and knows which containers to make."""

    __slots__ = ("_list", "_map", "_max_depth", "_nodes")

    def __init__(self, limits: Limits, guarded: bool) -> None:
        self._max_depth = limits.depth
        self._nodes = limits.nodes
        self._map: type[dict[Any, Any]] = FrozenMap if guarded else dict
        self._list: type[list[Any]] = FrozenList if guarded else list

    def freeze(self, value: Any, depth: int = 0) -> Any:
        kind = type(value)
        if kind is str:
            return _checked_text(value)
        if value is None:
            return NULL
        if kind is bool or kind is float:
            return value
        if kind is int:
            return value if _INT_MIN <= value <= _INT_MAX else BigInt(value)
        if depth >= self._max_depth:
            raise _RefusedError(
                "P703",
                f"nested more than {self._max_depth} levels deep",
                "flatten the value, or raise `Limits.depth`",
            )
        if kind is dict:
            return self._mapping(value, value, depth)
        if kind is list or kind is tuple:
            return self._sequence(value, value, depth)
        return self._convert(value, depth)

    def _spend(self, count: int) -> None:
        self._nodes -= count
        if self._nodes < 0:
            raise _RefusedError(
                "P704",
                "holds more values than allowed",
                "pass only what the template needs, or raise `Limits.nodes`",
            )

    def _mapping(self, items: Any, owner: object, depth: int) -> dict[Any, Any]:
        frozen = self._map()
        for key in items:
            self._spend(1)
            try:
                frozen[self._key(key)] = self.freeze(items[key], depth + 1)
            except _RefusedError as refusal:
                raise refusal.leave(owner, _step(key)) from None
        return frozen

    def _key(self, key: Any) -> str | int | float:
        if type(key) is str:
            return _checked_text(key)
        if isinstance(key, enum.Enum):
            return self._key(key.value)
        if type(key) in (int, bool, float):
            return key  # type: ignore[no-any-return]
        if isinstance(key, str):
            return _checked_text("".join((key,)))
        if isinstance(key, (*_iso_types(), os.PathLike)):
            return str(self.freeze(key))
        raise _RefusedError(
            "P706", f"expected a key of type `str`, got `{type(key).__name__}`", "use text keys"
        )

    def _sequence(self, items: Iterable[Any], owner: object, depth: int) -> list[Any]:
        frozen = self._list()
        add = list.append
        for index, item in enumerate(items):
            self._spend(1)
            try:
                add(frozen, self.freeze(item, depth + 1))
            except _RefusedError as refusal:
                raise refusal.leave(owner, f"[{index}]") from None
        return frozen

    def _convert(self, value: Any, depth: int) -> Any:
        try:
            return self._convert_unchecked(value, depth)
        except (_RefusedError, MemoryError):
            raise
        except Exception as error:
            raise _RefusedError(
                "P701",
                f"`{type(value).__name__}` cannot be read: it raised `{type(error).__name__}`",
            ) from error

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
            import msgspec

            return msgspec.to_builtins(value)
        if isinstance(value, os.PathLike):
            return self.freeze(os.fspath(value), depth)
        fields = _record_fields(value)
        if fields is not None:
            return self._mapping(fields, value, depth)
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
        raise _RefusedError(
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
        try:
            list.sort(items)
        except TypeError:
            # Mixed kinds have no order of their own; any fixed order keeps the bytes stable.
            list.sort(items, key=lambda item: (type(item).__name__, repr(item)))
        return items


def _checked_text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _RefusedError(
                "P705",
                "the text has a lone surrogate, which is no Unicode character",
                "decode it with `errors='replace'`",
            ) from None
    return text


def _record_fields(value: Any) -> dict[str, Any] | None:
    """The fields of a dataclass, attrs class, msgspec struct or pydantic model, or None."""
    kind = type(value)
    if hasattr(kind, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in _dataclass_names(kind)}
    if hasattr(kind, "__struct_fields__"):
        return {name: getattr(value, name) for name in kind.__struct_fields__}
    if hasattr(kind, "__attrs_attrs__"):
        return {a.name: getattr(value, a.name) for a in kind.__attrs_attrs__}
    if hasattr(kind, "__pydantic_validator__"):
        dumped: dict[str, Any] = value.model_dump()
        return dumped
    return None


def _dataclass_names(kind: Any) -> list[str]:
    # Pseudo-fields (ClassVar, InitVar) are kept in the same mapping.
    return [n for n, f in kind.__dataclass_fields__.items() if f._field_type.name == "_FIELD"]


_ALL_DIGITS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_MANY_DIGITS = b"0" * 19
_MAX_KEPT = 1 << 18


class _Codec(NamedTuple):
    fingerprint: Callable[[Any], bytes]
    encode_json: Callable[[Any], bytes]
    decode_json: Callable[[bytes], Any]


@lru_cache(maxsize=1)
def _codec() -> _Codec:
    import msgspec

    return _Codec(
        msgspec.msgpack.Encoder().encode,
        msgspec.json.Encoder().encode,
        msgspec.json.Decoder().decode,
    )


class Freezer:
    """Freezes the values of one template, and knows again what it froze last.

    The tools and skills of an agent are the same at every turn. For each name the last
    frozen value is kept with its encoding; a value that encodes to the same bytes is the
    same data, so its copy is used again. At most 256 KiB of encoding are kept a name.

    Args:
        limits: bounds on depth and number of values.
        guarded: whether containers must hide the methods of `dict` and `list`.
    """

    __slots__ = ("_guarded", "_kept", "_limits", "_seen")

    def __init__(self, limits: Limits, guarded: bool) -> None:
        self._limits = limits
        self._guarded = guarded
        self._seen: set[str] = set()
        self._kept: dict[str, tuple[bytes, Any]] = {}

    def freeze(self, name: str, value: Any) -> Any:
        """Copy the value of a variable into plain data.

        Raises:
            ContextError: the value, or one within it, is not plain data (P701), contains
                itself (P702), is too deep (P703), has too many values (P704), is no valid
                Unicode (P705), or has a key that is no text or number (P706).
        """
        if type(value) is not list and type(value) is not dict:
            return self._convert(name, value)
        if name not in self._seen:
            # A process that renders once has nothing to gain from encoding, nor from
            # loading the library that does it.
            self._seen.add(name)
            return self._convert(name, value)
        codec = _codec()
        try:
            encoded = codec.fingerprint(value)
        except Exception:
            return self._convert(name, value)
        kept = self._kept.get(name)
        if kept is not None and kept[0] == encoded:
            return kept[1]
        copy = _copy_json(value, self._limits, codec)
        if copy is None:
            return self._convert(name, value)
        # Null is `0xC0` in MessagePack, a byte that no UTF-8 text holds.
        frozen = self._convert(name, copy) if self._guarded or b"\xc0" in encoded else copy
        if len(encoded) <= _MAX_KEPT:
            self._kept[name] = encoded, frozen
        return frozen

    def _convert(self, name: str, value: Any) -> Any:
        path = f"$.{name}"
        try:
            return _Conversion(self._limits, self._guarded).freeze(value)
        except _RefusedError as refusal:
            raise _context_error(refusal, path) from refusal.__cause__
        except RecursionError:
            raise ContextError(
                f"nested more than {self._limits.depth} levels deep", path=path, code="P703"
            ) from None


def _copy_json(value: Any, limits: Limits, codec: _Codec) -> Any:
    """A copy of a value that is JSON data, made in C; None when it is not that.

    The copy stands only if it equals the value: sets, bytes, keys that are no text and the
    like do not survive the round trip. Integers of 19 digits and more are left to the slow
    path, and so is everything that might be too large or too deep.
    """
    try:
        encoded = codec.encode_json(value)
        if len(encoded) > limits.nodes or _MANY_DIGITS in encoded.translate(_ALL_DIGITS_ZERO):
            return None
        copy = codec.decode_json(encoded)
        if copy != value:
            return None
    except Exception:
        return None
    shallow = encoded.count(b"{") + encoded.count(b"[") <= limits.depth
    return copy if shallow or _depth(copy, limits.depth) <= limits.depth else None


def _depth(value: Any, enough: int) -> int:
    """Levels of lists and mappings in JSON data; stops counting beyond `enough`."""
    level = [value]
    depth = 0
    while level and depth <= enough:
        depth += 1
        level = [
            child
            for container in level
            for child in (container.values() if type(container) is dict else container)
            if type(child) is dict or type(child) is list
        ]
    return depth


def freeze_mapping(value: Any) -> Mapping[str, Any]:
    """The top level of a context: a mapping, or the fields of a record.

    Raises:
        ContextError: it is neither (P707).
    """
    if isinstance(value, Mapping):
        return value
    fields = _record_fields(value)
    if fields is None:
        raise ContextError(
            f"expected a mapping of names to values, got `{type(value).__name__}`",
            code="P707",
            hint="pass a dict, a dataclass or a model",
        )
    return fields


def _context_error(refusal: _RefusedError, path: str) -> ContextError:
    return ContextError(
        refusal.message,
        path=path + "".join(reversed(refusal.steps)),
        code=refusal.code,
        hint=refusal.hint,
    )

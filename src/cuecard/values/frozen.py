"""Frozen data: what templates see in place of null, large integers, lists and mappings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

__all__ = ["METHOD_NAMES", "NULL", "BigInt", "FrozenList", "FrozenMap", "FrozenRecord", "Null"]

METHOD_NAMES = frozenset(
    name for kind in (dict, list) for name in dir(kind) if not name.startswith("_")
)
"""Names that the engine could find as a method of a plain container."""


class Null:
    """An absent value: prints nothing, is false, and loops over nothing."""

    __slots__ = ()

    def __str__(self) -> str:
        return ""

    def __repr__(self) -> str:
        return "None"

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Any:
        return iter(())

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Null)

    def __hash__(self) -> int:
        return hash(None)


NULL = Null()
"""What null becomes for the engine, whose own null prints `None`."""


class BigInt:
    """An integer beyond 64 bits, which the engine would round: it prints exactly."""

    __slots__ = ("_value",)

    def __init__(self, value: int) -> None:
        self._value = value

    def __str__(self) -> str:
        return str(self._value)

    __repr__ = __str__

    def __bool__(self) -> bool:
        return True

    def __int__(self) -> int:
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BigInt) and self._value == other._value

    def __lt__(self, other: object) -> bool:
        return self._value < int(other) if isinstance(other, (BigInt, int)) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self._value > int(other) if isinstance(other, (BigInt, int)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._value)


class _Hidden:
    """Hides a method of a builtin container, at no cost to the others."""

    def __get__(self, instance: object, owner: object = None) -> Any:
        raise AttributeError


class _BoundMethod:
    """A reading method of a frozen container. Uncalled it is like null: it prints nothing."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *arguments: Any) -> Any:
        return self._call(*arguments)

    __str__ = Null.__str__
    __repr__ = Null.__repr__
    __bool__ = Null.__bool__
    __iter__ = Null.__iter__


class _Method:
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __get__(self, instance: object, owner: object = None) -> Any:
        return _BoundMethod(partial(self._function, instance))


def _map_items(self: dict[Any, Any]) -> FrozenList:
    return FrozenList(dict.items(self))


def _map_keys(self: dict[Any, Any]) -> FrozenList:
    return FrozenList(dict.keys(self))


def _map_values(self: dict[Any, Any]) -> FrozenList:
    return FrozenList(dict.values(self))


def _map_get(self: dict[Any, Any], key: Any, default: Any = NULL) -> Any:
    return dict.get(self, key, default)


class FrozenList(list[Any]):
    """A list of which templates see `index` and `count`."""

    __slots__ = ()


class FrozenMap(dict[Any, Any]):
    """A mapping of which templates see `items`, `keys`, `values` and `get`."""

    __slots__ = ()


class FrozenRecord(FrozenList):
    """A named tuple: a list whose fields have names too."""

    def __init__(self, items: Iterable[Any], fields: Sequence[str]) -> None:
        super().__init__(items)
        self._fields = dict(zip(fields, self, strict=True))

    def __getattribute__(self, name: str) -> Any:
        # A field may have the name of a method, and comes first.
        fields: dict[str, Any] = super().__getattribute__("__dict__").get("_fields", {})
        return fields[name] if name in fields else super().__getattribute__(name)


def _guard(kind: type, builtin: type, readers: Mapping[str, Callable[..., Any]]) -> None:
    for name in dir(builtin):
        if not name.startswith("_"):
            setattr(kind, name, _Method(readers[name]) if name in readers else _Hidden())


_guard(
    FrozenMap,
    dict,
    {"items": _map_items, "keys": _map_keys, "values": _map_values, "get": _map_get},
)
_guard(FrozenList, list, {"index": list.index, "count": list.count})

"""Freezing: the context that a template sees is plain data, copied from the caller's.

The engine hands templates every public attribute of a Python object, so none may reach
it. A `Freezer` copies a value into null, `bool`, `int`, `float`, `str`, `list` and `dict`,
converts the types that people keep their data in, and refuses everything else with the
path of the value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from ..errors import ContextError
from ..profile import Limits
from .conversion import Conversion, RefusedError

__all__ = ["Freezer"]

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
    frozen value is kept with its encoding; a value that equals it, and encodes to the same
    bytes, is the same data, so its copy is used again. (Equality alone would take `True`
    for `1`, the bytes alone a named tuple for a list.) At most 256 KiB are kept a name.

    Args:
        limits: bounds on depth and number of values.
        guarded: whether containers must hide the methods of `dict` and `list`.
    """

    __slots__ = ("_guarded", "_kept", "_limits", "_seen")

    def __init__(self, limits: Limits, guarded: bool) -> None:
        self._limits = limits
        self._guarded = guarded
        self._seen: set[str] = set()
        # By name: the encoding, the plain data that it stands for, and those frozen.
        self._kept: dict[str, tuple[bytes, Any, Any]] = {}

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
            frozen = self._convert(name, value)
            self._seen.add(name)
            return frozen
        kept = self._kept.get(name)
        if kept is not None and kept[1] == value and kept[0] == _encoded(value):
            return kept[2]
        if not _is_plain(value, self._limits):
            return self._convert(name, value)
        copy, encoded = _copied(value)
        if encoded is None:
            return self._convert(name, value)
        # Null is `0xC0` in MessagePack, a byte that no UTF-8 text holds.
        frozen = self._convert(name, copy) if self._guarded or b"\xc0" in encoded else copy
        if len(encoded) <= _MAX_KEPT:
            self._kept[name] = encoded, copy, frozen
        return frozen

    def _convert(self, name: str, value: Any) -> Any:
        path = f"$.{name}"
        try:
            return Conversion(self._limits, self._guarded).freeze(value)
        except RefusedError as refusal:
            raise _context_error(refusal, path) from refusal.__cause__
        except RecursionError:
            raise ContextError(
                f"nested more than {self._limits.depth} levels deep", path=path, code="P703"
            ) from None


def _encoded(value: Any) -> bytes | None:
    try:
        return _codec().fingerprint(value)
    except Exception:
        return None


def _copied(value: Any) -> tuple[Any, bytes | None]:
    """A copy of plain data and its encoding, made in C; no encoding when it cannot be made.

    The copy stands only if it equals the value: keys that are no text do not survive the
    round trip through JSON. Integers of 19 digits and more are left to the slow path.
    """
    codec = _codec()
    try:
        encoded = codec.fingerprint(value)
        text = codec.encode_json(value)
        # `0xCF` marks large integers in MessagePack; as a part of text it is rare.
        if b"\xcf" in encoded and _MANY_DIGITS in text.translate(_ALL_DIGITS_ZERO):
            return None, None
        copy = codec.decode_json(text)
        return (copy, encoded) if copy == value else (None, None)
    except Exception:
        return None, None


_PLAIN = frozenset((str, int, float, bool, type(None), dict, list))
_CONTAINERS = frozenset((dict, list))


def _is_plain(value: Any, limits: Limits) -> bool:
    """Whether a value is lists and mappings of plain values, within the limits.

    It is walked level by level, so that a small value which holds itself in many places is
    found to be large before anything copies it.
    """
    level = [value]
    nodes = 0
    kinds: set[type] = set()
    for _ in range(limits.depth):
        following: list[Any] = []
        for container in level:
            items = container.values() if type(container) is dict else container
            nodes += len(items)
            kinds.update(map(type, items))
            following += [item for item in items if type(item) in _CONTAINERS]
        if nodes > limits.nodes or not kinds <= _PLAIN:
            return False
        if not following:
            return True
        level = following
    return False


def _context_error(refusal: RefusedError, path: str) -> ContextError:
    return ContextError(
        refusal.message,
        path=path + "".join(reversed(refusal.steps)),
        code=refusal.code,
        hint=refusal.hint,
    )

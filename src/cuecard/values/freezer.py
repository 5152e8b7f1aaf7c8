"""Freezing: the context that a template sees is plain data, copied from the caller's.

The engine hands templates every public attribute of a Python object, so none may reach
it. A `Freezer` copies a value into null, `bool`, `int`, `float`, `str`, `list` and `dict`,
converts the types that people keep their data in, and refuses everything else with the
path of the value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ..errors import ContextError
from ..profile import Limits
from .conversion import Conversion, RefusedError

__all__ = ["Freezer"]

_MAX_KEPT = 1 << 18


@lru_cache(maxsize=1)
def _encoder() -> Callable[[Any], bytes]:
    import msgspec

    return msgspec.msgpack.Encoder().encode


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
        # By name: the encoding, and the frozen data.
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
            frozen = self._convert(name, value)
            self._seen.add(name)
            return frozen
        kept = self._kept.get(name)
        if kept is not None and kept[1] == value and kept[0] == _encoded(value):
            return kept[1]
        frozen = self._convert(name, value)
        # What was converted does not equal its copy, and would be mistaken for it later.
        encoded = _encoded(value) if frozen == value else None
        if encoded is not None and len(encoded) <= _MAX_KEPT:
            self._kept[name] = encoded, frozen
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
        except MemoryError:
            raise ContextError("there is no memory for a copy", path=path, code="P704") from None


def _encoded(value: Any) -> bytes | None:
    """An encoding that tells data of different types apart; None for what it cannot hold.

    It is asked for only when the value is known to be within the limits: what a small value
    that holds itself in many places encodes to has no bound.
    """
    try:
        return _encoder()(value)
    except Exception:
        return None


def _context_error(refusal: RefusedError, path: str) -> ContextError:
    return ContextError(
        refusal.message,
        path=path + "".join(reversed(refusal.steps)),
        code=refusal.code,
        hint=refusal.hint,
    )

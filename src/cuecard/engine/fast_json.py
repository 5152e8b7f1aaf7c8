"""JSON in Python's default layout, written by msgspec where its bytes are sure to be the same.

It takes a third of the time of `json.dumps`. It is used once msgspec has been loaded by
something that needs it: loading it takes longer than a render.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Any, NamedTuple

from ..values.frozen import NULL, BigInt

__all__ = ["fast_json"]


class _Codec(NamedTuple):
    fingerprint: Any
    encode: Any
    encode_sorted: Any
    format: Any


def _plain(value: object) -> Any:
    if value is NULL:
        return None
    if isinstance(value, BigInt):
        return int(value)
    raise TypeError


@lru_cache(maxsize=1)
def _codec() -> _Codec:
    import msgspec

    return _Codec(
        msgspec.msgpack.Encoder(enc_hook=_plain).encode,
        msgspec.json.Encoder(enc_hook=_plain).encode,
        msgspec.json.Encoder(enc_hook=_plain, order="sorted").encode,
        msgspec.json.format,
    )


def fast_json(value: Any, sort_keys: bool) -> str | None:
    """The text that `json.dumps(value, ensure_ascii=False)` gives, or None when not sure.

    Args:
        value: frozen data.
        sort_keys: whether keys are sorted.
    """
    if "msgspec" not in sys.modules or isinstance(value, str):
        return None
    codec = _codec()
    try:
        # Floats are written differently; they are marked `0xCB` in MessagePack, a byte that
        # text may hold too, which only costs the speed.
        if b"\xcb" in codec.fingerprint(value):
            return None
        encoded = (codec.encode_sorted if sort_keys else codec.encode)(value)
        text: str = codec.format(encoded, indent=0).decode()
    except Exception:
        # Large integers, keys that are no text, data that is too deep: Python's writer knows.
        return None
    return text

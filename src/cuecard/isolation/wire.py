"""What travels between a program and its workers: frames of MessagePack, and nothing else.

A worker may be in the hands of a stranger's template, so what it sends is data of known
types and of bounded size; nothing of it is ever evaluated or unpickled.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from ..values import NULL, BigInt

__all__ = [
    "HEADER",
    "Answer",
    "Ask",
    "Failure",
    "Record",
    "Settings",
    "mended",
    "packed",
    "text_of",
    "unpacker",
]

HEADER = 4
"""Bytes in front of a frame: its length, the most significant first."""

_INTEGER, _RECORD, _TEXT = 1, 2, 3
_MAX_INTEGER = 1 << 12


class Settings(msgspec.Struct, frozen=True):
    """The first frame that a worker gets.

    Attributes:
        memory: bytes that it may map beyond what it has mapped when it is ready.
        alarm: seconds after which a call ends the worker, whoever may still be there.
        answer: bytes of its largest answer.
        preload: modules that it imports before it is ready.
    """

    memory: int
    alarm: float
    answer: int
    preload: tuple[str, ...] = ()


class Ask(msgspec.Struct, array_like=True):
    """A call: the operation as `module:function`, and its argument."""

    operation: str
    data: Any


class Failure(msgspec.Struct, array_like=True):
    """An error as data. `kind` is the name of its class, or what ended the call."""

    kind: str
    code: str = ""
    message: str = ""
    hint: str | None = None
    template: str | None = None
    span: tuple[int, int, int, int, int, int] | None = None
    line_text: str = ""
    variables: tuple[str, ...] = ()
    path: str = "$"
    reason: str = "internal"


class Answer(msgspec.Struct, array_like=True):
    """What came of a call.

    Attributes:
        value: what the operation returned.
        failure: the error that it raised instead.
        warnings: texts of the `FallbackWarning`s.
        worn: whether the worker has used so much memory that another should go on.
    """

    value: Any = None
    failure: Failure | None = None
    warnings: tuple[str, ...] = ()
    worn: bool = False


class Record:
    """A named tuple on its way: a list whose items have names."""

    __slots__ = ("fields", "items")

    def __init__(self, fields: tuple[str, ...], items: list[Any]) -> None:
        self.fields = fields
        self.items = items

    def __repr__(self) -> str:
        return repr(self.items)


def packed(value: Any) -> bytes:
    """A frame.

    Raises:
        TypeError, ValueError, OverflowError, RecursionError: it is no plain data.
    """
    body = _encoder.encode(value)
    return len(body).to_bytes(HEADER, "big") + body


def text_of(text: str) -> Any:
    """Text as it can be sent: lone surrogates are no UTF-8, and yet a file may give some."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return msgspec.msgpack.Ext(_TEXT, text.encode("utf-8", "surrogatepass"))
    return text


def mended(answer: Answer) -> Answer:
    """An answer that can be sent, though texts in it have lone surrogates."""
    failure = answer.failure
    if failure is not None:
        for name in ("message", "hint", "template", "line_text"):
            text = getattr(failure, name)
            setattr(failure, name, text and text.encode("utf-8", "replace").decode())
    answer.warnings = tuple(w.encode("utf-8", "replace").decode() for w in answer.warnings)
    answer.value = text_of(answer.value) if isinstance(answer.value, str) else answer.value
    return answer


def unpacker(kind: Any) -> Any:
    """A decoder of frames, without their header, that hold a value of a type."""
    return msgspec.msgpack.Decoder(kind, ext_hook=_unpack)


def _pack(value: Any) -> Any:
    if isinstance(value, BigInt):
        number = int(value)
        return msgspec.msgpack.Ext(
            _INTEGER, number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)
        )
    if isinstance(value, Record):
        return msgspec.msgpack.Ext(_RECORD, _encoder.encode((value.fields, value.items)))
    if value is NULL:
        return None
    raise TypeError(f"expected plain data, got `{type(value).__name__}`")


def _unpack(code: int, data: memoryview) -> Any:
    if code == _INTEGER and len(data) <= _MAX_INTEGER:
        return int.from_bytes(data, "big", signed=True)
    if code == _TEXT:
        return str(data, "utf-8", "surrogatepass")
    if code == _RECORD:
        fields, items = _record.decode(data)
        return _record_type(fields)(items)
    raise ValueError("unknown extension")


@lru_cache(maxsize=256)
def _record_type(fields: tuple[str, ...]) -> Any:
    return type("Record", (tuple,), {"_fields": fields})


_encoder = msgspec.msgpack.Encoder(enc_hook=_pack)
_record = unpacker(tuple[tuple[str, ...], list[Any]])

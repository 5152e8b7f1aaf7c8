"""Filters and functions of our own, as plain callables for the engine.

The engine hands an absent value over as Python's None; null is `NULL`. Every result is
bounded, and no message holds a value.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..profile import Limits
from ..values.frozen import NULL, BigInt
from .fast_json import fast_json
from .formatter import BIG_INTEGER, BoundedFormatter
from .meter import METER
from .refusals import AbsentError, FilterError

__all__ = ["filters", "functions"]

_CALL = 8
"""Steps that a call of one of our filters stands for."""

_MAX_KEPT = 1 << 20
"""Characters of JSON that are remembered; each entry counts as so many more:"""

_KEPT_ENTRY = 256


def filters(limits: Limits, *, strict: bool, sort_keys: bool) -> dict[str, Callable[..., Any]]:
    """The filters by name."""
    maker = _Filters(limits, strict, sort_keys)
    return {
        "tojson": maker.tojson,
        "json": maker.tojson,
        "raw": maker.raw,
        "xml_text": maker.xml_text,
        "indent": maker.indent,
        "format": maker.format,
        "__format": maker.str_format,
        "__wrapped": maker.before_wrapping,
    }


def functions() -> dict[str, Callable[..., Any]]:
    """The functions by name."""
    return {"raise_exception": _raise_exception}


def _raise_exception(message: object = "") -> NoReturn:
    raise FilterError("P205", f"template raised: {message}")


def _plain_json(value: object) -> Any:
    """What the JSON encoder asks for, for values that it does not know."""
    if isinstance(value, BigInt):
        return int(value)
    return None


class _Filters:
    def __init__(self, limits: Limits, strict: bool, sort_keys: bool) -> None:
        self._limits = limits
        self._strict = strict
        self._sort_keys = sort_keys
        self._encode = self._encoder(None, sort_keys, False, (", ", ": "))
        self._kept: dict[int, tuple[Any, str]] = {}
        self._kept_size = 0
        self._recurs = False
        self._keeps = True

    def _present(self, value: Any) -> Any:
        if value is None:
            if self._strict:
                raise AbsentError
            return NULL
        return value

    # JSON ------------------------------------------------------------------------------------

    @staticmethod
    def _encoder(
        indent: int | str | None, sort_keys: bool, ascii_only: bool, separators: tuple[str, str]
    ) -> Callable[[object], str]:
        return json.JSONEncoder(
            ensure_ascii=ascii_only,
            sort_keys=sort_keys,
            indent=indent,
            separators=separators,
            allow_nan=False,
            default=_plain_json,
        ).encode

    def tojson(
        self,
        value: Any,
        indent: Any = None,
        *,
        sort_keys: bool | None = None,
        ensure_ascii: bool = False,
        separators: Any = None,
    ) -> str:
        """JSON as Python's `json.dumps` writes it, with non-ASCII text kept as it is."""
        kept = self._kept.get(id(value))
        value = self._present(value)
        encode = self._encode
        plain = indent is None and separators is None and sort_keys is None and not ensure_ascii
        if plain and kept is not None and kept[0] is value:
            self._recurs = True
            return kept[1]
        if not plain:
            space = None if indent is None or indent is NULL else self._json_indent(indent)
            default = (", ", ": ") if space is None else (",", ": ")
            encode = self._encoder(
                space,
                self._sort_keys if sort_keys is None else bool(sort_keys),
                bool(ensure_ascii),
                self._separators(separators) if separators else default,
            )
        fast = fast_json(value, self._sort_keys) if plain else None
        try:
            text = encode(value) if fast is None else fast
        except (TypeError, ValueError):
            text = encode(_json_ready(value))
        except RecursionError:
            raise FilterError("P703", "the value is nested too deeply for JSON") from None
        # Python's own writer takes that much longer.
        METER.spend(_CALL + (len(text) >> (4 if fast is not None else 3)))
        if plain and self._keeps and isinstance(value, (dict, list)):
            self._keep(value, text)
        return text

    def _keep(self, value: object, text: str) -> None:
        """Remember the JSON of a container: frozen data never changes, and comes back as it is."""
        size = len(text) + _KEPT_ENTRY
        if size > _MAX_KEPT // 4:
            return
        self._kept_size += size
        if self._kept_size > _MAX_KEPT:
            self._kept.clear()
            self._kept_size = size
            # Where all is new at every render there is nothing to gain.
            self._keeps, self._recurs = self._recurs, False
            if not self._keeps:
                return
        # The value is kept along, so that no other can have its identity.
        self._kept[id(value)] = value, text

    def _json_indent(self, indent: Any) -> int | str:
        if isinstance(indent, str):
            if indent.strip():
                raise FilterError("P204", "`indent` must be a number or blanks")
            if len(indent) > self._limits.width:
                raise self._too_wide()
            return indent
        return self._width(indent, "indent")

    @staticmethod
    def _separators(separators: Any) -> tuple[str, str]:
        if (
            isinstance(separators, Sequence)
            and len(separators) == 2
            and all(isinstance(item, str) and len(item) <= 16 for item in separators)
        ):
            return separators[0], separators[1]
        raise FilterError("P204", "`separators` must be two short texts")

    # text --------------------------------------------------------------------------------------

    def raw(self, value: Any) -> Any:
        """The value as it is: nothing is ever escaped."""
        return self._present(value)

    def xml_text(self, value: Any) -> str:
        """Text for an XML-like block: `&`, `<` and `>` are escaped, quotes are not."""
        text = str(self._present(value))
        METER.spend(_CALL + (len(text) >> 6))
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    def indent(self, value: Any, width: Any = 4, first: bool = False, blank: bool = False) -> str:
        """Indent every line but the first; blank lines stay empty unless `blank`."""
        text = str(self._present(value))
        if isinstance(width, str):
            if len(width) > self._limits.width:
                raise self._too_wide()
            prefix = width
        else:
            prefix = " " * self._width(width, "indent")
        lines = text.split("\n")
        if len(text) + len(prefix) * len(lines) > self._limits.output:
            raise FilterError("P115", "the indented text is too large")
        METER.spend(_CALL + (len(text) + len(prefix) * len(lines) >> 4))
        rest = [prefix + line if line.strip() or blank else line for line in lines[1:]]
        head = prefix + lines[0] if first and (lines[0] or blank) else lines[0]
        return "\n".join((head, *rest))

    def before_wrapping(self, value: Any) -> Any:
        """The value, before the engine wraps its words: that takes the square of its length."""
        if isinstance(value, str):
            METER.spend(len(value) * len(value) >> 13)
        return NULL if value is None else value

    def _width(self, width: Any, name: str) -> int:
        if not isinstance(width, (int, float)) or width != int(width):
            raise FilterError("P204", f"`{name}` must be a whole number")
        if width < 0:
            raise FilterError("P204", f"`{name}` must not be negative")
        if width > self._limits.width:
            raise self._too_wide()
        return int(width)

    def _too_wide(self) -> FilterError:
        return FilterError(
            "P116", f"a width of more than {self._limits.width:,} characters is refused"
        )

    # formats -----------------------------------------------------------------------------------

    def format(self, value: Any, *arguments: Any, **named: Any) -> str:
        """Printf-style formatting, as Python's `%` does it, with bounded widths."""
        text = str(self._present(value))
        # A field may stand for the whole of an argument, again and again.
        fields = _PERCENT_WIDTHS.findall(text)
        METER.spend(_CALL * (1 + len(fields)) + (len(text) >> 4))
        METER.spend(sum(map(_printed_size, (*arguments, *named.values()))) * len(fields) >> 6)
        for key, width in fields:
            if "*" in width or any(
                len(n) > 9 or int(n) > self._limits.width for n in _NUMBERS.findall(width)
            ):
                raise self._too_wide()
            if "(" in key:
                raise FilterError("P204", "a key of a format may hold no bracket")
        try:
            return text % (named if named else tuple(arguments))
        except (TypeError, ValueError, KeyError, OverflowError):
            raise FilterError("P204", "the format and its arguments do not match") from None

    def str_format(self, value: Any, *arguments: Any, **named: Any) -> str:
        """`str.format` without attribute or item access, with bounded widths."""
        METER.spend(_CALL)
        if not isinstance(self._present(value), str):
            raise FilterError("P106", "only text has a method `format`")
        formatter = BoundedFormatter(self._limits.width)
        try:
            return formatter.vformat(value, arguments, named)
        except FilterError:
            raise
        except (ValueError, KeyError, IndexError, TypeError, OverflowError):
            raise FilterError("P204", "the format and its arguments do not match") from None


def _printed_size(value: Any) -> int:
    """About how many characters of work a value is to a format."""
    if isinstance(value, str):
        return len(value)
    return BIG_INTEGER if isinstance(value, BigInt) else 64


_PERCENT_WIDTHS = re.compile(r"%(?:\(([^)]*)\))?[-#0 +]*([\d*]*(?:\.[\d*]*)?).", re.DOTALL)
_NUMBERS = re.compile(r"\d+")


def _json_ready(value: Any) -> Any:
    """The same data as JSON can hold it: keys as text, and null for what is no number."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {_Key(_key_text(key)): _json_ready(item) for key, item in dict.items(value)}
    if isinstance(value, (list, tuple)):
        return [_json_ready(item) for item in value]
    return value


class _Key(str):
    """The text of a key, which equals itself alone: `1` and `"1"` read the same and are two."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def _key_text(key: Any) -> str:
    if isinstance(key, str):
        return key
    return "null" if key is None or key is NULL else json.dumps(key, default=_plain_json)

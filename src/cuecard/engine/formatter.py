"""`str.format` for templates: no look into the arguments, and bounded widths."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

from ..values.frozen import BigInt
from .meter import METER
from .refusals import FilterError

__all__ = ["BIG_INTEGER", "BoundedFormatter"]

BIG_INTEGER = 1 << 14
"""Characters of work that writing an integer of thousands of digits stands for."""

_NUMBERS = re.compile(r"\d+")


class BoundedFormatter(string.Formatter):
    """A formatter whose fields name arguments and nothing within them."""

    def __init__(self, width: int) -> None:
        self._width = width

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, str | int]:
        """The argument that a field names."""
        if "." in field_name or "[" in field_name:
            raise FilterError(
                "P108", "a format may not look into its arguments", "pass the attribute itself"
            )
        key: str | int = int(field_name) if field_name.isdecimal() else field_name
        return self.get_value(key, args, kwargs), key

    def format_field(self, value: Any, format_spec: str) -> str:
        """One argument, formatted."""
        if any(len(n) > 9 or int(n) > self._width for n in _NUMBERS.findall(format_spec)):
            raise FilterError("P116", f"a width of more than {self._width:,} characters is refused")
        if isinstance(value, BigInt):
            METER.spend(BIG_INTEGER >> 6)
            value = int(value)
        if not isinstance(value, (str, int, float)):
            value = str(value)
        text = str(super().format_field(value, format_spec))
        METER.spend(8 + (len(text) >> 6))
        return text

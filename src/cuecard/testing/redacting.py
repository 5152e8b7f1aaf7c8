"""Redacting: what of a turn's values is written down, and what never is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from ..values import NULL

__all__ = ["REDACTED", "SECRET_NAMES", "Redact", "Redaction"]

Redact = Callable[[str, Any], Any]
"""Takes the dotted name of a value, such as `user.email`, and the value; gives what to record."""

REDACTED = "[redacted]"
"""What takes the place of a text or a number that is not to be recorded."""

SECRET_NAMES = (
    "*access_key*",
    "*api_key*",
    "*authorization*",
    "*cookie*",
    "*credential*",
    "*passphrase*",
    "*passwd*",
    "*password*",
    "*private_key*",
    "*secret*",
    "*token*",
)
"""Names whose values are not recorded. `apiKey`, `API-KEY` and `api_key` count as one."""


class Redaction:
    """Makes a copy of plain data without what is not to be recorded.

    Args:
        secrets: patterns of names. What a value of such a name holds, at any depth, is
            replaced, text by text and number by number, so that its form stays.
        redact: is asked about every other value, from the outside in; a list's items have the
            list's name.
    """

    def __init__(self, secrets: Iterable[str], redact: Redact | None) -> None:
        patterns = tuple(_plain(pattern) for pattern in secrets)
        self._redact = redact
        # Names are few, and are asked about at every turn.
        self._is_secret = lru_cache(1024)(
            lambda name: any(fnmatchcase(_plain(name), pattern) for pattern in patterns)
        )

    def of(self, name: str, value: Any) -> Any:
        """What to record of a variable."""
        return self._named(name, name, value)

    def _named(self, name: str, path: str, value: Any) -> Any:
        return _scrubbed(value) if self._is_secret(name) else self._seen(path, value)

    def _seen(self, path: str, value: Any) -> Any:
        if self._redact is not None:
            value = self._redact(path, value)
        if isinstance(value, Mapping):
            return {
                key: self._named(str(key), f"{path}.{key}", item) for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._seen(path, item) for item in value]
        return _writable(value)


def _plain(name: str) -> str:
    return re.sub(r"[^\w*?]|_", "", name).lower()


def _scrubbed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _scrubbed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_scrubbed(item) for item in value]
    # Whether there is something at all decides branches of a template, and is no secret.
    kept = value is None or value is NULL or isinstance(value, bool) or value == ""
    return value if kept else REDACTED


def _writable(value: Any) -> Any:
    # JSON has no such numbers.
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value

"""File names from ids: readable, reversible, and never the same for two ids.

Small letters, digits, `-`, `_` and inner dots stay; every other character stands as `%` and
the hexadecimal digits of its UTF-8 bytes, capitals too: some file systems take `A` and `a`
for one. An id that is too long for a file name is shortened, and a digest of it follows `~`.
"""

from __future__ import annotations

import hashlib
import re
from urllib.parse import unquote

__all__ = ["id_of_name", "name_of_id"]

_ENCODED = re.compile(r"[^a-z0-9._-]")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)")
_MAX_NAME = 180
_KEPT = 100


def name_of_id(value: str) -> str:
    """The name, without a suffix, of the file or folder that belongs to an id."""
    name = _ENCODED.sub(_percent, value)
    if name.startswith(".") or _RESERVED.match(name):
        name = f"%{ord(name[0]):02x}{name[1:]}"
    if len(name) > _MAX_NAME:
        start = re.sub("%.?$", "", name[:_KEPT])
        return f"{start}~{hashlib.sha256(value.encode()).hexdigest()}"
    # Windows drops a dot at the end of a name.
    return f"{name[:-1]}%2e" if name.endswith(".") else name


def id_of_name(name: str) -> str | None:
    """The id that a name stands for; None when the name was shortened."""
    return None if "~" in name else unquote(name, errors="strict")


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in match[0].encode())

"""A bounded memory of rendered texts, so that what many parts share renders once a run."""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock

__all__ = ["RenderedTexts"]

_MOST = 16 << 20
"""Characters that are kept a segment, keys included; each entry counts as so many more:"""

_ENTRY = 256


class RenderedTexts:
    """Texts by the values that they were rendered with.

    When little of what is kept is asked for again, nothing more is kept.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._texts: dict[Hashable, str] = {}
        self._size = 0
        self._found = 0
        self._asked = 0
        self._keeps = True
        self._lock = Lock()

    @property
    def keeps(self) -> bool:
        """Whether it is of use to look here, and to keep anything."""
        return self._keeps

    def find(self, keys: list[Hashable]) -> list[str | None]:
        """The text of each key, or None."""
        texts = list(map(self._texts.get, keys))
        with self._lock:
            self._asked += len(keys)
            self._found += len(texts) - texts.count(None)
        return texts

    def keep(self, key: Hashable, text: str, size: int) -> None:
        """Remember a text; `size` is that of its key in characters."""
        size += len(text) + _ENTRY
        if size > self._most // 2 or not self._keeps:
            return
        with self._lock:
            self._size += size
            if self._size > self._most:
                self._texts = {}
                self._size = size
                self._keeps = self._found * 10 >= self._asked
                self._found = self._asked = 0
            if self._keeps:
                self._texts[key] = text

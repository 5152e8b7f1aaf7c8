"""A store that lives as long as the object: for tests, and for programs that keep nothing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import count
from threading import Lock

from ..stores import TextKey, TextStore, joined

__all__ = ["MemoryStore"]


class MemoryStore(TextStore):
    """Keeps notes, profiles and todo lists in memory. Threads may share it."""

    def __init__(self) -> None:
        # By key: the number of the write, which is the stamp, and the text.
        self._entries: dict[TextKey, tuple[int, str]] = {}
        self._writes = count(1)
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"MemoryStore(texts={len(self._entries)})"

    def read(self, key: TextKey) -> str | None:
        """The text under a key."""
        entry = self._entries.get(key)
        return None if entry is None else entry[1]

    def write(self, key: TextKey, text: str | None) -> None:
        """Replace the text under a key; None removes it."""
        with self._lock:
            if text is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = next(self._writes), text

    def append(self, key: TextKey, text: str) -> None:
        """Add to the text under a key, on a line of its own."""
        with self._lock:
            self._entries[key] = next(self._writes), joined(self.read(key), text)

    def stamps(self, keys: Sequence[TextKey]) -> list[Hashable]:
        """For each key the number of its last write; None where there is no text."""
        entries = map(self._entries.get, keys)
        return [None if entry is None else entry[0] for entry in entries]

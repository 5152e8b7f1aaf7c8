"""A bar on standard error that shows how far long work is; only a terminal gets one."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from ..layout import number

__all__ = ["Progress"]

_WAIT = 0.5
_STEP = 0.1
_WIDTH = 24


class Progress:
    """How far some work is. As a context manager it takes the bar away at the end.

    Args:
        what: what is done, such as `Checking`.
        total: how many steps there are.
    """

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._is_shown = sys.stderr.isatty()
        self._next = time.monotonic() + _WAIT
        self._drawn = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._drawn:
            self._draw("")

    def step(self) -> None:
        """One step more is done."""
        self._done += 1
        if self._is_shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + _STEP
            filled = _WIDTH * self._done // max(1, self._total)
            bar = "#" * filled + "." * (_WIDTH - filled)
            self._draw(f"{self._what} [{bar}] {number(self._done)} of {number(self._total)}")

    def _draw(self, text: str) -> None:
        end = "" if text else "\r"
        sys.stderr.write("\r" + text.ljust(self._drawn) + end)
        sys.stderr.flush()
        self._drawn = len(text)

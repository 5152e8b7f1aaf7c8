"""Refusals: what our own filters and functions raise, without any value and without a place."""

from __future__ import annotations

__all__ = ["AbsentError", "FilterError"]


class FilterError(Exception):
    """A filter or function refuses its input.

    Args:
        code: key of `cuecard.errors.CODES`.
        message: one sentence without any value.
        hint: the remedy, when known.
    """

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


class AbsentError(FilterError):
    """A filter met an absent value under a strict profile."""

    def __init__(self) -> None:
        super().__init__("P201", "undefined value")

"""A clock that stands until it is set."""

from __future__ import annotations

import datetime

__all__ = ["FixedClock"]

_START = datetime.datetime(2026, 1, 5, 9, 30, tzinfo=datetime.UTC)


class FixedClock:
    """A clock for `PromptRenderer(clock=…)` that stands until it is set.

    Args:
        now: the time that it shows, with its zone: Monday, 5 January 2026, 9:30 UTC by default.

    Attributes:
        now: the time that it shows.
    """

    def __init__(self, now: datetime.datetime = _START) -> None:
        self.now = now

    def __call__(self) -> datetime.datetime:
        """The time that it shows."""
        return self.now

    def __repr__(self) -> str:
        return f"FixedClock({self.now.isoformat()})"

    def forward(self, **time: float) -> None:
        """Set the clock forward, by `days`, `hours`, `minutes`, …, as `timedelta` takes them."""
        self.now += datetime.timedelta(**time)

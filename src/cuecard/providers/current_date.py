"""The date and the time of a render."""

from __future__ import annotations

import datetime
from typing import Any, ClassVar

from ..prompt import Scope
from .contract import ProviderRequest

__all__ = ["CurrentDateProvider"]


class CurrentDateProvider:
    """`current_date` and `current_time` in the user's zone, `current_datetime` in UTC.

    The date holds for a day, so that a prompt that shows no time is the same all day long.
    """

    name = "current_date"
    priority = 0
    instant = True
    provides: ClassVar = {
        "current_date": Scope.DAY,
        "current_time": Scope.TURN,
        "current_datetime": Scope.TURN,
    }

    def contribute(self, request: ProviderRequest) -> dict[str, Any]:
        """The date as `2026-11-29`, the time as `18:42`, both as `2026-11-29T18:42:00Z`.

        Only what is read is written out.
        """
        names = self.provides if request.names is None else request.names
        given = {}
        if "current_date" in names:
            given["current_date"] = request.local_time.date().isoformat()
        if "current_time" in names:
            given["current_time"] = request.local_time.isoformat()[11:16]
        if "current_datetime" in names:
            given["current_datetime"] = utc_text(request.now)
        return given


def utc_text(moment: datetime.datetime) -> str:
    """A moment in UTC, with 0, 3 or 6 digits after the second as it needs."""
    utc = moment.astimezone(datetime.UTC)
    digits = "seconds"
    if utc.microsecond:
        digits = "microseconds" if utc.microsecond % 1000 else "milliseconds"
    return utc.replace(tzinfo=None).isoformat(timespec=digits) + "Z"

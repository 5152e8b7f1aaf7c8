"""The meter: what a render does that the engine does not count as work.

The engine's fuel pays for most of what a template can ask for, by the size of the values. It
does not pay for comparisons, look-ups in text, methods of containers, and what our own
filters do in Python. The meter does, in the same coin: a step stands for some 64 characters.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .refusals import FilterError

__all__ = ["METER", "Meter", "metered"]


class Meter(threading.local):
    """What is left to the render of a thread. Renders of a thread never overlap.

    Attributes:
        left: steps.
        lists: how many lists were measured; those made from each other cost more each time.
        known: the sizes of containers by identity, with the container.
    """

    left = 0
    lists = 0

    def __init__(self) -> None:
        self.known: dict[int, tuple[object, int]] = {}

    def pays(self, steps: int) -> bool:
        """Pay for work; whether there was enough left."""
        self.left -= steps
        return self.left >= 0

    def spend(self, steps: int) -> None:
        """Pay for work that was done, or is about to be.

        Raises:
            FilterError: there is not enough left (P114).
        """
        if not self.pays(steps):
            raise FilterError(
                "P114",
                "the render handles more text and values than allowed",
                "loop over less, or raise `Limits.fuel`",
            )


METER = Meter()
"""The meter of whatever renders."""


def metered(render: Callable[..., str], fuel: int) -> Callable[..., str]:
    """A render that begins with a full meter."""

    def run(name: str, /, **values: Any) -> str:
        METER.left = fuel
        METER.lists = 0
        if METER.known:
            METER.known = {}
        return render(name, **values)

    return run

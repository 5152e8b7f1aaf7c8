"""Sizes: whether plain data is within the limits, found without walking much beyond them."""

from __future__ import annotations

from typing import Any

from ..profile import Limits

__all__ = ["oversize"]


def oversize(value: Any, limits: Limits) -> str | None:
    """The code of the limit that plain data exceeds; None when it exceeds none.

    Shared parts count each time, as they would be printed. The data is walked level by
    level, so that no more is looked at than the limits allow, twice.
    """
    level = [value]
    nodes = characters = 0
    for _ in range(limits.depth + 1):
        following: list[Any] = []
        for item in level:
            if isinstance(item, str):
                characters += len(item)
            elif isinstance(item, dict):
                nodes += len(item)
                following.extend(dict.values(item))
            elif isinstance(item, (list, tuple)):
                nodes += len(item)
                following.extend(item)
            if nodes > limits.nodes:
                return "P704"
        if characters > limits.output:
            return "P115"
        if not following:
            return None
        level = following
    return "P703"

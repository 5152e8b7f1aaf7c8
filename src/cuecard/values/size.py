"""Sizes: whether plain data is within the limits, found without walking much beyond them."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..profile import Limits

__all__ = ["Size", "size_of"]


class Size(NamedTuple):
    """How much plain data is.

    Attributes:
        excess: the code of the limit that it exceeds; None when it exceeds none.
        steps: about how much work it is to walk, a step being some 64 characters.
    """

    excess: str | None
    steps: int


def size_of(value: Any, limits: Limits) -> Size:
    """The size of plain data.

    Shared parts count each time, as they would be printed. The data is walked level by
    level, so that no more is looked at than the limits allow, twice.
    """
    if isinstance(value, str):
        return Size("P115" if len(value) > limits.output else None, 1 + (len(value) >> 6))
    level = [value]
    nodes = containers = characters = 0
    for _ in range(limits.depth + 1):
        following: list[Any] = []
        for item in level:
            if isinstance(item, str):
                characters += len(item)
            elif isinstance(item, dict):
                nodes += len(item)
                containers += 1
                following.extend(dict.values(item))
            elif isinstance(item, (list, tuple)):
                nodes += len(item)
                containers += 1
                following.extend(item)
            if nodes > limits.nodes:
                return Size("P704", nodes)
        steps = 1 + 14 * containers + 2 * nodes + (characters >> 6)
        if characters > limits.output:
            return Size("P115", steps)
        if not following:
            return Size(None, steps)
        level = following
    return Size("P703", steps)

"""Scopes: how long a value holds, and so how long the text that it makes stays the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum

__all__ = ["Scope", "widest"]


class Scope(IntEnum):
    """How long a value holds; a later one changes more often."""

    STATIC = 0
    """As long as the agent's definition."""

    SESSION = 1
    """As long as the conversation."""

    DAY = 2
    """Until midnight."""

    TURN = 3
    """For one turn."""


def widest(names: Iterable[str], scopes: Mapping[str, Scope]) -> Scope:
    """The scope of text that is made from these names: that of the one that changes most.

    A name without a scope may change at every turn; text without names never does.
    """
    return max((scopes.get(name, Scope.TURN) for name in names), default=Scope.STATIC)

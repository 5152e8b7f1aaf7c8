"""Costs: what model providers' prompt caches save, by rules that are kept as data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

__all__ = ["CacheRule", "cache_rules", "saving"]


class CacheRule(NamedTuple):
    """How a provider caches the front of a prompt.

    Attributes:
        provider: the provider's name.
        model: which of its models.
        minimum: tokens below which nothing is cached.
        step: the cached front is a multiple of so many tokens.
        write: price of a token that is written to the cache, as a multiple of an uncached one.
        read: price of a token that is read from the cache, as a multiple of an uncached one.
        checked: the day on which this was checked, `YYYY-MM`.
        note: what else matters.
    """

    provider: str
    model: str
    minimum: int
    step: int
    write: float
    read: float
    checked: str
    note: str = ""


@lru_cache(maxsize=1)
def cache_rules() -> tuple[CacheRule, ...]:
    """The rules of the model providers, as the package knows them."""
    text = files(__package__).joinpath("cache_rules.json").read_text("utf-8")
    data = json.loads(text)
    return tuple(CacheRule(**rule, checked=data["checked"]) for rule in data["rules"])


def saving(rule: CacheRule, turns: Sequence[tuple[int, int]]) -> float:
    """The part of a system prompt's cost that a cache saves over a series of turns.

    Turns follow each other before a cache entry expires. What is not read is written.

    Args:
        rule: the provider's rule.
        turns: of each turn the tokens of the prompt, and those of its front that are the
            same as at the turn before (0 at the first).

    Returns:
        From 0 (nothing) towards 1; below 0 where writing costs more than reading saves.
    """
    plain = sum(total for total, _ in turns)
    if not plain:
        return 0.0
    paid = sum(_price(rule, total, common) for total, common in turns)
    return 1 - paid / plain


def _price(rule: CacheRule, total: int, common: int) -> float:
    if total < rule.minimum:
        return float(total)
    read = common - common % rule.step if common >= rule.minimum else 0
    return read * rule.read + (total - read) * rule.write

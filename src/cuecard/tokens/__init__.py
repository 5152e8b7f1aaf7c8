"""Tokens: counting them, and what model providers' caches make of them."""

from .costs import CacheRule, cache_rules, saving
from .counters import TokenCounter, estimate, find_counter

__all__ = ["CacheRule", "TokenCounter", "cache_rules", "estimate", "find_counter", "saving"]

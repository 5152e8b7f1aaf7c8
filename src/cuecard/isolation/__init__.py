"""Isolation: templates of strangers, rendered in worker processes that may be lost."""

from .isolation import Isolation

__all__ = ["Isolation"]

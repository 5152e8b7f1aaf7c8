"""The command `cuecard`: arguments and printing only."""

from .app import main

__all__ = ["main"]

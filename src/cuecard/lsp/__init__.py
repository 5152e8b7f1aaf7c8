"""The language server: what `cuecard check` knows, while a prompt is written in an editor."""

from .starting import serve

__all__ = ["serve"]

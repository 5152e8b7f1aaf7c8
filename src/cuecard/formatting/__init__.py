"""Formatting: one form for what stands inside tags; the rendered text stays as it is."""

from .templates import format_template

__all__ = ["format_template"]

"""The renderer: the system prompt for this turn, from a template and providers."""

from .renderer import PromptRenderer

__all__ = ["PromptRenderer"]

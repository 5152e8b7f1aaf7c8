"""The renderer: the system prompt for this turn, from a template and providers."""

from .observing import Observed, Observer
from .renderer import PromptRenderer

__all__ = ["Observed", "Observer", "PromptRenderer"]

"""Templates: read once, checked, compiled, rendered, traced and bound."""

from .template import Template, render

__all__ = ["Template", "render"]

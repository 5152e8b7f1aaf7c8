"""Templates: read once, checked, compiled, rendered, traced and bound."""

from .cached import render
from .template import Template

__all__ = ["Template", "render"]

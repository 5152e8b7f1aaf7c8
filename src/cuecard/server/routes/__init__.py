"""Routes: what can be asked of the service, one file for each kind of thing."""

from .agents import agents
from .health import health
from .memory import memory
from .page import page
from .templates import templates

__all__ = ["agents", "health", "memory", "page", "templates"]

"""The environment of a prompt: facts about the machine on which an agent's commands run."""

from .probe import DEFAULT_TOOLS, probe_environment

__all__ = ["DEFAULT_TOOLS", "probe_environment"]

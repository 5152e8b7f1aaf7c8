"""Agent files: Markdown with a header that says who the agent is, and a body that is its prompt."""

from .definition import AgentDefinition
from .folder import load_agents
from .inputs import Filled, Input, fill
from .reading import load_agent, parse_agent, read_agent
from .summary import AgentSummary, summarize
from .writing import render_agent

__all__ = [
    "AgentDefinition",
    "AgentSummary",
    "Filled",
    "Input",
    "fill",
    "load_agent",
    "load_agents",
    "parse_agent",
    "read_agent",
    "render_agent",
    "summarize",
]

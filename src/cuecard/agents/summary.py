"""What there is to know of an agent before it runs: its variables, its size, its problems."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..errors import PromptError
from ..source import Diagnostic
from ..template import Template
from .definition import AgentDefinition

__all__ = ["AgentSummary", "summarize"]


class AgentSummary(NamedTuple):
    """An agent at a glance.

    Attributes:
        agent: the definition.
        required: the variables that a render cannot do without.
        optional: the other variables that the template reads or the header declares.
        problems: what was noticed in the header, and why the template cannot be rendered.
    """

    agent: AgentDefinition
    required: tuple[str, ...]
    optional: tuple[str, ...]
    problems: tuple[Diagnostic, ...]

    def data(self) -> dict[str, Any]:
        """The summary as data for programs."""
        agent = self.agent
        return {
            "name": agent.name,
            "description": agent.description,
            "path": str(agent.path) if agent.path is not None else None,
            "model": agent.model,
            "tools": None if agent.tools is None else list(agent.tools),
            "profile": agent.profile,
            "required": list(self.required),
            "optional": list(self.optional),
            "characters": len(agent.system_prompt),
            "version": agent.version,
            "problems": [problem.data() for problem in self.problems],
        }


def summarize(agent: AgentDefinition) -> AgentSummary:
    """An agent's variables and problems; its template is read, and nothing is rendered.

    A declared input is required when its declaration says so, another variable when the
    template cannot do without it.
    """
    try:
        template = Template(agent.source, profile=agent.profile_or())
        error = template.failure
    except PromptError as fault:
        template, error = None, fault
    read = template.variables if template is not None else frozenset()
    required = template.required if template is not None else frozenset()
    declared = {entry.name for entry in agent.inputs}
    needed = {e.name for e in agent.inputs if e.required} | (required - declared)
    problems = agent.diagnostics if error is None else (*agent.diagnostics, error.diagnostic())
    return AgentSummary(
        agent, tuple(sorted(needed)), tuple(sorted((read | declared) - needed)), problems
    )

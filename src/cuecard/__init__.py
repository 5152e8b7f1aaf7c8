"""Render the system prompt of an LLM agent, before every turn, from a template and live context.

The public names are listed in `__all__`; `docs/design.md` says how they fit together.

PYTEST_DONT_REWRITE: pytest loads the plugin of this package, and there is nothing to rewrite.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    ContextError,
    FallbackWarning,
    MissingExtraError,
    PromptError,
    ProviderError,
    RenderError,
    SpawnError,
    SpecError,
    StoreError,
    TemplateError,
    TemplateLimitError,
    TemplateNotFoundError,
    TemplateRaisedError,
    TemplateSyntaxError,
    UndefinedVariableError,
    UnknownNameError,
)
from .files import Folder
from .profile import LIVE, MARKDOWN, OPERATOR, STRICT, Limits, Profile
from .prompt import Block, Prompt, PromptDiff, Scope, Segment
from .source import Diagnostic, Found, Span
from .template import Template, render

if TYPE_CHECKING:
    from . import markdown, operator
    from .agents import AgentDefinition, load_agent, load_agents, parse_agent
    from .isolation import Isolation
    from .lint import lint
    from .operator import slots_from_prompt
    from .providers import ProviderRequest, provider
    from .renderer import PromptRenderer
    from .skills import Skill, discover_skills, skills_catalog
    from .tools import ToolSpec

__version__ = "0.1.0"

__all__ = [
    "LIVE",
    "MARKDOWN",
    "OPERATOR",
    "STRICT",
    "AgentDefinition",
    "Block",
    "ContextError",
    "Diagnostic",
    "FallbackWarning",
    "Folder",
    "Found",
    "Isolation",
    "Limits",
    "MissingExtraError",
    "Profile",
    "Prompt",
    "PromptDiff",
    "PromptError",
    "PromptRenderer",
    "ProviderError",
    "ProviderRequest",
    "RenderError",
    "Scope",
    "Segment",
    "Skill",
    "Span",
    "SpawnError",
    "SpecError",
    "StoreError",
    "Template",
    "TemplateError",
    "TemplateLimitError",
    "TemplateNotFoundError",
    "TemplateRaisedError",
    "TemplateSyntaxError",
    "ToolSpec",
    "UndefinedVariableError",
    "UnknownNameError",
    "discover_skills",
    "lint",
    "load_agent",
    "load_agents",
    "markdown",
    "operator",
    "parse_agent",
    "provider",
    "render",
    "skills_catalog",
    "slots_from_prompt",
]

# What a program that only renders does not need is loaded when it is asked for.
_LATER = {
    "AgentDefinition": "agents",
    "Isolation": "isolation",
    "PromptRenderer": "renderer",
    "ProviderRequest": "providers",
    "Skill": "skills",
    "ToolSpec": "tools",
    "discover_skills": "skills",
    "load_agent": "agents",
    "load_agents": "agents",
    "parse_agent": "agents",
    "provider": "providers",
    "skills_catalog": "skills",
    "slots_from_prompt": "operator",
}
_ROOMS = frozenset(("batch", "lint", "markdown", "operator"))


if not TYPE_CHECKING:  # with it, a checker would take any name

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return import_module(f".{name}", __name__)
        room = _LATER.get(name)
        if room is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f".{room}", __name__), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

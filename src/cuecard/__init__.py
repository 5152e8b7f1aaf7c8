"""Render the system prompt of an LLM agent, before every turn, from a template and live context.

The public names are listed in `__all__`; `docs/design.md` says how they fit together.
"""

from . import markdown, operator
from .errors import (
    ContextError,
    FallbackWarning,
    MissingExtraError,
    PromptError,
    ProviderError,
    RenderError,
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
from .operator import slots_from_prompt
from .profile import LIVE, MARKDOWN, OPERATOR, STRICT, Limits, Profile
from .prompt import Block, Prompt, PromptDiff, Scope, Segment
from .source import Diagnostic, Span
from .template import Template, render

__version__ = "0.1.0"

__all__ = [
    "LIVE",
    "MARKDOWN",
    "OPERATOR",
    "STRICT",
    "Block",
    "ContextError",
    "Diagnostic",
    "FallbackWarning",
    "Folder",
    "Limits",
    "MissingExtraError",
    "Profile",
    "Prompt",
    "PromptDiff",
    "PromptError",
    "ProviderError",
    "RenderError",
    "Scope",
    "Segment",
    "Span",
    "SpecError",
    "StoreError",
    "Template",
    "TemplateError",
    "TemplateLimitError",
    "TemplateNotFoundError",
    "TemplateRaisedError",
    "TemplateSyntaxError",
    "UndefinedVariableError",
    "UnknownNameError",
    "markdown",
    "operator",
    "render",
    "slots_from_prompt",
]

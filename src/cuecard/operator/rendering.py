"""Rendering a system prompt for one task: any mistake fails, and says what it is."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..agents import AgentDefinition
from ..errors import PromptError, RenderError
from ..profile import OPERATOR
from ..source import Source
from ..template import Template, render

__all__ = ["render_system"]

_logger = logging.getLogger("cuecard.operator")


def render_system(template: str | AgentDefinition, slots: Any) -> str:
    """Render an agent's system prompt for one task, strictly.

    Args:
        template: the agent's system prompt; or the agent, whose declared inputs are then
            held against the slots first. A slot that no input declares is logged.
        slots: the slots; a value that is no mapping is bound to the name `value`.

    Raises:
        RenderError: `template render failed: KIND: message`; its `__cause__` is the error
            with the code, the place and the hint.
    """
    try:
        if isinstance(template, AgentDefinition):
            return _render_agent(template, slots)
        return render(template, slots, profile=OPERATOR)
    except PromptError as error:
        raise _failure(error) from error


def _render_agent(agent: AgentDefinition, slots: Any) -> str:
    source = agent.source
    template = _template(source.text, source.name, source.first_line)
    if agent.inputs and isinstance(slots, Mapping):
        filled = agent.fill(slots, guarded=template.optional)
        for finding in filled.diagnostics:
            _logger.warning("%s", finding)
        slots = filled.context
    return template.render(slots)


@lru_cache(maxsize=256)
def _template(text: str, name: str, first_line: int) -> Template:
    return Template(Source(text, name, first_line=first_line), profile=OPERATOR)


def _failure(error: PromptError) -> RenderError:
    place = f" (at {error.place})" if error.place else ""
    failure = RenderError(
        f"template render failed: {error.kind}: {error.message}{place}",
        code=error.code,
        hint=error.hint,
    )
    failure.span, failure.template = error.span, error.template
    failure.line_text = error.line_text
    return failure

"""OpenAI Agents: the prompt of an `Agent`, by `Agent(instructions=…)`.

The framework calls a function of its run context and the agent before every call of a model.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..agents import AgentDefinition
from ..renderer import PromptRenderer
from .needs import unusable
from .turns import ToolForm, Turns

if TYPE_CHECKING:
    from agents import Agent, RunContextWrapper

__all__ = ["instructions"]

_PACKAGE = "openai-agents>=0.3"

_function_form = attrgetter("name", "description", "params_json_schema")


def instructions(
    renderer: PromptRenderer,
    definition: AgentDefinition | str,
    *,
    context: Callable[[RunContextWrapper[Any]], Any] | None = None,
    tools: bool = True,
) -> Callable[[RunContextWrapper[Any], Agent[Any]], Coroutine[Any, Any, str]]:
    """The function for `Agent(instructions=…)`, which renders the prompt of each turn.

    Args:
        renderer: renders the prompts.
        definition: the agent; or a template alone.
        context: says whom a run is for: a function, or coroutine function, from the run
            context to a mapping with `session`, `auth` and `extra_vars`, each of which may be
            left out. By default what was passed as `Runner.run(context=…)` is the session.
        tools: whether the agent's tools are the variable `tools`, in place of what the
            renderer and the definition know of tools.

    Returns:
        A coroutine function of exactly two parameters, the run context and the agent.

    Raises:
        MissingExtraError: the package is not installed, or too old (P807).
    """
    _check_version()
    turns = Turns(renderer, definition, context or _context, tools=tools)

    async def render(ctx: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        return await turns.text(ctx, lambda: _tools(ctx, agent))

    return render


def _context(ctx: RunContextWrapper[Any]) -> dict[str, Any]:
    return {"session": ctx.context}


async def _tools(ctx: RunContextWrapper[Any], agent: Agent[Any]) -> list[ToolForm]:
    """The tools that the model gets, in its order: those of MCP servers come first."""
    forms = [_form(tool) for tool in await agent.get_mcp_tools(ctx)] if agent.mcp_servers else []
    for tool in agent.tools:
        enabled = getattr(tool, "is_enabled", True)
        if callable(enabled):
            enabled = enabled(ctx, agent)
            if inspect.isawaitable(enabled):
                enabled = await enabled
        if enabled and not getattr(tool, "defer_loading", False):
            forms.append(_form(tool))
    return forms


def _form(tool: Any) -> ToolForm:
    try:
        return _function_form(tool)
    except AttributeError:  # a tool that the provider of the model runs
        return tool.name, getattr(tool, "description", None), None


def _check_version() -> None:
    try:
        from agents import Agent
    except ImportError as error:
        raise unusable(error, _PACKAGE, module="agents", extra="openai-agents") from None
    if not all(hasattr(Agent, name) for name in ("get_system_prompt", "get_mcp_tools")):
        missing = ImportError(name="agents")
        raise unusable(missing, _PACKAGE, module="agents", extra="openai-agents")

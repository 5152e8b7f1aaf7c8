"""Pydantic AI: the prompt of an `Agent`, in parts of which the stable ones come first.

The framework joins the parts of its instructions by a blank line, and puts those that are not
`dynamic` first. So a prompt is cut at its blank lines, and never put in another order.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Coroutine, Iterable
from copy import copy
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..agents import AgentDefinition
from ..prompt import Form, Prompt, Scope
from ..renderer import PromptRenderer
from ..scanner import has_tags
from ..source import Diagnostic, Found
from .needs import unusable
from .turns import ToolForm, Turns

if TYPE_CHECKING:
    from pydantic_ai import InstructionPart, RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.models import ModelRequestContext

    Context: TypeAlias = Callable[[RunContext[Any]], Any]
    Instruction: TypeAlias = Callable[[RunContext[Any]], Coroutine[Any, Any, str]]

__all__ = ["capability", "instruction", "instructions"]

_logger = logging.getLogger("cuecard.adapters")

_GAP = "\n\n"
_END = "\N{END OF TEXT}"
_form = attrgetter("name", "description", "parameters_json_schema")
_TRIMS = re.compile(r"\{[%{#]-")


def instructions(
    renderer: PromptRenderer,
    definition: AgentDefinition | str,
    *,
    context: Context | None = None,
    tools: bool = True,
) -> Found[InstructionPart | Instruction]:
    """The parts for `Agent(instructions=…)`: a static one, and a function for the rest.

    The static part is the front of the prompt that reads nothing but what holds as long as
    the definition; it is rendered now. The function renders the rest before every request.

    Args:
        renderer: renders the prompts.
        definition: the agent; or a template alone.
        context: says whom a run is for: a function, or coroutine function, from the run
            context to a mapping with `session`, `auth` and `extra_vars`, each of which may be
            left out. By default the conversation is the session, and `deps` are `auth`.
        tools: whether the agent's tools are the variable `tools`, in place of what the
            renderer and the definition know of tools.

    Returns:
        The parts, and as `diagnostics` what keeps text that holds out of the static one.

    Raises:
        MissingExtraError: the package is not installed, or too old (P807).
        PromptError: the template or its front fails, and the profile does not fall back.
    """
    _check_version()
    from pydantic_ai import InstructionPart

    turns = Turns(renderer, definition, context or _context, tools=tools)
    front = _front(turns)
    late = _report(turns)
    if front is None:
        return Found([_function(turns)], late)
    if front.is_whole:
        return Found([InstructionPart(front.text)])
    return Found([InstructionPart(front.text), _function(turns, front.text + _GAP)], late)


def instruction(
    renderer: PromptRenderer,
    definition: AgentDefinition | str,
    *,
    context: Context | None = None,
    tools: bool = True,
) -> Instruction:
    """One function for the whole prompt, to be given to the decorator `agent.instructions`.

    Args:
        renderer: as `instructions` takes it, as the others are.
        definition: the agent; or a template alone.
        context: says whom a run is for.
        tools: whether the agent's tools are the variable `tools`.

    Raises:
        MissingExtraError: the package is not installed, or too old (P807).
        TemplateError: the template is invalid, and the profile does not fall back.
    """
    _check_version()
    return _function(Turns(renderer, definition, context or _context, tools=tools))


def capability(
    renderer: PromptRenderer,
    definition: AgentDefinition | str,
    *,
    context: Context | None = None,
    tools: bool = True,
) -> AbstractCapability[Any]:
    """The whole prompt by `Agent(capabilities=[…])`, in a part for each of its blocks.

    What holds for the definition, the session or the day is static, and tools are those of
    the request. The parts come before other instructions of their kind.

    Args:
        renderer: as `instructions` takes it, as the others are.
        definition: the agent; or a template alone.
        context: says whom a run is for.
        tools: whether the agent's tools are the variable `tools`.

    Raises:
        MissingExtraError: the package is not installed, or too old (P807).
        TemplateError: the template is invalid, and the profile does not fall back.
    """
    _check_version()
    from pydantic_ai import InstructionPart
    from pydantic_ai.capabilities import AbstractCapability

    turns = Turns(renderer, definition, context or _context, tools=tools)
    _report(turns)

    class PromptCapability(AbstractCapability[Any]):
        """Puts the prompt before the instructions of each request."""

        async def before_model_request(
            self, ctx: RunContext[Any], request_context: ModelRequestContext
        ) -> ModelRequestContext:
            request = request_context.model_request_parameters

            async def offered() -> list[ToolForm]:
                return _forms(request.function_tools)

            prompt = await turns.prompt(ctx, offered)
            parts = [InstructionPart(text, dynamic=dynamic) for text, dynamic in _parts(prompt)]
            if request.instruction_parts:
                parts = InstructionPart.sorted([*parts, *request.instruction_parts])
            # A third of the time of `replace`, which passes each of its many fields again.
            request_context.model_request_parameters = changed = copy(request)
            changed.instruction_parts = parts
            return request_context

    return PromptCapability()


# the run ---------------------------------------------------------------------------------------


def _context(ctx: RunContext[Any]) -> dict[str, Any]:
    return {"session": ctx.conversation_id, "auth": ctx.deps}


def _function(turns: Turns[RunContext[Any]], sent: str = "") -> Instruction:
    """Renders the prompt, but for the beginning that is sent already."""

    async def render(ctx: RunContext[Any]) -> str:
        async def offered() -> list[ToolForm]:
            return _forms(ctx.tool_manager.tool_defs if ctx.tool_manager is not None else ())

        text = await turns.text(ctx, offered)
        if text.startswith(sent):
            return text[len(sent) :]
        _logger.warning("the static part of a prompt is not its front now; it is sent besides")
        return text

    return render


def _forms(tools: Iterable[Any]) -> list[ToolForm]:
    return [_form(tool) for tool in tools if not tool.defer_loading]


# parts -----------------------------------------------------------------------------------------


def _parts(prompt: Prompt) -> list[tuple[str, bool]]:
    """The texts of a prompt's blocks, cut at blank lines, and whether each may change."""
    text, start, end = prompt.text, 0, 0
    parts: list[tuple[str, bool]] = []
    for block in prompt.blocks():
        end += len(block.text)
        if block.scope is Scope.TURN or end == len(text):
            parts.append((text[start:], block.scope is Scope.TURN))
            break
        cut = _cut(text, start, end)
        if cut is not None:
            parts.append((text[start:cut], False))
            start = cut + len(_GAP)
    return [part for part in parts if part[0].strip()]


def _cut(text: str, start: int, end: int) -> int | None:
    """The last blank line that ends no later than `end`, and follows text."""
    cut = text.rfind(_GAP, start, end)
    while cut > start and text[cut - 1].isspace():
        cut = text.rfind(_GAP, start, cut + 1)
    return cut if cut > start and text[start:cut].strip() else None


def _segments(turns: Turns[Any]) -> tuple[Form, ...]:
    """The segments of the template, and how long each holds; nothing is rendered."""
    template = turns.template()
    if template.failure is not None or not has_tags(template.source.text):
        return ()
    scopes = turns.renderer.plan(turns.definition).scopes
    scoped = template.bind({}, {**scopes, "tools": Scope.STATIC})
    return scoped._outline_for(scoped._current(), {}).forms


class _Front(NamedTuple):
    """The beginning of a prompt that holds as long as the definition."""

    text: str
    is_whole: bool = False


def _front(turns: Turns[Any]) -> _Front | None:
    """The front up to its last blank line, or the whole prompt."""
    source = turns.template().source.text
    end = _steady_end(turns) if has_tags(source) else len(source)
    if not end:
        return None
    prompt = turns.renderer.prompt(_beginning(turns.definition, source[:end] + _END))
    if any(found.severity == "warning" for found in prompt.diagnostics):
        return None
    text = prompt.text.partition(_END)[0]
    if end == len(source):
        return _Front(text, is_whole=True)
    if _TRIMS.match(source, end):
        text = text.rstrip()
    cut = _cut(text, 0, len(text))
    return None if cut is None else _Front(text[:cut])


def _steady_end(turns: Turns[Any]) -> int:
    """Where the part of the template ends whose values hold as long as the definition."""
    owners, end = turns.renderer.plan(turns.definition).owners, 0
    for segment in _segments(turns):
        # What has a stamp may change, and the tools are known only in a run.
        known = segment.variables <= owners.keys() - {"tools"}
        if segment.scope is not Scope.STATIC or not known:
            break
        if any(owners[name].stamp is not None for name in segment.variables):
            break
        end = segment.span.end
    return end


def _beginning(definition: AgentDefinition | str, text: str) -> AgentDefinition | str:
    if isinstance(definition, str):
        return text
    return replace(definition, system_prompt=text, inputs=())


def _report(turns: Turns[Any]) -> list[Diagnostic]:
    """Say which text holds but follows what changes, so that it cannot be static."""
    segments = _segments(turns)
    first = next((n for n, each in enumerate(segments) if each.scope is Scope.TURN), None)
    if first is None:
        return []
    template = turns.template()
    texts = [template.source.text[each.span.start : each.span.end] for each in segments]
    late = sum(
        len(text.strip())
        for text, each in zip(texts[first:], segments[first:], strict=True)
        if each.scope is not Scope.TURN
    )
    if not late:
        return []
    names = ", ".join(f"`{name}`" for name in sorted(segments[first].variables))
    finding = Diagnostic(
        "P511",
        f"{late:,} characters that hold come after {names}, and are sent as changing text",
        segments[first].span,
        template.name,
        "info",
        "put what changes at the end of the template",
    )
    _logger.info("%s", finding)
    return [finding]


def _check_version() -> None:
    package, extra = "pydantic-ai-slim>=2.68", "pydantic-ai"
    try:
        from pydantic_ai import InstructionPart
        from pydantic_ai.capabilities import AbstractCapability
    except ImportError as error:
        raise unusable(error, package, module="pydantic_ai", extra=extra) from None
    if not hasattr(AbstractCapability, "before_model_request") or not hasattr(
        InstructionPart, "sorted"
    ):
        missing = ImportError(name="pydantic_ai")
        raise unusable(missing, package, module="pydantic_ai", extra=extra)

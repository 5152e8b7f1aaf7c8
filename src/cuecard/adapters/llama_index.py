"""A prompt template for LlamaIndex, in the place of its `RichPromptTemplate`.

Importing this module imports LlamaIndex: a template is a model of its own base class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..agents import AgentDefinition
from ..catalog import slots_of
from ..profile import STRICT
from ..prompt import Prompt
from ..renderer import PromptRenderer
from .needs import unusable

try:
    import llama_index  # noqa: F401 - so that its own absence is known
    from llama_index.core.base.llms.types import (
        CacheControl,
        CachePoint,
        ChatMessage,
        ContentBlock,
        TextBlock,
    )
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.prompts.base import BasePromptTemplate
    from llama_index.core.types import BaseOutputParser
except ImportError as error:
    raise unusable(
        error, "llama-index-core>=0.13", module="llama_index", extra="llama-index"
    ) from None

__all__ = ["CuecardPromptTemplate"]


class _Bound(NamedTuple):
    """What renders a template, and for whom."""

    renderer: PromptRenderer
    agent: AgentDefinition
    session: Any = None
    auth: Any = None


class CuecardPromptTemplate(BasePromptTemplate):
    """A template that cuecard renders, wherever LlamaIndex takes a prompt template.

    Its variables are those that no provider of the renderer gives. A copy that is made by
    `partial_format` or `with_session` shares the renderer, and with it what that remembers.
    """

    template_str: str = Field(description="The template.")
    role: str = Field(description="The role of its message.")
    cache_points: bool = Field(description="Whether a cache point follows the stable front.")

    # One attribute: each private one of a model takes its time.
    _bound: _Bound = PrivateAttr()

    def __init__(
        self,
        template: str | AgentDefinition,
        *,
        renderer: PromptRenderer | None = None,
        role: str = "user",
        cache_points: bool = False,
        metadata: dict[str, Any] | None = None,
        output_parser: BaseOutputParser | None = None,
        template_var_mappings: dict[str, Any] | None = None,
        function_mappings: dict[str, Callable[..., Any]] | None = None,
    ) -> None:
        """Read the template.

        Args:
            template: the template's text, or an agent.
            renderer: gives the variables that its providers know. Without one there are no
                providers, and the profile is `strict` where the agent does not say.
            role: the role of the message that `format_messages` gives, `user` or `system`.
            cache_points: whether that message has a `CachePoint` after the last block that
                does not change at every turn.
            metadata: as LlamaIndex has it.
            output_parser: as LlamaIndex has it.
            template_var_mappings: names that callers use, to those of the template.
            function_mappings: functions of the variables, for variables.

        Raises:
            TemplateError: the template is invalid.
        """
        agent = (
            template
            if isinstance(template, AgentDefinition)
            else AgentDefinition(system_prompt=template)
        )
        made = renderer or PromptRenderer(builtins=False, entry_points=False, profile=STRICT)
        fields: dict[str, Any] = {
            "template_str": agent.system_prompt,
            "role": role,
            "cache_points": cache_points,
            "metadata": metadata or {},
            "template_vars": [slot.name for slot in slots_of(agent, made)],
            "kwargs": {},
            "output_parser": output_parser,
            "template_var_mappings": template_var_mappings or {},
            "function_mappings": function_mappings or {},
        }
        super().__init__(**fields)
        self._bound = _Bound(made, agent)

    # copies ------------------------------------------------------------------------------------

    def partial_format(self, **kwargs: Any) -> CuecardPromptTemplate:
        """A copy that has these variables already."""
        return self.model_copy(update={"kwargs": {**self.kwargs, **kwargs}})

    def with_session(self, session: Any, auth: Any = None) -> CuecardPromptTemplate:
        """A copy for a session and a user, as `PromptRenderer.render` takes them."""
        copied = self.model_copy()
        copied._bound = self._bound._replace(session=session, auth=auth)
        return copied

    # rendering ---------------------------------------------------------------------------------

    def format(
        self,
        llm: Any = None,
        completion_to_prompt: Callable[[str], str] | None = None,
        **kwargs: Any,
    ) -> str:
        """The text.

        Args:
            llm: not used.
            completion_to_prompt: what is made of the text at last.
            **kwargs: the variables.

        Raises:
            PromptError: as `PromptRenderer.render`.
        """
        renderer, agent, session, auth = self._bound
        text = renderer.render(agent, session, auth, self._variables(kwargs))
        return self._finished(text, completion_to_prompt)

    async def aformat(
        self,
        llm: Any = None,
        completion_to_prompt: Callable[[str], str] | None = None,
        **kwargs: Any,
    ) -> str:
        """As `format`, without blocking the loop while providers wait."""
        renderer, agent, session, auth = self._bound
        text = await renderer.arender(agent, session, auth, self._variables(kwargs))
        return self._finished(text, completion_to_prompt)

    def format_messages(self, llm: Any = None, **kwargs: Any) -> list[ChatMessage]:
        """The text as one message.

        Args:
            llm: not used.
            **kwargs: the variables.

        Raises:
            PromptError: as `PromptRenderer.render`.
        """
        renderer, agent, session, auth = self._bound
        variables = self._variables(kwargs)
        if self.cache_points:
            return self._messages(_blocks(renderer.prompt(agent, session, auth, variables)))
        return self._messages([TextBlock(text=renderer.render(agent, session, auth, variables))])

    async def aformat_messages(self, llm: Any = None, **kwargs: Any) -> list[ChatMessage]:
        """As `format_messages`, without blocking the loop while providers wait."""
        renderer, agent, session, auth = self._bound
        variables = self._variables(kwargs)
        if self.cache_points:
            return self._messages(_blocks(await renderer.aprompt(agent, session, auth, variables)))
        return self._messages(
            [TextBlock(text=await renderer.arender(agent, session, auth, variables))]
        )

    def get_template(self, llm: Any = None) -> str:
        """The template, as it was written."""
        return self.template_str

    def _variables(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        variables = {**self.kwargs, **kwargs}
        if self.template_var_mappings or self.function_mappings:
            return self._map_all_vars(variables)
        return variables

    def _finished(self, text: str, completion_to_prompt: Callable[[str], str] | None) -> str:
        if self.output_parser is not None:
            text = self.output_parser.format(text)
        return text if completion_to_prompt is None else completion_to_prompt(text)

    def _messages(self, blocks: list[ContentBlock]) -> list[ChatMessage]:
        messages = [ChatMessage(role=self.role, blocks=blocks)]
        if self.output_parser is not None:
            return self.output_parser.format_messages(messages)
        return messages


def _blocks(prompt: Prompt) -> list[ContentBlock]:
    """The texts of like stability, with a cache point after the last that is stable."""
    blocks: list[ContentBlock] = []
    for block in prompt.anthropic_system():
        blocks.append(TextBlock(text=block["text"]))
        if "cache_control" in block:
            blocks.append(CachePoint(cache_control=CacheControl(**block["cache_control"])))
    return blocks

"""Components for Haystack's pipelines, in the place of its `PromptBuilder` and chat builder.

Importing this module imports Haystack: its pipelines find a component's class by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from ..agents import AgentDefinition, parse_agent, render_agent
from ..catalog import Slot, slots_of
from ..errors import SpecError
from ..profile import PROFILES
from ..prompt import Prompt
from ..renderer import PromptRenderer
from .needs import unusable

try:
    from haystack import component, default_from_dict, default_to_dict
    from haystack.core.errors import SerializationError
    from haystack.dataclasses import ChatMessage
    from haystack.utils import deserialize_callable, serialize_callable
except ImportError as error:
    raise unusable(error, "haystack-ai>=2.15", module="haystack", extra="haystack") from None

__all__ = ["CuecardChatPromptBuilder", "CuecardPromptBuilder"]

_TYPES: dict[str, Any] = {
    "any": Any,
    "array": list[Any],
    "boolean": bool,
    "integer": int,
    "number": float,
    "object": dict[str, Any],
    "string": str,
}
_RUN_PARAMETERS = frozenset(("messages", "session_id", "template", "template_variables", "user_id"))


class _Builder:
    """What both builders are: an agent, a renderer, and a typed input for each slot."""

    def __init__(
        self,
        template: str | AgentDefinition,
        *,
        renderer: PromptRenderer | Callable[[], PromptRenderer] | None = None,
        profile: str = "strict",
        variables: Iterable[str] = (),
    ) -> None:
        """Read the template, and make the inputs.

        Args:
            template: the template's text, or an agent.
            renderer: gives the variables that its providers know; or a function of a module
                that makes one, so that the component can be saved with its pipeline.
            profile: how to render without a renderer, where the agent does not say:
                `strict`, `operator`, `markdown` or `live`.
            variables: more inputs, for templates that are given to `run`.

        Raises:
            TemplateError: the template is invalid.
            SpecError: there is no such profile (P405).
        """
        self.agent = (
            template
            if isinstance(template, AgentDefinition)
            else AgentDefinition(system_prompt=template)
        )
        self._given = renderer
        self._profile = profile
        self._variables = tuple(variables)
        self._renderer = _renderer(renderer, profile)
        self.slots = slots_of(self.agent, self._renderer)
        known = {slot.name for slot in self.slots}
        for slot in (*self.slots, *(Slot(n) for n in self._variables if n not in known)):
            if slot.name not in _RUN_PARAMETERS:
                _add_input(self, slot)

    def to_dict(self) -> dict[str, Any]:
        """The component as data, from which `from_dict` makes it again.

        Raises:
            SerializationError: its renderer was given as an object, which no data can hold.
        """
        if isinstance(self._given, PromptRenderer):
            raise SerializationError(
                "a renderer cannot be saved: give `renderer` a function of a module that makes it"
            )
        made: dict[str, Any] = default_to_dict(
            self,
            template=render_agent(self.agent),
            renderer=None if self._given is None else serialize_callable(self._given),
            profile=self._profile,
            variables=list(self._variables),
        )
        return made

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        """The component that `to_dict` made data of."""
        given = dict(data.get("init_parameters", {}))
        given["template"] = parse_agent(given["template"])
        if given.get("renderer") is not None:
            given["renderer"] = deserialize_callable(given["renderer"])
        return default_from_dict(cls, {**data, "init_parameters": given})

    def _call(
        self,
        template: str | None,
        variables: dict[str, Any],
        more: dict[str, Any] | None,
        session_id: str | None,
        user_id: str | None,
    ) -> tuple[AgentDefinition, str | None, str | None, dict[str, Any]]:
        """What the renderer is called with; an input that nothing came to is absent."""
        agent = self.agent
        if template is not None:
            agent = replace(agent, system_prompt=template, inputs=(), path=None, first_line=1)
        values = {name: value for name, value in variables.items() if value is not None}
        values.update(more or {})
        named = {"session_id": session_id, "user_id": user_id}
        read = {slot.name for slot in self.slots}
        values.update((n, v) for n, v in named.items() if n in read and v is not None)
        return agent, session_id, user_id, values


def _renderer(
    given: PromptRenderer | Callable[[], PromptRenderer] | None, profile: str
) -> PromptRenderer:
    if isinstance(given, PromptRenderer):
        return given
    if given is not None:
        return given()
    if profile not in PROFILES:
        known = ", ".join(PROFILES)
        raise SpecError("there is no such profile", code="P405", hint=f"one of {known}")
    return PromptRenderer(builtins=False, entry_points=False, profile=PROFILES[profile])


def _add_input(instance: Any, slot: Slot) -> None:
    kind = _TYPES[slot.type]
    if slot.required:
        component.set_input_type(instance, slot.name, kind)
    else:
        component.set_input_type(instance, slot.name, kind | None if kind is not Any else Any, None)


@component
class CuecardPromptBuilder(_Builder):
    """Renders a prompt as text, in the place of `PromptBuilder`.

    Its inputs are the variables of the template that no provider gives, with the types that
    the agent's header declares. What the template guards with `default` or `is defined`, or
    the header calls optional, need not be connected.
    """

    @component.output_types(prompt=str)
    def run(
        self,
        template: str | None = None,
        template_variables: dict[str, Any] | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Render the prompt.

        Args:
            template: a template for this run, instead of the component's.
            template_variables: variables that override the inputs.
            session_id: the session, for the renderer's providers.
            user_id: the user, for the renderer's providers.
            **kwargs: the inputs.

        Returns:
            `prompt`, the text.

        Raises:
            PromptError: as `PromptRenderer.render`.
        """
        call = self._call(template, kwargs, template_variables, session_id, user_id)
        return {"prompt": self._renderer.render(*call)}

    @component.output_types(prompt=str)
    async def run_async(
        self,
        template: str | None = None,
        template_variables: dict[str, Any] | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """As `run`, without blocking the loop while providers wait."""
        call = self._call(template, kwargs, template_variables, session_id, user_id)
        return {"prompt": await self._renderer.arender(*call)}


@component
class CuecardChatPromptBuilder(_Builder):
    """Renders a system message before the messages of a chat, as `ChatPromptBuilder` does.

    The inputs are those of `CuecardPromptBuilder`, and `messages`.
    """

    def __init__(
        self,
        template: str | AgentDefinition,
        *,
        renderer: PromptRenderer | Callable[[], PromptRenderer] | None = None,
        profile: str = "strict",
        variables: Iterable[str] = (),
        cache_blocks: bool = False,
    ) -> None:
        """Read the template, and make the inputs.

        Args:
            template: as for `CuecardPromptBuilder`.
            renderer: as for `CuecardPromptBuilder`.
            profile: as for `CuecardPromptBuilder`.
            variables: as for `CuecardPromptBuilder`.
            cache_blocks: whether there is a system message for each block of the prompt, and
                `cache_control` in the `meta` of the last stable one. The generator for
                Anthropic reads it; others take several system messages, or do not.

        Raises:
            TemplateError: the template is invalid.
            SpecError: there is no such profile (P405).
        """
        # Haystack makes another class of this one, which `super()` would not know.
        _Builder.__init__(self, template, renderer=renderer, profile=profile, variables=variables)
        self._cache_blocks = cache_blocks

    def to_dict(self) -> dict[str, Any]:
        """As `CuecardPromptBuilder.to_dict`."""
        made = _Builder.to_dict(self)
        made["init_parameters"]["cache_blocks"] = self._cache_blocks
        return made

    @component.output_types(prompt=list[ChatMessage])
    def run(
        self,
        messages: list[ChatMessage] | None = None,
        template: str | None = None,
        template_variables: dict[str, Any] | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Render the system message.

        Args:
            messages: the chat so far, which follows it as it is.
            template: as for `CuecardPromptBuilder.run`.
            template_variables: as for `CuecardPromptBuilder.run`.
            session_id: as for `CuecardPromptBuilder.run`.
            user_id: as for `CuecardPromptBuilder.run`.
            **kwargs: the inputs.

        Returns:
            `prompt`, the messages.

        Raises:
            PromptError: as `PromptRenderer.render`.
        """
        call = self._call(template, kwargs, template_variables, session_id, user_id)
        if not self._cache_blocks:
            return _messages(self._renderer.render(*call), messages)
        return _messages(self._renderer.prompt(*call), messages)

    @component.output_types(prompt=list[ChatMessage])
    async def run_async(
        self,
        messages: list[ChatMessage] | None = None,
        template: str | None = None,
        template_variables: dict[str, Any] | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """As `run`, without blocking the loop while providers wait."""
        call = self._call(template, kwargs, template_variables, session_id, user_id)
        if not self._cache_blocks:
            return _messages(await self._renderer.arender(*call), messages)
        return _messages(await self._renderer.aprompt(*call), messages)


def _messages(prompt: Prompt | str, messages: list[ChatMessage] | None) -> dict[str, Any]:
    """The system messages and those that follow; an empty prompt has none."""
    if isinstance(prompt, Prompt):
        system = [
            ChatMessage.from_system(block.pop("text"), meta=_meta(block))
            for block in prompt.anthropic_system()
        ]
    else:
        system = [ChatMessage.from_system(prompt)] if prompt else []
    return {"prompt": [*system, *(messages or ())]}


def _meta(block: dict[str, Any]) -> dict[str, Any]:
    return {"cache_control": block["cache_control"]} if "cache_control" in block else {}

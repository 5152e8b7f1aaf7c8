"""The turns of a framework's agent: whom each is for, which tools it has, and its prompt."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

from ..agents import AgentDefinition
from ..prompt import Prompt, Scope
from ..renderer import PromptRenderer
from ..template import Template
from ..tools import ToolSpec
from .given import Given, read_given, report, tool_values

__all__ = ["ToolForm", "Turns"]

R = TypeVar("R")

ToolForm = tuple[str, str | None, Mapping[str, Any] | None]
"""A framework's tool as far as a template may show it: name, description and parameters."""

ToolSource = Callable[[], Awaitable[Iterable[ToolForm]]]

_SCOPES = {"tools": Scope.STATIC}
_BORROWS = re.compile(r"\{%[-+]?\s*(include|import|from|extends)\b")


class _Shown(NamedTuple):
    """The tools of a turn, and the list of them that a template has."""

    forms: tuple[ToolForm, ...]
    values: list[dict[str, Any]]


class Turns(Generic[R]):
    """The prompts of an agent that a framework runs.

    Args:
        renderer: renders them.
        definition: the agent; or a template alone.
        context: says of the framework's run context whom a turn is for: a mapping with
            `session`, `auth` and `extra_vars`, each of which may be left out. It may be a
            coroutine function.
        tools: whether the framework's tools are the variable `tools`.

    Attributes:
        renderer: as given.
        definition: as given.
        profile: the profile that the definition is rendered by.

    Raises:
        TemplateError: the template is invalid, and the profile does not fall back.
    """

    def __init__(
        self,
        renderer: PromptRenderer,
        definition: AgentDefinition | str,
        context: Callable[[R], Any],
        *,
        tools: bool = True,
    ) -> None:
        self.renderer = renderer
        self.definition = definition
        self.profile = renderer.profile
        if isinstance(definition, AgentDefinition):
            self.profile = definition.profile_or(renderer.profile)
        self._context = context
        self._shows_tools = self._reads_tools() and tools
        self._shown = _Shown((), [])

    async def text(self, run: R, tools: ToolSource) -> str:
        """The text for a turn.

        Args:
            run: the framework's run context.
            tools: gives the tools of the turn. It is called only when they are read.

        Raises:
            PromptError: as `PromptRenderer.render`; or the mapping of the context or the
                tools failed (P301), or are of the wrong kind (P303), under a profile without
                `fallback`.
        """
        given = await self._given(run, tools)
        return await self.renderer.arender(self.definition, *given, scopes=_SCOPES)

    async def prompt(self, run: R, tools: ToolSource) -> Prompt:
        """As `text`, with segments and blocks."""
        given = await self._given(run, tools)
        return await self.renderer.aprompt(self.definition, *given, scopes=_SCOPES)

    # whom it is for ----------------------------------------------------------------------------

    async def _given(self, run: R, tools: ToolSource) -> Given:
        try:
            given = self._context(run)
            if not isinstance(given, Mapping) and inspect.isawaitable(given):
                given = await given
            found = read_given(given)
        except Exception as error:
            report("the mapping of the context", error, self.profile)
            found = Given()
        if not self._shows_tools:
            return found
        values = await self._offered(tools)
        session, auth, extra_vars = found
        return Given(session, auth, {"tools": values, **(extra_vars or {})})

    # tools -------------------------------------------------------------------------------------

    def _reads_tools(self) -> bool:
        # A provider may need them, too.
        if "tools" in self.renderer.plan(self.definition).owners:
            return True
        template = self.template()
        return "tools" in template.variables or bool(_BORROWS.search(template.source.text))

    def template(self) -> Template:
        """The definition's template by itself, which never raises."""
        text = self.definition
        source = text if isinstance(text, str) else text.source
        return Template(source, profile=replace(self.profile, fallback=True))

    async def _offered(self, tools: ToolSource) -> list[dict[str, Any]]:
        """The tools of the turn; the same list as long as they are the same."""
        try:
            forms, shown = tuple(await tools()), self._shown
            # Schemas that are the same objects are not looked into.
            if forms != shown.forms:
                shown = _Shown(forms, [tool_values(ToolSpec(*form)) for form in forms])
                self._shown = shown
        except Exception as error:
            report("the list of tools", error, self.profile)
            return []
        return shown.values

"""The turns of a framework's agent: whom each is for, which tools it has, and its prompt."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

from ..agents import AgentDefinition
from ..errors import PromptError, ProviderError
from ..prompt import Prompt, Scope
from ..renderer import PromptRenderer
from ..template import Template
from ..tools import ToolSpec

__all__ = ["ToolForm", "Turns"]

_logger = logging.getLogger("cuecard.adapters")

R = TypeVar("R")

ToolForm = tuple[str, str | None, Mapping[str, Any] | None]
"""A framework's tool as far as a template may show it: name, description and parameters."""

ToolSource = Callable[[], Awaitable[Iterable[ToolForm]]]

_KEYS = frozenset(("session", "auth", "extra_vars"))
_SCOPES = {"tools": Scope.STATIC}
_BORROWS = re.compile(r"\{%[-+]?\s*(include|import|from|extends)\b")


class _Shown(NamedTuple):
    """The tools of a turn, and the list of them that a template has."""

    forms: tuple[ToolForm, ...]
    values: list[dict[str, Any]]


class _Given(NamedTuple):
    """Whom a turn is for."""

    session: Any = None
    auth: Any = None
    extra_vars: Mapping[str, Any] | None = None


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

    async def _given(self, run: R, tools: ToolSource) -> _Given:
        try:
            given = self._context(run)
            if not isinstance(given, Mapping) and inspect.isawaitable(given):
                given = await given
            found = _checked(given)
        except Exception as error:
            self._fail("the mapping of the context", error)
            found = _Given()
        if not self._shows_tools:
            return found
        values = await self._offered(tools)
        session, auth, extra_vars = found
        return _Given(session, auth, {"tools": values, **(extra_vars or {})})

    def _fail(self, what: str, error: Exception) -> None:
        """Say that something is left out; or raise, as the profile has it."""
        failure = error
        if not isinstance(error, ProviderError):
            kind = type(error).__name__
            # Only our own errors are known to hold no values.
            hint = str(error) if isinstance(error, PromptError) else None
            failure = ProviderError(f"{what} failed: it raised `{kind}`", code="P301", hint=hint)
        if not self.profile.fallback:
            raise failure from (None if failure is error else error)
        _logger.warning("%s", failure)

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
                shown = _Shown(forms, [_values(ToolSpec(*form)) for form in forms])
                self._shown = shown
        except Exception as error:
            self._fail("the list of tools", error)
            return []
        return shown.values


def _checked(given: Any) -> _Given:
    if not isinstance(given, Mapping):
        raise _invalid(f"gave `{type(given).__name__}` and no mapping")
    if not given.keys() <= _KEYS:
        stranger = min(map(str, given.keys() - _KEYS))
        raise _invalid(f"gave `{stranger}`, which is none of its keys")
    extra_vars = given.get("extra_vars")
    if extra_vars is not None and not isinstance(extra_vars, Mapping):
        raise _invalid(f"gave `{type(extra_vars).__name__}` as `extra_vars`")
    return _Given(given.get("session"), given.get("auth"), extra_vars)


def _invalid(problem: str) -> ProviderError:
    return ProviderError(
        f"the mapping of the context {problem}",
        code="P303",
        hint="return a mapping with `session`, `auth` and `extra_vars`, or some of them",
    )


def _values(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }

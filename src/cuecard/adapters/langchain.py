"""LangChain: the prompt of an agent, by `create_agent(…, middleware=[…])`.

The framework hands a middleware the request before every call of the model; this one puts
the system message in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..agents import AgentDefinition
from ..prompt import Prompt, Scope
from ..renderer import PromptRenderer
from ..renderer.memory import Bounded
from ..tools import ToolSpec, sorted_tools
from .anthropic import TTL, check_caching, system
from .given import Given, read_given, report, tool_values
from .needs import unusable

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware, ModelRequest

__all__ = ["middleware", "of_request"]


_SCOPES = {"tools": Scope.STATIC}
_MAX_TOOL_SETS = 16

ContextMapping = Callable[["ModelRequest[Any]"], Mapping[str, Any]]
"""Says of a request whom it is for: `session`, `auth` and `extra_vars`, or some of them."""


def of_request(request: ModelRequest[Any]) -> dict[str, Any]:
    """Whom a request is for: the run's context is `auth`, and its thread the session.

    A `session_id` of the context comes before the id of the thread.
    """
    runtime = request.runtime
    context = runtime.context
    if isinstance(context, Mapping):
        session = context.get("session_id")
    else:
        session = getattr(context, "session_id", None)
    if session is None:
        session = getattr(getattr(runtime, "execution_info", None), "thread_id", None)
    return {"session": session, "auth": context}


def middleware(
    renderer: PromptRenderer,
    definition: AgentDefinition | str,
    *,
    context: ContextMapping = of_request,
    tools: bool = True,
    cache: bool | None = None,
    ttl: TTL | None = None,
    breakpoints: int = 1,
) -> AgentMiddleware[Any, Any, Any]:
    """The middleware for `create_agent(…, middleware=[…])`, which renders each turn's prompt.

    A system message that the request has already follows the prompt. Put this middleware
    first, so that what others add to the message comes after it.

    Args:
        renderer: renders the prompts.
        definition: the agent; or a template alone.
        context: says of a request whom it is for: a mapping with `session`, `auth` and
            `extra_vars`, each of which may be left out. It has `request.runtime` and
            `request.state`, and must not wait.
        tools: whether the request's tools, sorted by name, are the variable `tools`, in place
            of what the renderer and the definition know of tools.
        cache: whether the message has blocks with `cache_control`, and is no plain text; when
            None, whether the request's model is one of the package `langchain_anthropic`.
        ttl: how long the cache entries live; 5 minutes when None.
        breakpoints: at most so many blocks carry `cache_control`.

    Returns:
        A middleware for `invoke`, `stream` and their asynchronous forms.

    Raises:
        MissingExtraError: the package is not installed, or too old (P807).
        ValueError: the API knows no such `ttl`, or `breakpoints` is not from 0 to 4.
    """
    check_caching(ttl, breakpoints)
    _check_hook()
    from langchain.agents.middleware import AgentMiddleware, ModelResponse

    turns = _Turns(renderer, definition, context, tools, _Caching(cache, ttl, breakpoints))

    class SystemPromptMiddleware(AgentMiddleware[Any, Any, Any]):
        """Puts the prompt of the turn into each request."""

        def wrap_model_call(
            self,
            request: ModelRequest[Any],
            handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
        ) -> ModelResponse[Any]:
            return handler(turns.filled(request))

        async def awrap_model_call(
            self,
            request: ModelRequest[Any],
            handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
        ) -> ModelResponse[Any]:
            return await handler(await turns.afilled(request))

    return SystemPromptMiddleware()


def _check_hook() -> None:
    needed = "langchain>=1.1"
    try:
        import langchain  # noqa: F401 - tells one that is missing from one that is too old
        from langchain.agents.middleware import AgentMiddleware, ModelRequest
    except ImportError as error:
        raise unusable(error, needed, module="langchain", extra="langchain") from error
    # The message as a whole came later than the hook.
    fields = getattr(ModelRequest, "__dataclass_fields__", {})
    if "system_message" not in fields or not hasattr(AgentMiddleware, "awrap_model_call"):
        old = ImportError("no `ModelRequest.system_message`")
        raise unusable(old, needed, module="langchain", extra="langchain")


class _Caching(NamedTuple):
    """How the message says what may be cached."""

    wanted: bool | None
    ttl: TTL | None
    breakpoints: int

    def applies(self, kind: type) -> bool:
        """Whether the message of a request for such a model has blocks."""
        if self.wanted is not None:
            return self.wanted
        return any(_package(cls) == "langchain_anthropic" for cls in kind.__mro__)

    def blocks(self, prompt: Prompt) -> list[Any]:
        return [*system(prompt, ttl=self.ttl, breakpoints=self.breakpoints)]


def _package(cls: type) -> str:
    return cls.__module__.partition(".")[0]


class _Turns:
    """The requests of an agent's turns, each with its prompt."""

    def __init__(
        self,
        renderer: PromptRenderer,
        definition: AgentDefinition | str,
        context: ContextMapping,
        tools: bool,
        caching: _Caching,
    ) -> None:
        self._renderer = renderer
        self._definition = definition
        self._context = context
        self._tools = tools
        self._caching = caching
        profile = renderer.profile
        if isinstance(definition, AgentDefinition):
            profile = definition.profile_or(profile)
        self._profile = profile
        # Mostly the model is the one of the turn before.
        self._last: tuple[type, bool] = (type(None), False)
        # By the ids of the tools, which an entry keeps alive.
        self._shown: Bounded[tuple[int, ...], _Shown] = Bounded(_MAX_TOOL_SETS)

    def filled(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """The request with the prompt of its turn."""
        given = self._given(request)
        if not self._takes_blocks(request.model):
            text = self._renderer.render(self._definition, *given, scopes=_SCOPES)
            return _with_system(request, text)
        prompt = self._renderer.prompt(self._definition, *given, scopes=_SCOPES)
        return _with_system(request, self._caching.blocks(prompt))

    async def afilled(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """As `filled`, without blocking the loop."""
        given = self._given(request)
        if not self._takes_blocks(request.model):
            text = await self._renderer.arender(self._definition, *given, scopes=_SCOPES)
            return _with_system(request, text)
        prompt = await self._renderer.aprompt(self._definition, *given, scopes=_SCOPES)
        return _with_system(request, self._caching.blocks(prompt))

    def _takes_blocks(self, model: object) -> bool:
        last, kind = self._last, type(model)
        if last[0] is not kind:
            self._last = last = kind, self._caching.applies(kind)
        return last[1]

    def _given(self, request: ModelRequest[Any]) -> Given:
        """Whom the request is for, and the variables."""
        given = Given()
        try:
            given = read_given(self._context(request))
        except Exception as error:
            report("the mapping of the context", error, self._profile)
        if not self._tools:
            return given
        extra_vars = {"tools": self._tools_of(request), **(given.extra_vars or {})}
        return given._replace(extra_vars=extra_vars)

    def _tools_of(self, request: ModelRequest[Any]) -> list[dict[str, Any]]:
        offered = tuple(request.tools)
        key = tuple(map(id, offered))
        return self._shown.get(key, lambda: self._show(offered)).values

    def _show(self, offered: tuple[Any, ...]) -> _Shown:
        specs: list[ToolSpec] = []
        for tool in offered:
            try:
                specs.append(ToolSpec.of(tool))
            except Exception as error:
                report("the specification of a tool", error, self._profile)
        return _Shown(offered, [tool_values(spec) for spec in sorted_tools(specs)])


class _Shown(NamedTuple):
    """Tools, and what a template sees of them."""

    tools: tuple[Any, ...]
    values: list[dict[str, Any]]


def _with_system(request: ModelRequest[Any], content: str | list[Any]) -> ModelRequest[Any]:
    """The request with a system message, before what its own says already."""
    if not content:
        return request
    from langchain_core.messages import SystemMessage

    own = request.system_message.content if request.system_message is not None else ""
    if not own:
        return request.override(system_message=SystemMessage(content=content))
    if isinstance(content, str) and isinstance(own, str):
        return request.override(system_message=SystemMessage(content=f"{content}\n\n{own}"))
    both = [*_as_blocks(content), *_as_blocks(f"\n\n{own}" if isinstance(own, str) else own)]
    return request.override(system_message=SystemMessage(content=both))


def _as_blocks(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content

"""Anthropic's client: a prompt as the `system` and `tools` of a request, with cache breakpoints.

All of it is plain data, so the client is not needed to make it, and is not imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from ..agents import AgentDefinition
from ..errors import SpecError
from ..prompt import Prompt, Scope
from ..renderer import PromptRenderer
from ..tools import ToolSpec

if TYPE_CHECKING:
    from anthropic.types import TextBlockParam, ToolUnionParam

__all__ = ["TTL", "Requests", "Turn", "check_caching", "system", "tools"]

TTL = Literal["5m", "1h"]
"""How long a cache entry lives: 5 minutes, or 1 hour."""

_MAX_BREAKPOINTS = 4
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_SCOPES = {"tools": Scope.STATIC}


class Turn(TypedDict, total=False):
    """Arguments of `client.messages.create`; what would be empty is left out."""

    system: list[TextBlockParam]
    tools: list[ToolUnionParam]


def system(prompt: Prompt, *, ttl: TTL | None = None, breakpoints: int = 1) -> list[TextBlockParam]:
    """A prompt as the `system` of a request.

    Args:
        prompt: what a renderer's `prompt` or `aprompt` gives, or a template's `trace`.
        ttl: how long the cache entries live; 5 minutes when None.
        breakpoints: at most so many blocks carry `cache_control`: the last before the first
            text that may change at a turn, then the first, then those between.

    Returns:
        Blocks whose texts joined are the prompt's text; none for a prompt of white space.

    Raises:
        ValueError: the API knows no such `ttl`, or `breakpoints` is not from 0 to 4.
    """
    check_caching(ttl, breakpoints)
    blocks = prompt.anthropic_system(ttl)
    last = next((n for n, block in enumerate(blocks) if "cache_control" in block), None)
    if last is not None:
        control = blocks[last].pop("cache_control")
        # What ends at the last is read at every turn, the first by every session.
        order = dict.fromkeys((last, 0, *range(last - 1, 0, -1)))
        for number in list(order)[:breakpoints]:
            blocks[number]["cache_control"] = dict(control)
    return cast("list[TextBlockParam]", blocks)


def tools(
    tools: Iterable[Any], *, ttl: TTL | None = None, cache: bool = False
) -> list[ToolUnionParam]:
    """Tools as the `tools` of a request, sorted by name, so that their bytes stay the same.

    Args:
        tools: in any form that `ToolSpec.of` takes. Mappings as Anthropic has them keep all
            that they hold, and so do its own tools, which have a `type`.
        ttl: how long the cache entry lives; 5 minutes when None.
        cache: whether the last one carries `cache_control`.

    Raises:
        SpecError: one is no tool, or has a name that the API refuses (P420); or two have the
            same name (P421).
        ValueError: the API knows no such `ttl`.
    """
    check_caching(ttl)
    made = _sorted_tools(tools)
    if cache and made:
        # The mappings are copies.
        cast("dict[str, Any]", made[-1])["cache_control"] = _control(ttl)
    return made


class Requests:
    """The requests of an agent: `client.messages.create(**requests.turn(session, user), …)`.

    Args:
        renderer: renders the prompts.
        definition: the agent; or a template alone.
        tools: the tools of each request, as the function `tools` takes them, which the
            template sees as `tools` too; None leaves both alone.
        ttl: how long the cache entries live; 5 minutes when None.
        breakpoints: as the function `system` takes it. Those that tools carry count, so that
            a request never has more than the 4 that it may.

    Raises:
        SpecError: a tool is invalid (P420, P421), or the tools carry more breakpoints than a
            request may, or shorter ones than `ttl`, which comes after them (P420).
        ValueError: the API knows no such `ttl`, or `breakpoints` is not from 0 to 4.
    """

    def __init__(
        self,
        renderer: PromptRenderer,
        definition: AgentDefinition | str | None,
        *,
        tools: Iterable[Any] | None = None,
        ttl: TTL | None = None,
        breakpoints: int = 1,
    ) -> None:
        check_caching(ttl, breakpoints)
        self._renderer = renderer
        self._definition = definition
        self._tools = _sorted_tools(tools or ())
        # The renderer binds it for as long as it is the same object.
        self._shown = None if tools is None else {"tools": _values(self._tools)}
        self._ttl = ttl
        self._breakpoints = _left(self._tools, ttl, breakpoints)

    def turn(
        self, session: Any = None, auth: Any = None, extra_vars: Mapping[str, Any] | None = None
    ) -> Turn:
        """The `system` and `tools` of the request of a turn.

        Args:
            session: the session, as `PromptRenderer.render` takes it.
            auth: who is served, as `PromptRenderer.render` takes it.
            extra_vars: variables for this turn.

        Raises:
            PromptError: as `PromptRenderer.render`.
        """
        given = self._given(extra_vars)
        prompt = self._renderer.prompt(self._definition, session, auth, given, scopes=_SCOPES)
        return self._turn(prompt)

    async def aturn(
        self, session: Any = None, auth: Any = None, extra_vars: Mapping[str, Any] | None = None
    ) -> Turn:
        """As `turn`, under asyncio or trio."""
        given = self._given(extra_vars)
        prompt = await self._renderer.aprompt(
            self._definition, session, auth, given, scopes=_SCOPES
        )
        return self._turn(prompt)

    def _given(self, extra_vars: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        return extra_vars if self._shown is None else {**self._shown, **(extra_vars or {})}

    def _turn(self, prompt: Prompt) -> Turn:
        made: Turn = {}
        if blocks := system(prompt, ttl=self._ttl, breakpoints=self._breakpoints):
            made["system"] = blocks
        if self._tools:
            made["tools"] = [*self._tools]
        return made


def check_caching(ttl: Any, breakpoints: Any = 0) -> None:
    """Check what a caller says of caching.

    Raises:
        ValueError: the API knows no such `ttl`, or `breakpoints` is not from 0 to 4.
    """
    if ttl not in (None, "5m", "1h"):
        raise ValueError('`ttl` must be "5m", "1h" or None')
    if type(breakpoints) is not int or not 0 <= breakpoints <= _MAX_BREAKPOINTS:
        raise ValueError(f"`breakpoints` must be a number from 0 to {_MAX_BREAKPOINTS}")


def _left(shown: Iterable[ToolUnionParam], ttl: TTL | None, breakpoints: int) -> int:
    """How many breakpoints the tools leave for the prompt."""
    held: list[Any] = [tool.get("cache_control") for tool in shown]
    controls = [each for each in held if each is not None]
    if len(controls) > _MAX_BREAKPOINTS:
        raise SpecError(
            f"the tools carry {len(controls)} times `cache_control`",
            code="P420",
            hint=f"a request may have {_MAX_BREAKPOINTS}, and the last tool's is enough",
        )
    left = min(breakpoints, _MAX_BREAKPOINTS - len(controls))
    if left and ttl == "1h" and any(each.get("ttl") != "1h" for each in controls):
        raise SpecError(
            "a tool's `cache_control` holds shorter than the prompt's, which comes after it",
            code="P420",
            hint='give the tool `"ttl": "1h"` too, or leave its `cache_control` out',
        )
    return left


def _values(shown: Iterable[Any]) -> list[dict[str, Any]]:
    """The tools as a template sees them; those of Anthropic's own have no description."""
    return [
        {
            "name": tool["name"],
            "description": tool.get("description", ""),
            "parameters": tool.get("input_schema", {}),
        }
        for tool in shown
        if tool.get("name")
    ]


def _sorted_tools(given: Iterable[Any]) -> list[ToolUnionParam]:
    made = sorted(map(_tool, given), key=lambda tool: str(tool.get("name")))
    names = [tool.get("name") for tool in made]
    for name, following in pairwise(names):
        if name is not None and name == following:
            raise SpecError(
                f"two tools are named `{name}`", code="P421", hint="rename or drop one of them"
            )
    return cast("list[ToolUnionParam]", made)


def _tool(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        if value.get("type", "custom") not in ("custom", "function"):
            return dict(value)
        if "input_schema" in value:
            return _checked({**value, "name": ToolSpec.from_anthropic(value).name})
    spec = ToolSpec.of(value)
    made: dict[str, Any] = {"name": spec.name}
    if spec.description:
        made["description"] = spec.description
    made["input_schema"] = {"type": "object", **spec.parameters}
    return _checked(made)


def _checked(tool: dict[str, Any]) -> dict[str, Any]:
    if _NAME.fullmatch(tool["name"]) is None:
        raise SpecError(
            "a tool has a name that Anthropic's API refuses",
            code="P420",
            hint="use 1 to 128 letters, digits, `_` and `-`",
        )
    return tool


def _control(ttl: TTL | None) -> dict[str, str]:
    return {"type": "ephemeral"} if ttl is None else {"type": "ephemeral", "ttl": ttl}

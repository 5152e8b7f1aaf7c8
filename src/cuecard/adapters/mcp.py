"""Tools of MCP servers in a prompt: read from a live server, and again when it says so.

Only tools come from a server. Its name, description and instructions never reach a prompt:
lines about servers are made from configuration, by `cuecard.tools.mcp_server_lines`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import ProviderError, SpecError
from ..prompt import Scope
from ..providers import AgentToolsProvider, ProviderRequest
from ..tools import ToolSpec, sorted_tools
from .needs import unusable

if TYPE_CHECKING:
    from anyio import Event
    from mcp import Client

__all__ = ["McpToolsProvider", "tools"]

_logger = logging.getLogger("cuecard.mcp")

_MAX_PAGES = 100
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0


async def tools(client: Client) -> list[ToolSpec]:
    """The tools of a live MCP server, all pages of them, in an order of their own.

    Args:
        client: a client of the package `mcp` that is connected.

    Raises:
        SpecError: the server describes a tool that is none, or its pages do not end (P420).
    """
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        found.extend(page.tools)
        cursor = page.next_cursor
        if cursor is None:
            return sorted_tools(found)
    raise SpecError(
        f"the MCP server has more than {_MAX_PAGES} pages of tools",
        code="P420",
        hint="its pages may go in a circle",
    )


class McpToolsProvider:
    """`tools`: those of the MCP servers that it follows, and those given, sorted by name.

    An agent that names its tools in its header gets those; another gets all. They are read
    once, and again at the first asynchronous render after a server said that its list
    changed. A plain render cannot ask a server: it uses what was read last.

    Args:
        tools: tools that come from elsewhere, in any form that `ToolSpec.of` takes.

    Example::

        provider = McpToolsProvider()
        async with mcp.Client(url, message_handler=provider.notice) as client:
            async with provider.follow(client):
                renderer = cuecard.PromptRenderer([provider])
    """

    name = "mcp_tools"
    priority = 1
    provides: ClassVar = {"tools": Scope.STATIC}

    def __init__(self, tools: Iterable[Any] = ()) -> None:
        self._own = sorted_tools(tools)
        self._servers: list[_Server] = []
        self._specs = self._own
        self._given = AgentToolsProvider(self._own)
        self._version = 0

    # following servers -------------------------------------------------------------------------

    @asynccontextmanager
    async def follow(self, client: Client) -> AsyncIterator[McpToolsProvider]:
        """Read a server's tools, and hear of changes as long as the block runs.

        Args:
            client: a client of the package `mcp` that is connected. To a server of a
                protocol before 2026-07-28 it needs `message_handler=provider.notice`.

        Raises:
            MissingExtraError: the package `mcp` is not installed, or too old (P807).
            SpecError: the server describes a tool that is none (P420).
        """
        try:
            from anyio import Event, create_task_group
            from mcp import Client  # noqa: F401 - an older package has none
        except ImportError as error:
            raise unusable(error, "mcp>=2.3", module="mcp", extra="mcp") from None
        server, listening = _Server(client), Event()
        failure: Exception | None = None
        self._servers.append(server)
        try:
            async with create_task_group() as group:
                group.start_soon(self._listen, server, listening)
                await listening.wait()
                try:
                    await self._refresh(server)
                    yield self
                except Exception as error:
                    # A group would wrap it.
                    failure = error
                group.cancel_scope.cancel()
        finally:
            self._servers.remove(server)
            self._put_together()
        if failure is not None:
            raise failure

    async def notice(self, message: Any) -> None:
        """Hear what a server says; give this as `message_handler` to the client."""
        if getattr(message, "method", None) == "notifications/tools/list_changed":
            for server in self._servers:
                server.is_stale = True

    async def _listen(self, server: _Server, listening: Event) -> None:
        """Hear of changes on a stream for them, which is opened again when it breaks.

        A server of an older protocol has none: it speaks to `notice`.
        """
        from anyio import sleep
        from mcp import MCPError
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

        pause = _FIRST_PAUSE
        while _announces(server.client):
            try:
                async with server.client.listen(tools_list_changed=True) as events:
                    listening.set()
                    pause = _FIRST_PAUSE
                    async for _ in events:
                        server.is_stale = True
            except ListenNotSupportedError:
                break
            except (MCPError, SubscriptionLost, TimeoutError) as error:
                _logger.warning("an MCP server is not heard: `%s`", type(error).__name__)
            listening.set()
            # What changed meanwhile was not heard.
            server.is_stale = True
            await sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        listening.set()

    # reading -----------------------------------------------------------------------------------

    async def refresh(self) -> None:
        """Read the tools of all servers again, whatever they said.

        Raises:
            SpecError: a server describes a tool that is none (P420).
        """
        for server in tuple(self._servers):
            await self._refresh(server)

    async def _refresh(self, server: _Server) -> None:
        # Before it is asked: what changes from now on makes it stale again.
        server.is_stale = False
        try:
            server.tools = await tools(server.client)
        except BaseException:
            server.is_stale = True
            raise
        self._put_together()

    def _put_together(self) -> None:
        """All tools in their order; of tools with one name the first is used."""
        found: dict[str, ToolSpec] = {}
        for spec in (*self._own, *(spec for server in self._servers for spec in server.tools)):
            if found.setdefault(spec.name, spec) is not spec:
                _logger.warning("two MCP servers have a tool `%s`; the first is used", spec.name)
        specs = sorted_tools(found.values())
        if specs != self._specs:
            self._specs, self._given = specs, AgentToolsProvider(specs)
            self._version += 1

    # the contract ------------------------------------------------------------------------------

    def stamp(self, request: ProviderRequest) -> int:
        """What changes when the tools that were read do."""
        return self._version

    async def astamp(self, request: ProviderRequest) -> int:
        """As `stamp`, after reading what changed."""
        for server in tuple(self._servers):
            if server.is_stale:
                await self._refresh(server)
        return self._version

    def contribute(self, request: ProviderRequest) -> dict[str, Any]:
        """The enabled tools as mappings.

        Raises:
            ProviderError: no server is followed, and no tools were given (P301).
        """
        if not self._servers and not self._own:
            raise ProviderError(
                "no MCP server is followed",
                hint="render within `async with provider.follow(client)`",
            )
        return self._given.contribute(request)


class _Server:
    """A server that is followed: its client, its tools, and whether they may have changed."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.tools: list[ToolSpec] = []
        self.is_stale = True


def _announces(client: Client) -> bool:
    offered = client.server_capabilities.tools
    return offered is not None and bool(offered.list_changed)

"""Agents as the prompts of an MCP server, over standard input and output or over HTTP."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from socket import socket
from typing import TYPE_CHECKING, Any

from ..catalog import AgentCatalog, Offer
from ..errors import ContextError, PromptError
from ..language.vocabulary import nearest
from ..renderer import PromptRenderer
from .mcp_arguments import described, read_arguments
from .needs import unusable

try:
    import anyio
    from mcp import MCPError
    from mcp import types as protocol
    from mcp.server import NotificationOptions, Server
    from mcp.server.subscriptions import (
        InMemorySubscriptionBus,
        ListenHandler,
        PromptsListChanged,
    )
except ImportError as error:
    raise unusable(error, "mcp>=2.3", module="mcp", extra="mcp") from None

if TYPE_CHECKING:
    from mcp.server import InitializationOptions, ServerRequestContext
    from mcp.server.session import ServerSession

__all__ = ["PromptServer", "serve_http", "serve_stdio"]

_logger = logging.getLogger("cuecard.mcp")

_MAX_LISTENERS = 10_000
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class PromptServer(Server[Any]):
    """An MCP server whose prompts are the agents of a catalog.

    Clients of either protocol hear when the list of prompts changes: of 2026-07-28 those
    that listen, of older ones all.

    Args:
        catalog: the agents.
        renderer: renders them.
        user: whom prompts are rendered for, as the renderer's `auth`.
        version: the version that clients are told.
        interval: seconds between two looks at the files. They are looked at before every
            answer too.
    """

    def __init__(
        self,
        catalog: AgentCatalog,
        renderer: PromptRenderer,
        *,
        user: Any = None,
        version: str = "",
        interval: float = 1.0,
    ) -> None:
        self._bus = InMemorySubscriptionBus()
        super().__init__(
            "cuecard",
            version=version,
            lifespan=self._watched,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        self.add_notification_handler(
            "notifications/initialized", protocol.NotificationParams, self._greet
        )
        self._catalog = catalog
        self._renderer = renderer
        self._user = user
        self._interval = interval
        self._reading = anyio.Lock()
        # Clients of older protocols; one that has gone is told nothing, and does no harm.
        self._older: deque[ServerSession] = deque(maxlen=_MAX_LISTENERS)

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *rest: Any, **more: Any
    ) -> InitializationOptions:
        """What clients are told at first: among it, that they hear when the list changes."""
        told = notification_options or NotificationOptions(prompts_changed=True)
        return super().create_initialization_options(told, *rest, **more)

    # prompts -----------------------------------------------------------------------------------

    async def _list_prompts(
        self, ctx: ServerRequestContext[Any], params: Any
    ) -> protocol.ListPromptsResult:
        await self._refresh()
        prompts = [_prompt(offer) for offer in self._catalog.offers.values()]
        return protocol.ListPromptsResult(prompts=prompts)

    async def _get_prompt(
        self, ctx: ServerRequestContext[Any], params: protocol.GetPromptRequestParams
    ) -> protocol.GetPromptResult:
        await self._refresh()
        offer = self._catalog.offers.get(params.name)
        if offer is None:
            hint = nearest(params.name, self._catalog.offers)
            message = "no prompt of this name" + (f". {hint}" if hint else "")
            raise MCPError(protocol.INVALID_PARAMS, message)
        text = await self._render(offer, params.arguments or {})
        content = protocol.TextContent(type="text", text=text)
        return protocol.GetPromptResult(
            description=offer.agent.description,
            messages=[protocol.PromptMessage(role="user", content=content)],
        )

    async def _render(self, offer: Offer, arguments: dict[str, str]) -> str:
        try:
            if offer.failure is not None:
                raise offer.failure
            values = read_arguments(offer, arguments)
            return await self._renderer.arender(offer.agent, None, self._user, values)
        except PromptError as error:
            given = isinstance(error, ContextError)
            code = protocol.INVALID_PARAMS if given else protocol.INTERNAL_ERROR
            raise MCPError(code, str(error), error.diagnostic().data()) from error
        except Exception as error:
            # What its text holds nobody knows.
            _logger.exception("the prompt `%s` cannot be rendered", offer.name)
            raise MCPError(protocol.INTERNAL_ERROR, f"`{type(error).__name__}`") from error

    # changes -----------------------------------------------------------------------------------

    @asynccontextmanager
    async def _watched(self, _: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch)
            yield {}
            group.cancel_scope.cancel()

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(self._interval)
            await self._refresh()

    async def _refresh(self) -> None:
        """Look at the files, and tell clients when the list of prompts is another."""
        async with self._reading:
            before = self._catalog.diagnostics
            is_other = await anyio.to_thread.run_sync(self._catalog.reload)
            for finding in self._catalog.diagnostics:
                if finding not in before and finding.severity != "info":
                    _logger.warning("%s", finding)
        if is_other:
            await self._bus.publish(PromptsListChanged())
            for session in tuple(self._older):
                # One that does not read must not keep the others waiting.
                with anyio.move_on_after(1):
                    await session.send_prompt_list_changed()

    async def _greet(self, ctx: ServerRequestContext[Any], params: Any) -> None:
        self._older.append(ctx.session)


def _prompt(offer: Offer) -> protocol.Prompt:
    return protocol.Prompt(
        name=offer.name,
        description=offer.agent.description,
        arguments=[
            protocol.PromptArgument(
                name=slot.name, description=described(slot), required=slot.required
            )
            for slot in offer.slots
        ],
    )


# transports ------------------------------------------------------------------------------------


async def serve_stdio(server: PromptServer) -> None:
    """Serve the client at standard input and output until it goes."""
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def serve_http(server: PromptServer, listener: socket, host: str) -> None:
    """Serve clients over streamable HTTP, at the path `/mcp`, until the process is ended.

    Args:
        server: the server.
        listener: a socket that is bound; it is closed at the end.
        host: the name or address that it is bound to. Requests that were meant for another
            host are refused, unless it is bound to all addresses.
    """
    import uvicorn

    app = server.streamable_http_app(transport_security=_guard(host))
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    await uvicorn.Server(config).serve(sockets=[listener])


def _guard(host: str) -> Any:
    """Against web pages that have a browser speak to a server at a name of theirs."""
    from mcp.server.transport_security import TransportSecuritySettings

    if host in ("0.0.0.0", "::", ""):
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    names = [f"[{n}]" if ":" in n else n for n in dict.fromkeys((host, *_LOOPBACK))]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:*" for name in names],
        allowed_origins=[f"http://{name}:*" for name in names],
    )

"""Guard: what holds for every request before a route sees it, and for every answer.

It is plain ASGI: a request costs a few microseconds, and no body is kept.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from traceback import extract_tb
from typing import Any

import msgspec

from .failures import BodyError, failure, unexpected
from .service import Service
from .settings import LOOPBACK

__all__ = ["Guard"]

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_logger = logging.getLogger("cuecard.server")

_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
)
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))


class Guard:
    """The outermost application: bounds, hosts, headers, metrics, and the log.

    Args:
        app: the application inside.
        service: the service that the application is of.

    Attributes:
        service: as given.
    """

    def __init__(self, app: App, service: Service) -> None:
        self.service = service
        self._app = app
        self._limits = service.settings.limits
        self._metrics = service.metrics
        self._working = 0
        # Behind a name of its own, a web page could have a browser speak to this machine.
        self._only_loopback = service.settings.host in LOOPBACK

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        answer = _Answer(send)
        self._metrics.started()
        self._working += 1
        try:
            refusal = self._refusal(scope)
            if refusal is not None:
                await _refuse(answer.send, *refusal)
                return
            await self._app(scope, self._bounded(receive), answer.send)
        except Exception as error:
            # Its text, which the server would log, may hold anything.
            _logger.error("a request failed: %s", _place_of(error))
            if not answer.status:
                await _refuse(answer.send, 500, unexpected(error))
        finally:
            self._working -= 1
            seconds = time.perf_counter() - start
            route = _route_of(scope)
            self._metrics.answered(route, _method_of(scope), answer.status or 499, seconds)
            _logger.info(
                "%s %s %d %.1f ms", _method_of(scope), route, answer.status, seconds * 1000
            )

    # refusing ----------------------------------------------------------------------------------

    def _refusal(self, scope: Scope) -> tuple[int, dict[str, Any]] | None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if self._only_loopback and _name_of(host) not in LOOPBACK:
            message = "the request is for another host than this machine's own"
            return 403, failure("P852", message, hint="call it by 127.0.0.1 or localhost")
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if origin and scope["method"] not in _SAFE and origin.partition("://")[2] != host:
            return 403, failure("P852", "the request comes from a page of another origin")
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self._limits.body:
            return 413, failure("P855", self._too_large(), hint=_LESS)
        if self._working > self._limits.requests and scope["path"] not in _ALWAYS:
            message = f"more than {self._limits.requests:,} requests are worked on"
            return 429, failure("P856", message, hint="try again in a second")
        return None

    def _too_large(self) -> str:
        return f"the body has more than {self._limits.body:,} bytes"

    def _bounded(self, receive: Receive) -> Receive:
        left, seconds = self._limits.body, self._limits.receiving
        ends: float | None = None

        async def bounded() -> Message:
            nonlocal left, ends
            if ends is None:
                ends = asyncio.get_running_loop().time() + seconds
            try:
                async with asyncio.timeout_at(ends):
                    message = await receive()
            except TimeoutError:
                raise BodyError(408, f"the body took more than {seconds:g} seconds") from None
            left -= len(message.get("body", b""))
            if left < 0:
                raise BodyError(413, self._too_large(), _LESS)
            return message

        return bounded


_ALWAYS = frozenset(("/healthz", "/readyz", "/metrics"))
_LESS = "send less, or start the service with more"


class _Answer:
    """What is sent, with the headers that every answer has.

    Attributes:
        status: the status that was sent; 0 before.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def send(self, message: Message) -> None:
        """Send a message of an answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *_HEADERS]
        await self._send(message)


async def _refuse(send: Send, status: int, body: dict[str, Any]) -> None:
    data = msgspec.json.encode(body)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(data)).encode()),
        (b"connection", b"close"),
    ]
    if status == 429:
        headers.append((b"retry-after", b"1"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data})


def _name_of(host: str) -> str:
    """The name in a Host header, without its port."""
    return host.partition("]")[0].removeprefix("[") if host[:1] == "[" else host.partition(":")[0]


def _place_of(error: Exception) -> str:
    """What was raised and where, without a word of what was worked on."""
    last = extract_tb(error.__traceback__)[-1]
    return f"`{type(error).__name__}` at {Path(last.filename).name}:{last.lineno}"


def _route_of(scope: Scope) -> str:
    """The route's pattern: ids that stand in paths are in no metric and no log."""
    route = scope.get("route")
    return getattr(route, "path", None) or "other"


def _method_of(scope: Scope) -> str:
    method: str = scope["method"]
    known = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
    return method if method in known else "other"

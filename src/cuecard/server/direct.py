"""Direct: the requests that count go to their function with no framework in between.

FastAPI finds out at every request what its route depends on, which takes longer than most
renders. For routes that take ids, a JSON body, the service and a role it is found out once. What
is out of the ordinary goes to FastAPI, which describes all routes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from .guard import Receive, Scope, Send
from .requests import Allowed, decode, service_for, service_of

__all__ = ["Direct"]

Call = Callable[[Request, Receive], Awaitable[Response | None]]


class _Way(NamedTuple):
    """A route that can be called directly."""

    route: APIRoute
    pattern: re.Pattern[str]
    call: Call


class Direct:
    """An application, and a short way to some of its routes.

    Args:
        app: the application, with all its routes.
    """

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._ways = tuple(_ways(app))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        way = self._way(scope)
        if way is None:
            await self._app(scope, receive, send)
            return
        scope["app"], scope["route"] = self._app, way.route
        request = Request(scope)
        try:
            response = await way.call(request, receive)
        except Exception as error:
            response = await self._failed(request, error)
        if response is not None:
            await response(scope, receive, send)

    def _way(self, scope: Scope) -> _Way | None:
        if scope["type"] != "http" or scope["method"] != "POST" or not _is_plain(scope):
            return None
        for way in self._ways:
            found = way.pattern.match(scope["path"])
            if found is not None:
                scope["path_params"] = found.groupdict()
                return way
        return None

    async def _failed(self, request: Request, error: Exception) -> Response:
        """The answer to a request that failed, as the application would give it.

        Raises:
            Exception: the error, when it is not one of those that are foreseen.
        """
        handlers = self._app.exception_handlers
        foreseen = (kind for kind in type(error).__mro__ if kind in handlers)
        kind = next(foreseen, Exception)
        if kind is Exception:
            raise error
        handler: Any = handlers[kind]
        response: Response = await handler(request, error)
        return response


def _is_plain(scope: Scope) -> bool:
    """Whether a request says that it has JSON, and how much of it."""
    if scope.get("root_path"):
        return False
    kind = length = b""
    for name, value in scope["headers"]:
        if name == b"content-type":
            kind = value
        elif name == b"content-length":
            length = value
    return kind == b"application/json" and length not in (b"", b"0")


def _ways(app: FastAPI) -> Iterator[_Way]:
    for route in app.routes:
        if isinstance(route, APIRoute) and route.methods == {"POST"}:
            call = _call_of(route)
            if call is not None:
                yield _Way(route, route.path_regex, call)


def _call_of(route: APIRoute) -> Call | None:
    """What answers requests of a route; None when it takes something else."""
    takes, endpoint = route.dependant, route.endpoint
    roles = [each.call for each in takes.dependencies if isinstance(each.call, Allowed)]
    services = [each.name for each in takes.dependencies if each.call is service_for]
    ids = [field.name for field in takes.path_params if _is_any_text(field.field_info)]
    models = {field.name: field.field_info.annotation for field in takes.body_params}
    if len(models) != 1 or {*services, *ids, *models} != set(
        inspect.signature(endpoint).parameters
    ):
        return None
    ((body, model),) = models.items()
    if not isinstance(model, type) or not issubclass(model, BaseModel):
        return None
    validate, own = model.model_validate, [name for name in services if name is not None]

    async def call(request: Request, receive: Receive) -> Response | None:
        for role in roles:
            await role.of(request)
        sent = await _received(receive)
        if sent is None:
            return None
        try:
            values: dict[str, Any] = {body: validate(decode(sent), from_attributes=True)}
        except ValidationError as error:
            raise RequestValidationError(error.errors(include_url=False)) from None
        for name in ids:
            values[name] = request.path_params[name]
        for name in own:
            values[name] = service_of(request)
        response: Response = await endpoint(**values)
        return response

    return call


def _is_any_text(info: FieldInfo) -> bool:
    return info.annotation is str and not info.metadata


async def _received(receive: Receive) -> bytes | None:
    """The body of a request; None when the client has gone."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part: bytes = message.get("body", b"")
        if not message.get("more_body", False):
            return b"".join((*parts, part)) if parts else part
        parts.append(part)

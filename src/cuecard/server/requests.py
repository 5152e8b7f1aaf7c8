"""Requests: bodies decoded strictly, and the service and the roles that routes depend on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Request, Response
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from .access import Role
from .failures import BodyError, RequestError
from .service import Service

__all__ = ["Allowed", "ServiceOf", "allows", "decode", "router", "service_for", "service_of"]

_bearer = HTTPBearer(auto_error=False, description="A token of the service's token file.")


class _StrictRequest(Request):
    """A request whose JSON is JSON: no NaN, no lone surrogate, no endless nesting."""

    async def json(self) -> Any:
        return decode(await self.body())


def decode(body: bytes) -> Any:
    """What a body says.

    Raises:
        BodyError: it is no JSON.
    """
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise BodyError(422, f"the body is no JSON: {_plain(error)}") from None
    except RecursionError:
        raise BodyError(422, "the body is nested too deeply") from None


def _plain(error: msgspec.DecodeError) -> str:
    """What is wrong and at which byte; nothing of the body."""
    return str(error).replace("JSON is malformed: ", "")


class _StrictRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            if self.body_field is not None:
                # FastAPI would read the body before it asks who sends it.
                await self._look(request)
            return await handle(_StrictRequest(request.scope, request.receive))

        return strict

    async def _look(self, request: Request) -> None:
        for each in self.dependant.dependencies:
            if isinstance(each.call, Allowed):
                await each.call.of(request)
        kind = request.headers.get("content-type", "").partition(";")[0]
        if kind.strip().lower() != "application/json":
            hint = "send the header `Content-Type: application/json`"
            raise BodyError(415, "the body does not call itself JSON", hint)


def service_of(request: Request) -> Service:
    """The service that a request is for."""
    service: Service = request.app.state.service
    return service


async def service_for(request: Request) -> Service:
    """As `service_of`, for a route that depends on it."""
    return service_of(request)


ServiceOf = Annotated[Service, Depends(service_for)]
"""The service, for a route that depends on it."""


class Allowed:
    """Sees that a request's token has a role; gives the role that it has."""

    def __init__(self, role: Role) -> None:
        self._role = role

    async def __call__(
        self,
        request: Request,
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    ) -> Role:
        """As `of`, for a route that depends on it."""
        return self._check(request, credentials)

    async def of(self, request: Request) -> Role:
        """The role that a request's token has.

        Raises:
            RequestError: it has none (P851), or one that is too small (P852).
        """
        if service_of(request).settings.access is None:
            return Role.WRITE
        return self._check(request, await _bearer(request))

    def _check(self, request: Request, credentials: HTTPAuthorizationCredentials | None) -> Role:
        granted, role = _granted(service_of(request), credentials), self._role
        if granted < role:
            raise RequestError(
                f"this takes a token with the role `{role.name.lower()}`",
                code="P852",
                hint=f"the token has the role `{granted.name.lower()}`",
            )
        return granted


def allows(role: Role) -> Any:
    """What a route depends on that only those of a role may call."""
    return Depends(Allowed(role))


def _granted(service: Service, credentials: HTTPAuthorizationCredentials | None) -> Role:
    access = service.settings.access
    if access is None:
        return Role.WRITE
    if credentials is None:
        raise RequestError(
            "a token is missing", code="P851", hint="send the header `Authorization: Bearer TOKEN`"
        )
    role = access.role_of(credentials.credentials)
    if role is None:
        raise RequestError("nobody has this token", code="P851")
    return role


# how it fails ----------------------------------------------------------------------------------

_FAILURE = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": ["string", "null"]},
                "template": {"type": ["string", "null"]},
                "span": {"type": ["object", "null"]},
                "path": {"type": "string"},
            },
            "required": ["code", "message", "hint", "template", "span"],
        }
    },
    "required": ["error"],
}


def _described(what: str) -> dict[str, Any]:
    content = {"application/json": {"schema": _FAILURE, "example": "failure"}}
    return {"description": what, "content": content}


def router(*statuses: int) -> APIRouter:
    """A router whose routes decode strictly and say how they fail.

    Args:
        statuses: statuses of failures beside those that any request may have.
    """
    what = {
        401: "A token is missing or unknown.",
        403: "The token's role or the service's mode does not allow it.",
        404: "There is no such thing.",
        408: "The body took too long.",
        409: "It changed meanwhile.",
        413: "The body is too large.",
        415: "The body does not call itself JSON.",
        422: "The request, the template or the context is at fault.",
        429: "The service is too busy.",
        503: "The store cannot be reached.",
    }
    every = {401, 403, 408, 413, 415, 422, 429, 503, *statuses}
    responses: dict[int | str, dict[str, Any]] = {s: _described(what[s]) for s in sorted(every)}
    return APIRouter(route_class=_StrictRoute, responses=responses)

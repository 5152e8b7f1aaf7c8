"""What a request gets when it fails: one body, and the status that belongs to its code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from ..errors import PromptError, TemplateError
from ..source import Span

__all__ = [
    "BodyError",
    "RequestError",
    "answer",
    "failure",
    "failure_of",
    "handle_failures",
    "unexpected",
]

_STATUS = {
    "P120": 429,
    "P601": 503,
    "P603": 503,
    "P606": 503,
    "P607": 503,
    "P801": 503,
    "P851": 401,
    "P852": 403,
    "P853": 404,
    "P854": 409,
    "P855": 413,
    "P856": 429,
}
"""Statuses of codes; what is not here is 422, the fault of what was sent."""

_INTERNAL = 500
_HTTP = {401: "P851", 403: "P852", 404: "P853", 413: "P855"}
_LONGEST_PLACE = 200


class RequestError(PromptError):
    """A request that the service refuses."""

    default_code = "P857"


class BodyError(HTTPException):
    """A body that cannot be read. FastAPI lets pass no other error while it reads one.

    Args:
        status: the status.
        message: what is wrong with it.
        hint: the remedy, when known.
    """

    def __init__(self, status: int, message: str, hint: str | None = None) -> None:
        super().__init__(status, message)
        self.hint = hint


def failure(
    code: str,
    message: str,
    *,
    hint: str | None = None,
    template: str | None = None,
    span: Span | None = None,
    path: str | None = None,
) -> dict[str, Any]:
    """The body of a failed request."""
    error: dict[str, Any] = {
        "code": code,
        "message": message,
        "hint": hint,
        "template": template,
        "span": None if span is None else span._asdict(),
    }
    if path is not None:
        error["path"] = path
    return {"error": error}


def failure_of(error: PromptError) -> dict[str, Any]:
    """The body for an error."""
    return failure(
        error.code,
        error.message,
        hint=error.hint,
        template=error.template,
        span=error.span,
        path=getattr(error, "path", None),
    )


def answer(
    status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    """A response with a JSON body."""
    return Response(_encoded(body), status, dict(headers or {}), media_type="application/json")


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(body)
    except (OverflowError, UnicodeEncodeError):
        # A header's default may be any number, and a file's name no UTF-8.
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def handle_failures(app: FastAPI) -> None:
    """Have an application answer every failure with the one body."""
    app.add_exception_handler(PromptError, _prompt_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _unexpected)


async def _prompt_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, PromptError)
    status = _status_of(error)
    return answer(status, failure_of(error), _advice(status))


def _status_of(error: PromptError) -> int:
    # A worker that a template took down is its fault; that there are none is not.
    if error.code == "P119" and not isinstance(error, TemplateError):
        return 503
    return _STATUS.get(error.code, 422)


def _advice(status: int) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": "Bearer"}
    return {"Retry-After": "1"} if status in (429, 503) else {}


async def _invalid(request: Request, error: Exception) -> Response:
    """A body of the wrong shape: where and what was expected, never what was sent."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")[:_LONGEST_PLACE]
    message = f"`{place}`: {_plain(first['msg'])}" if place else _plain(first["msg"])
    return answer(422, failure("P857", message, hint="the service's /openapi.json says what fits"))


def _plain(message: str) -> str:
    """Pydantic's message, whose own words never quote an input of these models."""
    return message[:1].lower() + message[1:]


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _HTTP.get(error.status_code, "P857")
    if isinstance(error, BodyError):
        return answer(error.status_code, failure(code, error.detail, hint=error.hint))
    message = {404: "there is nothing at this path", 405: "this path takes another method"}.get(
        error.status_code, "the request is refused"
    )
    return answer(error.status_code, failure(code, message), error.headers)


async def _unexpected(request: Request, error: Exception) -> Response:
    return answer(_INTERNAL, unexpected(error))


def unexpected(error: Exception) -> dict[str, Any]:
    """The body for an error that is the service's own fault. What its text holds nobody knows."""
    message = f"the service failed: it raised `{type(error).__name__}`"
    return failure("P206", message, hint="tell the makers of cuecard")

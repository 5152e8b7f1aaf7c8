"""`/v1/notes`, `/v1/profiles` and `/v1/todos`: what the service's store holds."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Response

from ...stores import read_todos
from ...stores.text_store import TextStore
from ..access import Role
from ..failures import RequestError, answer
from ..models import TextRequest, TodosRequest
from ..requests import ServiceOf, allows, router
from ..schemas import described
from ..service import Service
from .agents import refuse_read_only

__all__ = ["memory"]

memory = router(404)
_READ, _WRITE = [allows(Role.READ)], [allows(Role.WRITE)]

Id = Annotated[str, Path(min_length=1, max_length=512)]


def _store(service: Service, *, writes: bool = False) -> TextStore:
    if writes:
        refuse_read_only(service)
    if service.store is None:
        hint = "start it with `--store URL`"
        raise RequestError("the service has no store", code="P853", hint=hint)
    return service.store


@memory.get("/v1/notes/{agent}/{user}", dependencies=_READ, responses=described("text"))
async def show_notes(agent: Id, user: Id, service: ServiceOf) -> Response:
    """The notes of an agent on a user."""
    return answer(200, {"text": await _store(service).anotes(agent, user)})


@memory.put("/v1/notes/{agent}/{user}", dependencies=_WRITE, responses=described("text"))
async def change_notes(agent: Id, user: Id, request: TextRequest, service: ServiceOf) -> Response:
    """Replace the notes of an agent on a user; null removes them."""
    await _store(service, writes=True).aset_notes(agent, user, request.text)
    return answer(200, {"text": request.text})


@memory.get("/v1/profiles/{user}", dependencies=_READ, responses=described("text"))
async def show_profile(user: Id, service: ServiceOf) -> Response:
    """The profile of a user."""
    return answer(200, {"text": await _store(service).aprofile(user)})


@memory.put("/v1/profiles/{user}", dependencies=_WRITE, responses=described("text"))
async def change_profile(user: Id, request: TextRequest, service: ServiceOf) -> Response:
    """Replace the profile of a user; null removes it."""
    await _store(service, writes=True).aset_profile(user, request.text)
    return answer(200, {"text": request.text})


@memory.get("/v1/todos/{session}", dependencies=_READ, responses=described("todos"))
async def show_todos(session: Id, service: ServiceOf) -> Response:
    """The todo list of a session."""
    items = await _store(service).atodos(session)
    return answer(200, {"todos": [_item(item) for item in items]})


@memory.put("/v1/todos/{session}", dependencies=_WRITE, responses=described("todos"))
async def change_todos(session: Id, request: TodosRequest, service: ServiceOf) -> Response:
    """Replace the todo list of a session at once; an empty one removes it."""
    store = _store(service, writes=True)
    items = read_todos(request.todos)
    await store.aset_todos(session, items)
    return answer(200, {"todos": [_item(item) for item in items]})


def _item(item: object) -> dict[str, str]:
    return {name: getattr(item, name) for name in ("content", "active_form", "status")}

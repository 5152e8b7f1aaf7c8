"""`/v1/render` and its kin: templates that come with the request, rendered in workers."""

from __future__ import annotations

from fastapi import Response

from ..access import Role
from ..failures import answer
from ..models import CheckRequest, DiffRequest, ExplainRequest, RenderRequest, TurnsRequest
from ..requests import ServiceOf, allows, router
from ..schemas import described

__all__ = ["templates"]

templates = router(404)
_RENDER = [allows(Role.RENDER)]


@templates.post("/v1/render", dependencies=_RENDER, responses=described("prompt"))
async def render(request: RenderRequest, service: ServiceOf) -> Response:
    """A template of the request, rendered with its context; all of the text is template."""
    return answer(200, await service.work("render", request.fields()))


@templates.post("/v1/check", dependencies=_RENDER, responses=described("check"))
async def check(request: CheckRequest, service: ServiceOf) -> Response:
    """The mistakes of a text, before anything runs."""
    sent = {**request.fields(), "variables": service.provided()}
    return answer(200, await service.work("check", sent))


@templates.post("/v1/explain", dependencies=_RENDER, responses=described("explanation"))
async def explain(request: ExplainRequest, service: ServiceOf) -> Response:
    """Where each part of a text's prompt comes from, how long it holds, and what it costs."""
    return answer(200, await service.work("explain", request.fields()))


@templates.post("/v1/diff", dependencies=_RENDER, responses=described("diff"))
async def diff(request: DiffRequest, service: ServiceOf) -> Response:
    """What differs between the prompts of two contexts, and why."""
    return answer(200, await service.work("diff", request.fields()))


@templates.post("/v1/turns", dependencies=_RENDER, responses=described("series"))
async def turns(request: TurnsRequest, service: ServiceOf) -> Response:
    """The prompts of a series of turns: what changed, and where the cache broke."""
    sent = request.fields()
    for name in ("agent", "session", "auth"):
        del sent[name]
    if request.agent is not None:
        offer = service.offer(request.agent)
        read = await service.work("reads", sent)
        gathered = await service.gathered(
            offer.agent, read["variables"], {}, request.session, request.auth
        )
        sent["given"] = gathered.values
        sent["scopes"] = {**gathered.scopes, **sent["scopes"]}
    return answer(200, await service.work("turns", sent))

"""`/v1/agents`: the agents in the service's files, and their prompts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import anyio
from fastapi import Response

from ...catalog import Offer
from ...errors import PromptError
from ...explain import Explanation, diagnostics_data
from ...prompt import Prompt
from ...tokens import TokenCounter, find_counter
from ..access import Role
from ..answers import check_output, prompt_data, provider_data
from ..failures import RequestError, answer
from ..files import beside, read_beside, read_file, revision_of, write_file
from ..models import AgentExplainRequest, AgentRenderRequest, FileRequest
from ..requests import ServiceOf, allows, router
from ..schemas import described
from ..service import Service

__all__ = ["agents"]

agents = router(404, 409)


@agents.get("/v1/agents", dependencies=[allows(Role.READ)], responses=described("agents"))
async def list_agents(service: ServiceOf) -> Response:
    """The agents that the service offers, and what is wrong with their files."""
    catalog = service.catalog
    listed = [
        {
            "id": offer.name,
            "name": offer.agent.name or offer.name,
            "description": offer.agent.description,
            "path": str(offer.agent.path),
            "profile": service.profile_of(offer.agent).name,
            "problems": len(_problems(offer)),
        }
        for offer in catalog.offers.values()
    ]
    return answer(200, {"agents": listed, "diagnostics": diagnostics_data(catalog.diagnostics)})


@agents.get("/v1/agents/{name}", dependencies=[allows(Role.READ)], responses=described("agent"))
async def show_agent(name: str, service: ServiceOf) -> Response:
    """An agent: its definition, its variables, who gives them, and its problems."""
    return answer(200, await anyio.to_thread.run_sync(_agent_data, service, service.offer(name)))


def _agent_data(service: Service, offer: Offer) -> dict[str, Any]:
    agent, roots = offer.agent, service.settings.paths
    required = [slot.name for slot in offer.slots if slot.required]
    return {
        "id": offer.name,
        "name": agent.name or offer.name,
        "description": agent.description,
        "path": str(agent.path),
        "profile": service.profile_of(agent).name,
        "model": agent.model,
        "tools": None if agent.tools is None else list(agent.tools),
        "source": agent.system_prompt,
        "first_line": agent.first_line,
        "version": agent.version,
        "revision": _revision(offer, roots),
        "writable": not service.settings.read_only,
        "inputs": [slot._asdict() for slot in offer.slots],
        "variables": sorted(offer.reads),
        "required": required,
        "optional": sorted(offer.reads.difference(required)),
        "plan": [] if offer.failure is not None else service.renderer.plan(agent).rows(),
        "turns": beside(offer, roots, ".jsonl"),
        "contexts": beside(offer, roots, ".json"),
        "problems": _problems(offer),
        "stale": offer.broken is not None,
    }


def _revision(offer: Offer, roots: Collection[Path]) -> str | None:
    try:
        return revision_of(read_file(offer, roots))
    except PromptError:
        return None  # the file has gone; what is offered is how it was


def _problems(offer: Offer) -> list[dict[str, Any]]:
    failures = [error for error in (offer.broken, offer.failure) if error is not None]
    found = (*offer.agent.diagnostics, *(error.diagnostic() for error in failures))
    return diagnostics_data(found)


# prompts ---------------------------------------------------------------------------------------


@agents.post(
    "/v1/agents/{name}/render", dependencies=[allows(Role.RENDER)], responses=described("prompt")
)
async def render_agent(name: str, request: AgentRenderRequest, service: ServiceOf) -> Response:
    """The system prompt of an agent for this turn.

    Its profile is `live` unless its file says otherwise: a template that fails is then
    returned as it stands, with `fallback` true.
    """
    offer = service.offer(name)
    given = service.values_of(offer, request.slots, request.extra_vars)
    prompt = await service.prompt(offer, given, request.session, request.auth, request.scopes)
    check_output(prompt.text, service.settings.limits.output, offer.name)
    counter = _counter(request.tokens)
    if request.include or counter is not None:
        profile = service.profile_of(offer.agent).name
        data = await anyio.to_thread.run_sync(
            prompt_data, prompt, offer.agent.source, profile, request.include, counter
        )
    else:
        data = prompt_data(prompt, offer.agent.source, "")
    if offer.broken is not None:
        data["stale"] = True
    service.metrics.rendered(prompt, data["fallback"])
    return answer(200, data)


@agents.post(
    "/v1/agents/{name}/explain",
    dependencies=[allows(Role.RENDER)],
    responses=described("explanation"),
)
async def explain_agent(name: str, request: AgentExplainRequest, service: ServiceOf) -> Response:
    """Where each part of an agent's prompt comes from, how long it holds, and what it costs.

    With `text`, an edited file is rendered instead of the agent's own, in a worker process,
    with what the providers give.
    """
    offer = service.offer(name)
    if request.text is not None:
        return answer(200, await _explain_text(service, offer, request.text, request))
    given = service.values_of(offer, request.slots, request.extra_vars)
    prompt = await service.prompt(offer, given, request.session, request.auth, request.scopes)
    check_output(prompt.text, service.settings.limits.output, offer.name)
    counter = _counter(request.tokens)
    return answer(200, await anyio.to_thread.run_sync(_explained, service, offer, prompt, counter))


def _counter(name: str | None) -> TokenCounter | None:
    return None if name is None else find_counter(name)


def _explained(
    service: Service, offer: Offer, prompt: Prompt, counter: TokenCounter | None
) -> dict[str, Any]:
    source, profile = offer.agent.source, service.profile_of(offer.agent).name
    data = Explanation(prompt, source, profile, counter).data()
    data["body_start"] = _body_start(offer, service.settings.paths)
    data["anthropic"] = prompt.anthropic_system()
    data["timings"] = {"seconds": prompt.seconds, "providers": provider_data(prompt)}
    data["plan"] = service.renderer.plan(offer.agent).rows()
    return data


def _body_start(offer: Offer, roots: Collection[Path]) -> int:
    """Where the body begins in the agent's file; 0 when the file is another by now."""
    try:
        text = read_file(offer, roots)
    except PromptError:
        return 0
    body = offer.agent.source.text
    return len(text) - len(body) if text.endswith(body) else 0


async def _explain_text(
    service: Service, offer: Offer, text: str, request: AgentExplainRequest
) -> Mapping[str, Any]:
    sent: dict[str, Any] = {
        "text": text,
        "name": str(offer.agent.path),
        "profile": request.profile,
        "default_profile": "live",
        "scopes": {},
        "tokens": request.tokens,
    }
    read = await service.work("reads", sent)
    slots = request.slots
    given = service.values_of(offer, slots, request.extra_vars) if isinstance(slots, str) else slots
    gathered = await service.gathered(
        offer.agent,
        read["variables"],
        {**given, **request.extra_vars},
        request.session,
        request.auth,
    )
    runs = gathered.prompt.providers
    providers = {run.provider: list(run.variables) for run in runs if run.variables}
    data: dict[str, Any] = await service.work(
        "explain",
        {
            **sent,
            "context": gathered.values,
            "scopes": {**gathered.scopes, **request.scopes},
            "providers": providers,
        },
    )
    timings = {"seconds": gathered.prompt.seconds, "providers": provider_data(gathered.prompt)}
    return {**data, "timings": timings, "plan": gathered.plan}


# files -----------------------------------------------------------------------------------------


@agents.get("/v1/agents/{name}/file", dependencies=[allows(Role.READ)], responses=described("file"))
async def show_file(name: str, service: ServiceOf) -> Response:
    """An agent's file as it is now, and its revision."""
    offer = service.offer(name)
    text = await anyio.to_thread.run_sync(read_file, offer, service.settings.paths)
    path = str(offer.agent.path)
    return answer(200, {"text": text, "revision": revision_of(text), "path": path})


@agents.put(
    "/v1/agents/{name}/file", dependencies=[allows(Role.WRITE)], responses=described("saved")
)
async def change_file(name: str, request: FileRequest, service: ServiceOf) -> Response:
    """Replace an agent's file, as a whole or not at all, if its revision is still the same."""
    refuse_read_only(service)
    offer = service.offer(name)
    async with service.writing:
        revision = await anyio.to_thread.run_sync(
            write_file, offer, service.settings.paths, request.text, request.revision
        )
    await service.reload()
    return answer(200, {"revision": revision, "problems": _problems_of_file(service, offer)})


def _problems_of_file(service: Service, offer: Offer) -> list[dict[str, Any]]:
    """What is wrong with an agent's file, which may have another name by now, or be none."""
    path, catalog = offer.agent.path, service.catalog
    for now in catalog.offers.values():
        if now.agent.path == path:
            return _problems(now)
    return diagnostics_data(d for d in catalog.diagnostics if d.template == str(path))


@agents.get(
    "/v1/agents/{name}/turns/{file}", dependencies=[allows(Role.READ)], responses=described("turns")
)
async def show_turns(name: str, file: str, service: ServiceOf) -> Response:
    """The recorded turns in a file beside an agent's."""
    turns = await _read_beside(service, name, file, ".jsonl")
    return answer(200, {"turns": turns})


@agents.get(
    "/v1/agents/{name}/contexts/{file}",
    dependencies=[allows(Role.READ)],
    responses=described("context"),
)
async def show_context(name: str, file: str, service: ServiceOf) -> Response:
    """The context in a file beside an agent's."""
    context = await _read_beside(service, name, file, ".json")
    return answer(200, {"context": context})


async def _read_beside(service: Service, name: str, file: str, suffix: str) -> Any:
    offer = service.offer(name)
    if not file.endswith(suffix):
        raise RequestError("there is no file of this name beside the agent's", code="P853")
    roots = service.settings.paths
    return await anyio.to_thread.run_sync(read_beside, offer, roots, file)


def refuse_read_only(service: Service) -> None:
    """See that the service may write.

    Raises:
        RequestError: it may not (P852).
    """
    if service.settings.read_only:
        raise RequestError("the service is read-only", code="P852")

"""`/healthz`, `/readyz`, `/metrics` and `/v1/me`: the service about itself."""

from __future__ import annotations

from typing import Annotated

from fastapi import Response

from ... import __version__
from ...profile import PROFILES
from ..access import Role
from ..failures import answer, failure
from ..metrics import Metrics
from ..models import COUNTERS
from ..requests import ServiceOf, allows, router
from ..schemas import described

__all__ = ["health"]

health = router()


@health.get("/healthz", responses=described("state"))
async def is_alive() -> Response:
    """Whether the service runs at all. Takes no token."""
    return answer(200, {"status": "ok"})


@health.get("/readyz", responses=described("state"))
async def is_ready(service: ServiceOf) -> Response:
    """Whether it can serve: its store can be reached. Takes no token."""
    error = await service.unready()
    if error is not None:
        # Without the store's address: anybody may ask.
        said = failure(error.code, error.message, hint=error.hint)
        return answer(503, said, {"Retry-After": "1"})
    return answer(200, {"status": "ok"})


@health.get("/metrics", dependencies=[allows(Role.READ)], response_class=Response)
async def metrics(service: ServiceOf) -> Response:
    """What was counted, for Prometheus."""
    return Response(service.metrics.text(), media_type=Metrics.content_type)


@health.get("/v1/me", responses=described("me"))
async def show_me(role: Annotated[Role, allows(Role.READ)], service: ServiceOf) -> Response:
    """What the caller may do, and what the service can."""
    return answer(
        200,
        {
            "roles": [each.name.lower() for each in Role if each <= role],
            "read_only": service.settings.read_only,
            "store": service.store is not None,
            "counters": list(COUNTERS),
            "profiles": list(PROFILES),
            "version": __version__,
        },
    )

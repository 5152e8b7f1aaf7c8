"""The application: routes, failures and the guard around them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from .. import __version__
from ..errors import PromptError
from . import routes
from .direct import Direct
from .failures import handle_failures
from .guard import Guard
from .schemas import fill_examples
from .service import Service
from .settings import LOOPBACK, ServiceSettings

__all__ = ["create_app"]

_DESCRIPTION = """\
Renders the system prompts of agents, and says where every byte of them came from.

Every failure has the same body, whose `code` is the one that the command and the library use."""


def create_app(settings: ServiceSettings) -> Guard:
    """The service as an ASGI application.

    A prompt of the profile `live` that falls back warns with `FallbackWarning`, which the
    process that runs the application may want to silence: the answer says so anyway.

    Args:
        settings: what it offers, to whom, within which bounds.

    Raises:
        PromptError: a path, the store or a file of tools cannot be read; or others reach the
            address, and there are no tokens (P810).
    """
    if settings.access is None and settings.host not in LOOPBACK:
        raise PromptError(
            "an address that others reach needs tokens", code="P810", hint="give it `access`"
        )
    service = Service(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with service.opened():
            yield

    app = FastAPI(
        title="cuecard",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page would be fetched from another host
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False},
        redirect_slashes=False,
    )
    describe = app.openapi
    app.openapi = lambda: fill_examples(describe())  # type: ignore[method-assign]
    app.state.service = service
    for each in (routes.agents, routes.templates, routes.memory, routes.health, routes.page):
        # Included as a router, each would be searched twice for every request.
        app.router.routes.extend(each.routes)
    handle_failures(app)
    return Guard(Direct(app), service)

"""The service behind the routes: its agents, its renderer, its workers and its store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from ..agents import AgentDefinition
from ..catalog import AgentCatalog, Offer
from ..errors import PromptError
from ..files import Folder
from ..isolation import Isolation
from ..language.vocabulary import nearest
from ..operator import slots_from_prompt
from ..profile import LIVE, Profile
from ..prompt import Prompt, Scope
from ..providers import find_zone
from ..renderer import Observed, PromptRenderer
from ..source import Diagnostic
from ..stores import open_store
from ..stores.text_store import TextStore
from ..tools import load_tools
from ..workspace import Workspace
from .failures import RequestError
from .metrics import Metrics
from .settings import ServiceSettings
from .watching import watch

__all__ = ["Gathered", "Service"]

_logger = logging.getLogger("cuecard.server")

_observed: ContextVar[dict[str, Any] | None] = ContextVar("observed", default=None)


class Gathered(NamedTuple):
    """What providers give for a turn.

    Attributes:
        values: the variables.
        scopes: how long they hold, by variable, in lower case.
        prompt: the prompt that they were gathered for, which says what the providers did.
        plan: the plan, a row a provider.
    """

    values: Mapping[str, Any]
    scopes: dict[str, str]
    prompt: Prompt
    plan: list[dict[str, Any]]


class Service:
    """What a service has. It is opened and closed with the application.

    Args:
        settings: what it is started with.

    Attributes:
        settings: as given.
        catalog: the agents.
        renderer: renders them.
        store: the store; None without one.
        workers: the processes that render what requests bring.
        metrics: what is counted.
        noticed: what was noticed in the files that it was made from.
        writing: held while a file is replaced, from the look at its revision on.

    Raises:
        PromptError: a path, the store or a file of tools cannot be read.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        partials = None if settings.partials is None else Folder(settings.partials)
        tools = None if settings.tools is None else load_tools(settings.tools)
        self.noticed: tuple[Diagnostic, ...] = () if tools is None else tools.diagnostics
        self.store: TextStore | None = None
        if settings.store is not None:
            self.store = open_store(settings.store)
        self.renderer = PromptRenderer(
            entry_points=settings.entry_points,
            store=self.store,
            tools=tools or (),
            workspace=None if settings.workspace is None else Workspace(settings.workspace),
            zone=None if settings.zone is None else find_zone(settings.zone),
            partials=partials,
        )
        self.catalog = AgentCatalog(
            settings.paths, self.renderer, partials, keep=True, distinct=True
        )
        limits = settings.limits
        self.workers = Isolation(
            workers=settings.workers,
            memory=limits.memory,
            seconds=limits.seconds,
            max_waiting=limits.waiting,
            preload=("cuecard.server.work",),
        )
        self.writing = anyio.Lock()
        self._reading = anyio.Lock()
        self._asking: asyncio.Future[PromptError | None] | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Watch the files and keep the workers for as long as the application runs."""
        watching = asyncio.create_task(watch(self._places(), self.reload))
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
            await anyio.to_thread.run_sync(self.workers.close)
            if self.store is not None:
                await self.store.aclose()

    def _places(self) -> tuple[Path, ...]:
        partials = self.settings.partials
        return self.settings.paths if partials is None else (*self.settings.paths, partials)

    # agents ------------------------------------------------------------------------------------

    def offer(self, name: str) -> Offer:
        """The agent of a name.

        Raises:
            RequestError: there is none (P853).
        """
        offer = self.catalog.offers.get(name)
        if offer is None:
            hint = nearest(name, self.catalog.offers)
            raise RequestError("there is no agent of this name", code="P853", hint=hint)
        return offer

    async def reload(self) -> None:
        """Read the files that changed, and log what is wrong with them."""
        async with self._reading:
            before = self.catalog.diagnostics
            await anyio.to_thread.run_sync(self.catalog.reload)
            for finding in self.catalog.diagnostics:
                if finding not in before and finding.severity != "info":
                    _logger.warning("%s", finding)
            offers = self.catalog.offers.values()
            self.metrics.reloaded(sum(1 for o in offers if o.broken or o.failure))

    async def prompt(
        self,
        offer: Offer,
        given: Mapping[str, Any],
        session: Any,
        auth: Any,
        scopes: Mapping[str, str] | None = None,
    ) -> Prompt:
        """An agent's prompt for a turn.

        Args:
            offer: the agent.
            given: the caller's variables.
            session: as for `PromptRenderer.render`.
            auth: as for `PromptRenderer.render`.
            scopes: how long the caller's variables hold, in lower case.

        Raises:
            PromptError: its template is invalid, or what it is given is.
        """
        if offer.failure is not None:
            raise offer.failure
        held = {name: Scope[scope.upper()] for name, scope in scopes.items()} if scopes else None
        return await self.renderer.aprompt(offer.agent, session, auth, given, scopes=held)

    def values_of(
        self, offer: Offer, slots: Mapping[str, Any] | str, extra: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What a request gives an agent.

        Raises:
            ContextError: a slot that the agent does not read (P712).
        """
        values = slots_from_prompt(slots) if isinstance(slots, str) else slots
        if values:
            offer.refuse_unknown(values)
        return {**values, **extra}

    def profile_of(self, agent: AgentDefinition) -> Profile:
        """The profile that an agent is rendered by."""
        return agent.profile_or(LIVE)

    async def gathered(
        self,
        agent: AgentDefinition,
        names: list[str],
        given: Mapping[str, Any],
        session: Any,
        auth: Any,
    ) -> Gathered:
        """What providers give of some variables, whatever the agent's own template reads.

        Args:
            agent: whom they are for.
            names: the variables.
            given: the caller's own.
            session: as for a render.
            auth: as for a render.
        """
        # Only looked at, not printed: no value can make it fail or be long. Names come from a
        # worker, and nothing else of a worker may become part of a template here.
        looks = "".join(
            f"{{% if {name} is defined %}}{{% endif %}}" for name in names if name.isidentifier()
        )
        asking = replace(agent, system_prompt=looks, profile="live", inputs=())
        box: dict[str, Any] = {}

        def keep(observed: Observed) -> None:
            # Others render at the same time.
            if _observed.get() is box:
                box.update(observed.values)

        token = _observed.set(box)
        end = self.renderer.observe(keep)
        try:
            prompt = await self.renderer.aprompt(asking, session, auth, given)
        finally:
            end()
            _observed.reset(token)
        plan = self.renderer.plan(asking, given)
        scopes = {name: scope.name.lower() for name, scope in plan.scopes.items()}
        return Gathered({**box, **given}, scopes, prompt, plan.rows())

    # workers -----------------------------------------------------------------------------------

    async def work(self, operation: str, request: Mapping[str, Any]) -> Any:
        """What a worker makes of a request: one of the functions in `work`.

        Raises:
            PromptError: the template or the context is at fault, or the worker was lost.
        """
        bounds = {"output": self.settings.limits.output, "partials": self._partials()}
        sent = {**bounds, **request}
        return await self.workers.acall(
            f"cuecard.server.work:{operation}", sent, name=request.get("name")
        )

    def _partials(self) -> str | None:
        path = self.settings.partials
        return None if path is None else str(path.absolute())

    def provided(self) -> dict[str, str]:
        """The variables that providers give, with their scopes in lower case."""
        return {
            name: scope.name.lower()
            for provider in self.renderer.providers
            for name, scope in (provider.provides or {}).items()
        }

    # readiness ---------------------------------------------------------------------------------

    async def unready(self) -> PromptError | None:
        """Why requests cannot be served now. Those who ask at once share one answer."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(self._ask_store())
        return await asyncio.shield(self._asking)

    async def _ask_store(self) -> PromptError | None:
        if self.store is not None:
            try:
                await self.store.aprofile("cuecard-ready")
            except PromptError as error:
                return error
        return None

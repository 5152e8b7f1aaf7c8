"""The runtime's one call: the system prompt of an agent for this turn."""

from __future__ import annotations

import datetime
import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..agents import AgentDefinition
from ..errors import ProviderError
from ..files import Folder
from ..profile import LIVE, Profile
from ..prompt import Prompt, Scope
from ..providers import (
    AgentMetadataProvider,
    AgentToolsProvider,
    CurrentDateProvider,
    Plan,
    ProviderRequest,
    Registered,
    TodoListProvider,
    WorkspaceFactsProvider,
    WorkspaceNotesProvider,
    agent_id_of,
    discover_providers,
    find_zone,
    register,
    session_id_of,
    state_of,
    user_id_of,
    zone_of,
)
from ..source import Diagnostic
from ..stores import Store
from ..template import Template
from ..values import freeze_mapping
from ..workspace import Workspace
from .calls import drive, drive_async
from .flow import Turn
from .memory import Prepared, Session
from .observing import Observed, Observer, Observers
from .preparing import Definitions
from .telemetry import describe, describe_prompt, render_span
from .threads import Threads

__all__ = ["PromptRenderer"]

_logger = logging.getLogger("cuecard.renderer")


class PromptRenderer:
    """Renders the system prompt of agents before every turn.

    It asks only the providers whose variables the template reads, keeps what holds for the
    definition and the session, and renders only what changed. Threads and tasks may share it.

    Args:
        providers: providers of your own, besides the built-in ones.
        builtins: whether the built-in providers are there.
        entry_points: whether providers of installed packages are there, which the group
            `cuecard.providers` names.
        store: where notes, profiles and todo lists are.
        tools: the tools that there are, in any form that `ToolSpec.of` takes.
        workspace: the folder that the agent works in.
        profile: how templates are rendered and failures taken.
        clock: gives the time, with its zone; the machine's by default.
        zone: the time zone of users who have none; the machine's by default.
        timeout: seconds for providers that have no limit of their own; None for no limit. A
            plain function with a limit runs in a thread of its own.
        partials: a folder that `include`, `import` and `extends` may read from, under a
            profile that allows it.
        max_definitions: so many definitions are remembered.
        max_sessions: so many sessions of each definition are remembered.

    Attributes:
        providers: the providers, in the order in which they were given.

    Raises:
        ProviderError: a provider says what cannot be (P305), or there is no such zone (P306).
        ValueError: the timeout is no number above 0.
    """

    def __init__(
        self,
        providers: Iterable[Any] = (),
        *,
        builtins: bool = True,
        entry_points: bool = True,
        store: Store | None = None,
        tools: Iterable[Any] = (),
        workspace: Workspace | None = None,
        profile: Profile = LIVE,
        clock: Callable[[], datetime.datetime] | None = None,
        zone: str | datetime.tzinfo | None = None,
        timeout: float | None = None,
        partials: Folder | None = None,
        max_definitions: int = 128,
        max_sessions: int = 1024,
    ) -> None:
        self.profile = profile
        self._clock = clock or _utc_now
        self._zone = find_zone(zone) if isinstance(zone, str) else zone
        self._timeout = _checked_timeout(timeout)
        self._observers = Observers()
        self._threads = Threads()
        built_in = _built_in(store, tools, workspace) if builtins else ()
        found = self._discovered() if entry_points else ()
        self.providers: tuple[Registered, ...] = (
            *map(register, built_in),
            *found,
            *map(register, providers),
        )
        self._definitions = Definitions(
            self.providers,
            profile,
            partials,
            max_definitions=max_definitions,
            max_sessions=max_sessions,
        )

    def _discovered(self) -> Iterable[Registered]:
        for each in discover_providers():
            if each.provider is not None:
                yield each.provider
            elif each.error is not None:
                if not self.profile.fallback:
                    raise each.error
                _logger.warning("%s", each.error)

    def __repr__(self) -> str:
        return f"PromptRenderer(profile={self.profile.name!r}, providers={len(self.providers)})"

    # rendering ---------------------------------------------------------------------------------

    def render(
        self,
        definition: AgentDefinition | str | None,
        session: Any = None,
        auth: Any = None,
        extra_vars: Mapping[str, Any] | None = None,
        *,
        scopes: Mapping[str, Scope] | None = None,
    ) -> str:
        """The system prompt for this turn.

        Args:
            definition: the agent; or a template alone.
            session: the session: an object or mapping with `id`, and if known `user_id` and
                `time_zone`; or its id.
            auth: who is served: an object or mapping with `user_id`, and if known
                `time_zone`; or the user's id.
            extra_vars: variables for this render, which override what providers give.
            scopes: how long the values of `extra_vars` hold; those without one for a turn.
                One that holds for the session or longer is bound while it is the same object,
                or an equal text.

        Returns:
            The text. A profile with `fallback` gives the template as it stands when it fails,
            with a `FallbackWarning`; it leaves out a provider that fails, with a warning in
            the log.

        Raises:
            ProviderError: a provider failed (P301), took too long (P302), or gave what cannot
                be used (P303); only under a profile without `fallback`, as the others are.
            ContextError: a declared input is missing (P710) or of another type (P711), or a
                value of `extra_vars` is not plain data.
            TemplateError: the template is invalid, or its render failed.
        """
        turn = self._turn(definition, session, auth, extra_vars, scopes, inline=True)
        if not isinstance(turn, Turn):
            return turn.text
        with render_span(_name(definition)) as span:
            text = drive(turn.text())
            describe(span, turn.runs, len(text))
        return text

    async def arender(
        self,
        definition: AgentDefinition | str | None,
        session: Any = None,
        auth: Any = None,
        extra_vars: Mapping[str, Any] | None = None,
        *,
        scopes: Mapping[str, Scope] | None = None,
    ) -> str:
        """As `render`, under asyncio or trio: coroutines of one priority run together."""
        turn = self._turn(definition, session, auth, extra_vars, scopes, inline=False)
        if not isinstance(turn, Turn):
            return turn.text
        with render_span(_name(definition)) as span:
            text = await drive_async(turn.text(), self._threads)
            describe(span, turn.runs, len(text))
        return text

    def prompt(
        self,
        definition: AgentDefinition | str | None,
        session: Any = None,
        auth: Any = None,
        extra_vars: Mapping[str, Any] | None = None,
        *,
        scopes: Mapping[str, Scope] | None = None,
    ) -> Prompt:
        """As `render`, with segments, blocks, diagnostics, and what each provider did."""
        start = time.perf_counter()
        turn = self._turn(definition, session, auth, extra_vars, scopes, inline=True)
        if not isinstance(turn, Turn):
            return turn
        with render_span(_name(definition)) as span:
            prompt = drive(turn.prompt())
            describe_prompt(span, prompt)
        prompt.seconds = time.perf_counter() - start
        return prompt

    async def aprompt(
        self,
        definition: AgentDefinition | str | None,
        session: Any = None,
        auth: Any = None,
        extra_vars: Mapping[str, Any] | None = None,
        *,
        scopes: Mapping[str, Scope] | None = None,
    ) -> Prompt:
        """As `prompt`, under asyncio or trio."""
        start = time.perf_counter()
        turn = self._turn(definition, session, auth, extra_vars, scopes, inline=False)
        if not isinstance(turn, Turn):
            return turn
        with render_span(_name(definition)) as span:
            prompt = await drive_async(turn.prompt(), self._threads)
            describe_prompt(span, prompt)
        prompt.seconds = time.perf_counter() - start
        return prompt

    def plan(
        self, definition: AgentDefinition | str | None, extra_vars: Iterable[str] = ()
    ) -> Plan:
        """Which providers run for an agent, in which order, and why the others do not.

        Args:
            definition: the agent; or a template alone.
            extra_vars: the names of the variables that the caller gives.

        Raises:
            TemplateError: the template is invalid, and the profile does not fall back.
        """
        return self._definitions.plan(definition, frozenset(extra_vars))

    def invalidate(
        self,
        definition: AgentDefinition | str | None = None,
        *,
        session: Any = None,
        user: str | None = None,
    ) -> None:
        """Forget what holds: of everything, of a definition, of a session, or of a user.

        Args:
            definition: only what holds for this agent.
            session: only what holds in this session, or the session of this id.
            user: only what holds in the sessions of this user.
        """
        self._definitions.forget(definition, session_id_of(session), user)

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Tell a function the values of each turn, after its render or its failure.

        It is called where the render runs, with an `Observed`, and must not change what it
        is given. Whatever it raises goes to the log, not to the turn. A template that reads
        nothing has no values to tell.

        Returns:
            What ends it.
        """
        return self._observers.add(observer)

    # a turn ------------------------------------------------------------------------------------

    def _turn(
        self,
        definition: AgentDefinition | str | None,
        session: Any,
        auth: Any,
        extra_vars: Mapping[str, Any] | None,
        scopes: Mapping[str, Scope] | None,
        *,
        inline: bool,
    ) -> Turn | Prompt:
        """What has to be done; or the prompt of a template that reads nothing or is broken."""
        prepared = self._definitions.prepared(definition)
        if prepared is None:
            return _NO_TEMPLATE.trace()
        if prepared.template is None:
            assert prepared.failure is not None
            if prepared.lenient is None:
                raise prepared.failure
            return prepared.lenient.as_it_stands(prepared.failure)
        if prepared.constant:
            return prepared.template.trace()
        extra = {} if extra_vars is None else freeze_mapping(extra_vars)
        noticed: list[Diagnostic] = []
        zone = self._zone_of(session, auth, prepared, noticed)
        request = self._request(prepared.definition, session, auth, zone)
        planned = self._definitions.planned(prepared, extra, scopes)
        lasting = request.session_id is not None
        return Turn(
            prepared,
            planned,
            planned.sessions.get((request.session_id, request.user_id), Session),
            request,
            extra,
            about=(state_of(session), state_of(auth)) if lasting else None,
            timeout=self._timeout,
            inline=inline,
            noticed=noticed,
            observe=self._observing(prepared, request) if self._observers.present else None,
        )

    def _observing(
        self, prepared: Prepared, request: ProviderRequest
    ) -> Callable[[Mapping[str, Any]], None]:
        def tell(values: Mapping[str, Any]) -> None:
            reads = prepared.reads()
            names = sorted(values if reads is None else reads & values.keys())
            read = {name: values[name] for name in names}
            self._observers.tell(Observed(prepared.definition, request, read))

        return tell

    def _request(
        self,
        definition: AgentDefinition | None,
        session: Any,
        auth: Any,
        zone: datetime.tzinfo | None,
    ) -> ProviderRequest:
        return ProviderRequest(
            definition,
            session,
            auth,
            agent_id_of(definition),
            session_id_of(session),
            user_id_of(session, auth),
            self._now(),
            zone,
        )

    def _now(self) -> datetime.datetime:
        now = self._clock()
        return now if now.tzinfo is datetime.UTC else now.astimezone(datetime.UTC)

    def _zone_of(
        self, session: Any, auth: Any, prepared: Prepared, noticed: list[Diagnostic]
    ) -> datetime.tzinfo | None:
        try:
            return zone_of(session, auth, self._zone)
        except ProviderError as error:
            if prepared.lenient is None:
                raise
            _logger.warning("%s", error)
            noticed.append(error.diagnostic()._replace(severity="warning"))
            return self._zone


_NO_TEMPLATE = Template("")


def _checked_timeout(timeout: Any) -> float | None:
    if timeout is None or timeout == math.inf:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        raise ValueError("`timeout` must be a number of seconds above 0, or None")
    return float(timeout)


def _built_in(
    store: Store | None, tools: Iterable[Any], workspace: Workspace | None
) -> tuple[Any, ...]:
    return (
        CurrentDateProvider(),
        AgentMetadataProvider(),
        AgentToolsProvider(tools),
        WorkspaceFactsProvider(workspace),
        TodoListProvider(store),
        WorkspaceNotesProvider(store),
    )


def _utc_now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _name(definition: AgentDefinition | str | None) -> str | None:
    return definition.name if isinstance(definition, AgentDefinition) else None

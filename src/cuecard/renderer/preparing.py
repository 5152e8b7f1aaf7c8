"""Preparing: the templates of agents, read once, and the plans of who is asked for them."""

from __future__ import annotations

import logging
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace

from ..agents import AgentDefinition
from ..errors import PromptError
from ..files import Folder
from ..profile import Profile
from ..prompt import Scope
from ..providers import Plan, Registered, make_plan
from ..scanner import has_tags
from ..source import Source
from ..template import Template
from .memory import Bounded, Planned, Prepared

__all__ = ["Definitions"]

_logger = logging.getLogger("cuecard.renderer")

_MAX_PLANS = 16
_NO_NAMES: frozenset[str] = frozenset()
_NO_SCOPES: frozenset[tuple[str, Scope]] = frozenset()


class Definitions:
    """The definitions that a renderer has seen, the latest of them.

    Args:
        providers: the renderer's providers.
        profile: how templates are rendered whose definition names no profile.
        partials: the folder of partials, for profiles that allow it.
        max_definitions: so many are remembered.
        max_sessions: so many sessions of each plan are remembered.
    """

    def __init__(
        self,
        providers: Sequence[Registered],
        profile: Profile,
        partials: Folder | None,
        *,
        max_definitions: int,
        max_sessions: int,
    ) -> None:
        self._providers = providers
        self._provided = frozenset(
            name for each in providers for name in (*(each.provides or ()), *each.needs)
        )
        self._profile = profile
        self._partials = partials
        self._max_sessions = max_sessions
        self._known: Bounded[AgentDefinition | str, Prepared] = Bounded(max_definitions)

    def prepared(self, definition: AgentDefinition | str | None) -> Prepared | None:
        """The template of a definition; None when there is no definition.

        Raises:
            TemplateError: it is invalid, and the profile does not fall back.
            TypeError: it is neither an agent nor a template.
        """
        if definition is None:
            return None
        if not isinstance(definition, (AgentDefinition, str)):
            raise _no_definition(definition)
        return self._known.get(definition, lambda: self._prepare(definition))

    def _prepare(self, definition: AgentDefinition | str) -> Prepared:
        agent = None if isinstance(definition, str) else definition
        source = Source(definition) if isinstance(definition, str) else definition.source
        profile = self._profile if agent is None else agent.profile_or(self._profile)
        partials = self._partials if profile.partials else None
        lenient = Template(source, profile=profile) if profile.fallback else None
        plans: Bounded[Hashable, Planned] = Bounded(_MAX_PLANS)
        constant = not has_tags(source.text)
        try:
            strict = replace(profile, fallback=False)
            template = Template(source, profile=strict, partials=partials)
        except PromptError as error:
            if lenient is None:
                raise
            failure = error.without_frames()
            return Prepared(agent, source.text, None, lenient, failure, constant, plans)
        return Prepared(agent, source.text, template, lenient, None, constant, plans)

    # plans -------------------------------------------------------------------------------------

    def plan(self, definition: AgentDefinition | str | None, given: frozenset[str]) -> Plan:
        """Which providers run for a definition when the caller gives these variables."""
        prepared = self.prepared(definition)
        if prepared is None or prepared.template is None:
            return make_plan((), self._providers, given)
        return self.planned(prepared, given).plan._replace(overridden=given)

    def planned(
        self,
        prepared: Prepared,
        extra: Collection[str],
        scopes: Mapping[str, Scope] | None = None,
    ) -> Planned:
        """The plan of a template, and what holds as long as its definition.

        Args:
            prepared: the template.
            extra: the variables that the caller gives.
            scopes: how long those hold that hold for longer than a turn.
        """
        # Other names make no difference to which providers run.
        given = self._provided.intersection(extra)
        held = _NO_SCOPES
        if scopes:
            held = frozenset(item for item in scopes.items() if item[0] in extra)
        held |= self._defaults(prepared, extra)
        # The file of a partial may be edited, and then read something else.
        reads = _NO_NAMES if self._partials is None else prepared.reads()
        key = (given, reads, held)
        return prepared.plans.get(key, lambda: self._plan(prepared, given, held))

    def _defaults(self, prepared: Prepared, extra: Collection[str]) -> frozenset[tuple[str, Scope]]:
        """The inputs whose declared default is used: it changes only with the definition."""
        if prepared.definition is None or not prepared.definition.inputs:
            return _NO_SCOPES
        return frozenset(
            (entry.name, Scope.STATIC)
            for entry in prepared.definition.inputs
            if entry.default is not None
            and entry.name not in extra
            and entry.name not in self._provided
        )

    def _plan(
        self,
        prepared: Prepared,
        given: frozenset[str],
        held: frozenset[tuple[str, Scope]],
    ) -> Planned:
        assert prepared.template is not None
        reads = prepared.reads()
        plan = make_plan(reads, self._providers, given)
        for finding in plan.diagnostics:
            _logger.warning("%s", finding)
        own = {name: scope for name, scope in held if reads is None or name in reads}
        template = prepared.template.bind({}, {**plan.scopes, **own})
        lasting = frozenset(name for name, scope in own.items() if scope <= Scope.SESSION)
        return Planned(plan, template, Bounded(self._max_sessions), lasting)

    # forgetting --------------------------------------------------------------------------------

    def forget(
        self, definition: AgentDefinition | str | None, session: str | None, user: str | None
    ) -> None:
        """Forget what holds: of everything, of a definition, of a session, or of a user."""
        if session is None and user is None:
            self._known.discard(lambda key: definition is None or key == definition)
            return

        def unwanted(key: Hashable) -> bool:
            assert isinstance(key, tuple)
            return (session is None or key[0] == session) and (user is None or key[1] == user)

        for prepared in self._known.values():
            if definition is None or definition in (prepared.definition, prepared.source):
                for planned in prepared.plans.values():
                    planned.sessions.discard(unwanted)


def _no_definition(value: object) -> TypeError:
    kind = type(value).__name__
    return TypeError(f"expected an `AgentDefinition` or a template, got `{kind}`")

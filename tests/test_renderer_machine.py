"""Series of turns in a changing world: what a renderer remembers never shows in its text.

After every turn the text is held against that of a renderer that remembers nothing. Where a
provider fails, it is left out or goes on with what it gave last to this agent, session and
user: no other text will do.
"""

from __future__ import annotations

import datetime
import itertools
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import anyio
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from cuecard import AgentDefinition, PromptRenderer, Scope
from cuecard.providers import ProviderRequest

from .live_providers import SECRET, Clock, agent, renderer

TEMPLATES = (
    "{{ policy }}|{{ release }}|{{ greeting }}|{{ load }}",
    "{{ account }} {% if weather %}[{{ weather }}]{% endif %} {{ shout }} {{ greeting }}",
    "{% for x in load %}{{ x }};{% endfor %}{{ policy }}{{ later }}{{ silent }}{{ missing.name }}",
    "{% set s = account %}{{ release }}{{ s }}{{ policy }}{{ x }}{{ later }}{{ shout }}",
    "{{ greeting }} and nothing else",
)
SCOPES = {
    "policy": Scope.STATIC,
    "release": Scope.STATIC,
    "greeting": Scope.SESSION,
    "account": Scope.SESSION,
    "later": Scope.SESSION,
    "weather": Scope.DAY,
    "load": Scope.TURN,
    "shout": Scope.TURN,
    "silent": None,
}
STAMPED = ("release", "account")
BROKEN: dict[str, Any] = {"nothing": None, "text": SECRET, "object": {"any": object()}}
"""What a provider gives that fails without raising. The last is found at the render."""

EXTRA: tuple[tuple[dict[str, Any] | None, dict[str, Scope] | None], ...] = (
    (None, None),
    ({"x": "x"}, None),
    ({"load": ["given"], "x": [1]}, None),
    ({"greeting": "given"}, {"greeting": Scope.SESSION}),
    ({"account": "given", "policy": "given"}, {"account": Scope.STATIC}),
)


class World:
    """What providers look at. Their values change only as their scopes allow.

    Attributes:
        failing: how a provider or a stamp (`release.stamp`) fails.
        given: what each provider gave last, to whom it may be given again.
    """

    def __init__(self) -> None:
        self.clock = Clock()
        self.release = 0
        self.accounts = {"ann": 0, "bob": 0}
        self.load = ["1"]
        self.silent: str | None = "s"
        self.failing: dict[str, str] = {}
        self.given: dict[tuple[str, Any], Mapping[str, Any]] = {}

    def value(self, name: str, request: ProviderRequest) -> Any:
        """The value of a variable for a turn."""
        session = request.session or {}
        values: dict[str, Callable[[], Any]] = {
            "policy": lambda: f"<{request.definition.name}>" if request.definition else "<>",
            "release": lambda: f"r{self.release}",
            "greeting": lambda: f"{session.get('id')}:{session.get('note')}",
            "account": lambda: f"{request.user_id}-{self.accounts.get(request.user_id or '')}",
            "later": lambda: ["later", request.session_id],
            "weather": lambda: str(request.local_time.date()),
            "load": lambda: list(self.load),
            "shout": lambda: shouted(request.values.get("greeting")),
            "silent": lambda: self.silent,
        }
        return values[name]()


def shouted(greeting: Any) -> str:
    """A greeting louder. One that is no text is left out, but only after others have seen it."""
    return str(greeting if isinstance(greeting, str) else None).upper()


def whose(name: str, request: ProviderRequest) -> tuple[str, Any]:
    """For whom a value may be used again."""
    owner: Any = request.definition
    if SCOPES[name] is not Scope.STATIC:
        owner = (request.definition, request.session_id, request.user_id)
    return name, owner


class Provider:
    """A provider of one variable, which fails when the world says so.

    Args:
        world: where its value is from.
        name: the variable.
        instead: what it gives instead, in a renderer that is held against.
    """

    def __init__(self, world: World, name: str, instead: Mapping[str, Any] | None = None) -> None:
        scope = SCOPES[name]
        self.name = name
        self.provides = None if scope is None else {name: scope}
        self.priority = 5 if name == "shout" else 0
        self.needs = ["greeting"] if name == "shout" else []
        self._world = world
        self._instead = instead
        if name in STAMPED and instead is None:
            self.stamp = self._stamp
        if name == "later":
            self.acontribute = self._acontribute

    def contribute(self, request: ProviderRequest) -> Any:
        if self._instead is not None:
            return self._instead
        how = self._world.failing.get(self.name)
        if how == "raises":
            raise RuntimeError(SECRET)
        if how is not None:
            broken = BROKEN[how]
            return {self.name: broken["any"]} if how == "object" else broken
        given = {self.name: self._world.value(self.name, request)}
        self._world.given[whose(self.name, request)] = given
        return given

    async def _acontribute(self, request: ProviderRequest) -> Any:
        await anyio.sleep(0)
        return self.contribute(request)

    def _stamp(self, request: ProviderRequest) -> Any:
        if f"{self.name}.stamp" in self._world.failing:
            raise OSError(SECRET)
        return self._world.value(self.name, request)


def fresh(world: World, instead: Mapping[str, Mapping[str, Any]]) -> PromptRenderer:
    """A renderer that remembers nothing; some of its providers have fixed values."""
    providers = [Provider(world, name, instead.get(name)) for name in SCOPES]
    return renderer(*providers, clock=world.clock)


class Turns(RuleBasedStateMachine):
    """Turns of a few agents in a few sessions, and all that may change between them."""

    @initialize()
    def begin(self) -> None:
        logging.getLogger("cuecard").setLevel(logging.CRITICAL)
        self.world = World()
        providers = [Provider(self.world, name) for name in SCOPES]
        self.renderers = [
            renderer(*providers, clock=self.world.clock),
            renderer(*providers, clock=self.world.clock, max_definitions=1, max_sessions=1),
        ]
        self.definitions: list[AgentDefinition | str] = [
            agent(TEMPLATES[0], "one"),
            agent(TEMPLATES[1], "two"),
            TEMPLATES[2],
        ]
        self.sessions: list[dict[str, Any] | None] = [
            {"id": "s", "note": "a"},
            {"id": "t", "note": "b", "user_id": "bob"},
            None,
        ]
        self.last: tuple[int, int, str | None, int] = (0, 0, "ann", 0)

    def teardown(self) -> None:
        logging.getLogger("cuecard").setLevel(logging.NOTSET)

    # what changes ------------------------------------------------------------------------------

    @rule(which=st.integers(0, 2), template=st.sampled_from(TEMPLATES), name=st.sampled_from("ab"))
    def edit(self, which: int, template: str, name: str) -> None:
        self.definitions[which] = template if which == 2 else agent(template, name)

    @rule(which=st.integers(0, 1), note=st.sampled_from("abc"))
    def say(self, which: int, note: str) -> None:
        session = self.sessions[which]
        assert session is not None
        session["note"] = note

    @rule(which=st.integers(0, 1), zone=st.sampled_from(["Asia/Tokyo", "America/Lima"]))
    def travel(self, which: int, zone: str) -> None:
        self.sessions[which] = {**(self.sessions[which] or {}), "time_zone": zone}

    @rule(hours=st.sampled_from([1, 8, 30]))
    def wait(self, hours: int) -> None:
        self.world.clock.now += datetime.timedelta(hours=hours)

    @rule(user=st.sampled_from(["ann", "bob", None]), load=st.sampled_from(["1", "2"]))
    def change(self, user: str | None, load: str) -> None:
        self.world.load = [*self.world.load[-1:], load]
        self.world.silent = load if user else None
        if user is None:
            self.world.release += 1
        else:
            self.world.accounts[user] += 1

    @rule(
        name=st.sampled_from([*SCOPES, *(f"{name}.stamp" for name in STAMPED)]),
        how=st.sampled_from(["raises", *BROKEN]),
    )
    def fail(self, name: str, how: str) -> None:
        if len(self.world.failing) < 2:
            self.world.failing[name] = how

    @rule()
    def mend(self) -> None:
        self.world.failing.clear()

    @rule(
        which=st.integers(0, 2),
        session=st.sampled_from(["s", "t", None]),
        user=st.sampled_from(["ann", None]),
        everything=st.booleans(),
    )
    def invalidate(
        self, which: int, session: str | None, user: str | None, everything: bool
    ) -> None:
        definition = None if everything else self.definitions[which]
        for each in self.renderers:
            each.invalidate(definition, session=session, user=user)

    # turns -------------------------------------------------------------------------------------

    @rule(
        which=st.integers(0, 2),
        session=st.integers(0, 2),
        user=st.sampled_from(["ann", "bob", None]),
        extra=st.integers(0, len(EXTRA) - 1),
        how=st.sampled_from(["render", "render", "prompt", "asyncio", "trio"]),
        times=st.integers(1, 3),
    )
    def turn(
        self, which: int, session: int, user: str | None, extra: int, how: str, times: int
    ) -> None:
        self.last = which, session, user, extra
        self.again(how, times)

    @rule(
        how=st.sampled_from(["render", "render", "prompt", "asyncio", "trio"]),
        times=st.integers(1, 3),
    )
    def again(self, how: str, times: int) -> None:
        """A turn like the one before it, since what is remembered shows only in the next."""
        which, session, user, extra = self.last
        values, scopes = EXTRA[extra]
        arguments = (self.definitions[which], self.sessions[session], user, values)
        allowed = set(self.texts(arguments))
        for each in self.renderers:
            for _ in range(times):
                text = rendered(each, how, arguments, scopes)
                assert text in allowed
                assert SECRET not in text

    def texts(self, arguments: tuple[Any, ...]) -> Iterator[str]:
        """The texts that a turn may have: one, unless a provider fails."""
        definition, session, user, _ = arguments
        request = ProviderRequest(
            definition if isinstance(definition, AgentDefinition) else None,
            session,
            user,
            None,
            session and session["id"],
            (session or {}).get("user_id") or user,
            self.world.clock.now,
            None,
        )
        # Without a session nothing holds but what is static, and no other stamp is asked.
        unasked = {"account.stamp"} if session is None else set()
        failing = sorted({name.partition(".")[0] for name in {*self.world.failing} - unasked})
        given = dict(self.world.given)
        nothing: Mapping[str, Any] = {}
        choices = [
            [nothing, last] if (last := given.get(whose(name, request))) else [nothing]
            for name in failing
        ]
        for values in itertools.product(*choices):
            instead = dict(zip(failing, values, strict=True))
            yield fresh(self.world, instead).render(*arguments)
        self.world.given = given


def rendered(
    each: PromptRenderer, how: str, arguments: tuple[Any, ...], scopes: dict[str, Scope] | None
) -> str:
    """The text of a turn, by one of the four calls."""
    if how == "render":
        return each.render(*arguments, scopes=scopes)
    if how == "prompt":
        return each.prompt(*arguments, scopes=scopes).text
    text: str = anyio.run(partial(each.arender, *arguments, scopes=scopes), backend=how)
    return text


TestTurns = Turns.TestCase
TestTurns.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)

"""Scopes at work: what is fetched once, for how long it holds, and what makes it new."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cuecard import AgentDefinition, PromptRenderer, Scope, parse_agent
from cuecard.stores import SQLiteStore, TextStore, open_store

from .child_process import run_python
from .live_providers import Clock, Counted, agent, live, renderer

TEMPLATE = "{{ static }} {{ session }} {{ day }} {{ turn }}"


def four() -> dict[str, Counted]:
    """A provider of each scope, and one of which nothing is read."""
    made = {scope.name.lower(): Counted(scope.name, {scope.name.lower(): scope}) for scope in Scope}
    return {**made, "unread": Counted("unread", {"unread": Scope.TURN})}


def calls(providers: dict[str, Counted]) -> dict[str, int]:
    return {name: provider.calls for name, provider in providers.items()}


def test_how_often_each_is_asked() -> None:
    """Static once, session once a session, day once a day and session, turn always."""
    providers, clock = four(), Clock()
    made = renderer(*providers.values(), clock=clock, zone="UTC")
    texts = []
    for session in ("s", "t"):
        for _ in range(2):
            texts += [made.render(TEMPLATE, session, "ann") for _ in range(5)]
            clock.forward(days=1)
    assert calls(providers) == {"static": 1, "session": 2, "day": 4, "turn": 20, "unread": 0}
    assert texts[0] == "static1 session1 day1 turn1"
    assert texts[9] == "static1 session1 day2 turn10"
    assert texts[19] == "static1 session2 day4 turn20"


def test_one_provider_of_all_scopes() -> None:
    """Each of its values holds for as long as it says, though it is asked at every turn."""
    clock = Clock()
    all_of_them = Counted("all", {scope.name.lower(): scope for scope in Scope})
    made = renderer(all_of_them, clock=clock, zone="UTC")
    texts = [made.render(TEMPLATE, "s"), made.render(TEMPLATE, "s")]
    clock.forward(days=1)
    texts += [made.render(TEMPLATE, "s"), made.render(TEMPLATE, "t"), made.render(TEMPLATE, "s")]
    assert texts == [
        "static1 session1 day1 turn1",
        "static1 session1 day1 turn2",
        "static1 session1 day3 turn3",
        "static1 session4 day4 turn4",
        "static1 session1 day3 turn5",
    ]


def test_without_a_session_only_static_values_hold() -> None:
    """Nobody knows whether it is the same conversation, whoever the user is."""
    providers = four()
    made = renderer(*providers.values())
    for auth in (None, None, "ann", "ann"):
        made.render(TEMPLATE, None, auth)
        made.render(TEMPLATE, {"topic": "x"}, auth)
    assert calls(providers) == {"static": 1, "session": 8, "day": 8, "turn": 8, "unread": 0}


def test_variables_of_the_caller_that_come_and_go() -> None:
    """They do not make anyone fetch anew what holds."""
    providers = four()
    made = renderer(*providers.values())
    for extra in (None, {"x": 1}, {"y": 2}, {"unrelated": 3}, None):
        made.render(TEMPLATE + "{{ x }}{{ y }}", "s", "ann", extra)
    assert calls(providers) == {"static": 1, "session": 1, "day": 1, "turn": 5, "unread": 0}


# what changes ----------------------------------------------------------------------------------

BASE = agent("{{ a }} {{ agent_name }} {{ tools | length }}")
DEFINITIONS: dict[str, tuple[AgentDefinition, bool]] = {
    "equal": (replace(BASE), False),
    "elsewhere": (replace(BASE, path=Path("other.md")), False),
    "body": (replace(BASE, system_prompt=BASE.system_prompt + "!"), True),
    "name": (replace(BASE, name="other"), True),
    "header": (replace(BASE, extras={"color": "red"}), True),
    "tools": (replace(BASE, tools=("search",)), True),
}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_changed_definition(name: str) -> None:
    """A definition that says something else is another one; one that says the same is not."""
    definition, changed = DEFINITIONS[name]
    static = Counted("static", {"a": Scope.STATIC})
    made = live(providers=[static], tools=[{"name": "search"}, {"name": "read"}])
    for _ in range(3):
        assert made.render(BASE, "s") == "a1 triage 2"
    for _ in range(3):
        text = made.render(definition, "s")
    assert static.calls == 1 + changed
    tools = 1 if definition.tools else 2
    end = "!" if name == "body" else ""
    assert text == f"a{1 + changed} {definition.name} {tools}{end}"


@dataclass(slots=True)
class Slots:
    id: str
    user_id: str | None = None
    time_zone: Any = None
    stage: Any = "open"


def objects(**fields: Any) -> Any:
    return SimpleNamespace(**{"user_id": None, "time_zone": None, "stage": "open", **fields})


CHANGES: dict[str, dict[str, Any]] = {
    "user_id": {"user_id": "bob"},
    "time_zone": {"time_zone": "Asia/Tokyo"},
    "zone": {"time_zone": datetime.timezone(datetime.timedelta(hours=9))},
    "text": {"stage": "closed"},
    "number": {"stage": 2},
    "null": {"stage": None},
    "date": {"stage": datetime.date(2026, 11, 29)},
    "enum": {"stage": Scope.DAY},
}


@pytest.mark.parametrize("kind", [dict, objects, Slots])
@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_session(kind: Callable[..., Any], name: str) -> None:
    """A session of the same id of which a text, number, date or zone changed is asked about."""
    session = Counted("session", {"a": Scope.SESSION})
    static = Counted("static", {"b": Scope.STATIC})
    made = renderer(session, static)
    texts = [made.render("{{ a }}{{ b }}", kind(id="s")) for _ in range(3)]
    texts += [made.render("{{ a }}{{ b }}", kind(id="s", **CHANGES[name])) for _ in range(3)]
    assert texts == ["a1b1"] * 3 + ["a2b1"] * 3
    assert static.calls == 1


def test_a_changed_auth() -> None:
    """Who is served may change too."""
    session = Counted("session", {"a": Scope.SESSION})
    made = renderer(session)
    for role in ("reader", "reader", "owner", "owner"):
        text = made.render("{{ a }}", "s", {"user_id": "ann", "role": role})
    assert text == "a2"


def test_a_session_that_cannot_be_looked_into() -> None:
    """Nobody knows whether it changed, so it is asked about at every turn."""

    class Opaque:
        __slots__ = ("id", "stage")
        id: str
        stage: str

    opaque = Opaque()
    opaque.id, opaque.stage = "s", "open"
    made = renderer(
        Counted("stage", {"a": Scope.SESSION}, lambda request: {"a": request.session.stage})
    )
    assert [made.render("{{ a }}", opaque) for _ in range(3)] == ["open"] * 3
    opaque.stage = "closed"
    assert made.render("{{ a }}", opaque) == "closed"


@pytest.mark.parametrize("address", ["file:{}/files", "sqlite:{}/store.db"])
@pytest.mark.parametrize("session", ["s", None])
def test_a_changed_note(address: str, session: str | None, tmp_path: Path) -> None:
    """A note or a profile that is stored, by whomever, is seen at the next turn; else not read."""
    with (
        open_store(address.format(tmp_path)) as store,
        open_store(address.format(tmp_path)) as elsewhere,
    ):
        reads: list[str] = []
        _count(store, reads)
        made = live(store=store)
        definition = agent("{{ user_notes }}|{{ user_profile }}")

        def turns() -> set[str]:
            return {made.render(definition, session, "ann") for _ in range(4)}

        assert turns() == {"|"}
        store.set_notes("triage", "ann", "one")
        assert turns() == {"one|"}
        elsewhere.append_note("triage", "ann", "two")
        assert turns() == {"one\ntwo|"}
        elsewhere.set_profile("ann", "Ann")
        assert turns() == {"one\ntwo|Ann"}
        store.set_notes("triage", "ann", None)
        assert turns() == {"|Ann"}
        assert len(reads) == (5 if session else 20)


def _count(store: TextStore, reads: list[str]) -> None:
    notes = store.notes

    def counted(agent: str, user: str) -> str | None:
        reads.append(user)
        return notes(agent, user)

    store.notes = counted  # type: ignore[method-assign]


class Stamped(Counted):
    """A provider with a stamp."""

    version: Any = 1
    asked = 0

    def stamp(self, request: Any) -> Any:
        self.asked += 1
        return self.version


@pytest.mark.parametrize("scope", [Scope.STATIC, Scope.SESSION, Scope.DAY])
def test_a_stamp(scope: Scope) -> None:
    """While it is equal the values hold; every session sees when it is not, also much later."""
    stamped = Stamped("stamped", {"a": scope})
    made = renderer(stamped)

    def texts(session: str) -> set[str]:
        return {made.render("{{ a }}{{ x }}", session) for _ in range(4)}

    once = scope is Scope.STATIC
    assert texts("s") == {"a1"}
    assert texts("t") == {"a1" if once else "a2"}
    stamped.version = 2
    assert texts("s") == {"a2" if once else "a3"}
    assert texts("t") == {"a2" if once else "a4"}
    stamped.version = None
    assert texts("t") == {"a3" if once else "a5"}
    assert texts("s") == {"a3" if once else "a6"}
    assert stamped.asked == 24


def test_a_stamp_of_turns_is_not_asked_for() -> None:
    """What changes at every turn needs none."""
    stamped = Stamped("stamped", {"a": Scope.TURN})
    made = renderer(stamped)
    assert [made.render("{{ a }}", "s") for _ in range(3)] == ["a1", "a2", "a3"]
    assert stamped.asked == 0


def test_the_values_of_one_user_are_not_another_s() -> None:
    """Static values are shared by all sessions, and no others, even when a provider fails."""

    def give(request: Any) -> dict[str, Any]:
        if request.user_id == "bob":
            raise RuntimeError
        return {"a": "static", "b": f"of {request.user_id}"}

    made = renderer(Counted("mixed", {"a": Scope.STATIC, "b": Scope.SESSION}, give))
    for session in ("s", "t", None):
        for _ in range(3):
            assert made.render("{{ a }} {{ b }}", session, "ann") == "static of ann"
            assert made.render("{{ a }} {{ b }}", session, "bob") == "static "
            assert made.render("{{ a }} {{ b }}", {"id": session, "user_id": "bob"}) == "static "


# forgetting --------------------------------------------------------------------------------------


def forgotten(forget: Callable[[PromptRenderer, AgentDefinition], None]) -> dict[str, int]:
    """How many calls each provider got after something was forgotten, in two sessions."""
    providers = four()
    made = renderer(*providers.values())
    definition = agent(TEMPLATE)
    sessions = [("s", "ann"), ("t", "bob")]

    def turn() -> None:
        for session, user in sessions:
            made.render(definition, session, user)

    for _ in range(3):
        turn()
    before = calls(providers)
    forget(made, definition)
    turn()
    turn()
    after = calls(providers)
    return {name: after[name] - before[name] for name in ("static", "session", "day")}


FORGET: dict[str, tuple[Callable[[Any, AgentDefinition], None], tuple[int, int, int]]] = {
    "nothing": (lambda made, definition: None, (0, 0, 0)),
    "everything": (lambda made, definition: made.invalidate(), (1, 2, 2)),
    "the definition": (lambda made, definition: made.invalidate(definition), (1, 2, 2)),
    "another definition": (lambda made, definition: made.invalidate(agent("x")), (0, 0, 0)),
    "a session": (lambda made, definition: made.invalidate(session="s"), (0, 1, 1)),
    "a session by itself": (lambda made, _: made.invalidate(session={"id": "t"}), (0, 1, 1)),
    "another session": (lambda made, definition: made.invalidate(session="u"), (0, 0, 0)),
    "a user": (lambda made, definition: made.invalidate(user="bob"), (0, 1, 1)),
    "a session of another user": (
        lambda made, definition: made.invalidate(session="s", user="bob"),
        (0, 0, 0),
    ),
    "a session of the definition": (
        lambda made, definition: made.invalidate(definition, session="s"),
        (0, 1, 1),
    ),
    "a session of another definition": (
        lambda made, definition: made.invalidate(agent("x"), session="s"),
        (0, 0, 0),
    ),
}


@pytest.mark.parametrize("name", FORGET)
def test_forgetting(name: str) -> None:
    """What is forgotten is fetched again, and nothing else."""
    forget, expected = FORGET[name]
    assert tuple(forgotten(forget).values()) == expected


def test_what_is_not_used_for_long_goes_first() -> None:
    """A session beyond the bound is fetched again; one that is in use stays."""
    session = Counted("session", {"a": Scope.SESSION})
    made = renderer(session, max_sessions=2)
    texts = [made.render("{{ a }}", each) for each in ("s", "t", "s", "u", "s", "t")]
    assert texts == ["a1", "a2", "a1", "a3", "a1", "a4"]


def test_definitions_have_a_bound_too() -> None:
    """An agent beyond it is read and fetched again."""
    static = Counted("static", {"a": Scope.STATIC})
    made = renderer(static, max_definitions=2)
    texts = [made.render(agent("{{ a }}", name), "s") for name in ("x", "y", "x", "z", "x", "y")]
    assert texts == ["a1", "a2", "a1", "a3", "a1", "a4"]


MEMORY = """
import gc, sys
from cuecard import PromptRenderer, Scope

@cuecard.provider("a", "b", scope={"a": Scope.SESSION, "b": Scope.DAY})
def give(request):
    return {"a": "x" * 200 + str(request.session_id), "b": ["y" * 50]}

renderer = PromptRenderer([give], max_sessions=16, max_definitions=8)

def sessions(numbers):
    for number in numbers:
        for _ in range(2):
            session = {"id": str(number), "text": "z" * 100 + str(number)}
            renderer.render("{{ a }} {{ b }} {{ current_date }} {{ x }}", session, "ann", {"x": 1})

def definitions(numbers):
    for number in numbers:
        for _ in range(2):
            renderer.render("{{ a }}" + str(number), "s", None, {"a": 1, f"x{number}": 1})

def held():
    gc.collect()
    return sys.getallocatedblocks()

for work, count in ((sessions, 10_000), (definitions, 1_000)):
    work(range(count // 10))
    before = held()
    work(range(count // 10, count))
    print(held() - before < 5_000)
"""


def test_memory_is_flat() -> None:
    """10,000 sessions and 1,000 definitions later no more is held than after a tenth of them."""
    assert run_python(MEMORY, timeout=120).split() == ["True", "True"]


def test_renderers_share_nothing() -> None:
    """Two renderers of the same providers each ask for themselves."""
    static = Counted("static", {"a": Scope.STATIC})
    assert [renderer(static).render("{{ a }}", "s") for _ in range(2)] == ["a1", "a2"]


def test_a_store_that_is_closed_and_another_renderer() -> None:
    """A renderer keeps no store of its own: what one store says never shows through another."""
    definition = agent("{{ user_notes }}")
    with SQLiteStore(":memory:") as one, SQLiteStore(":memory:") as two:
        one.set_notes("triage", "ann", "one")
        two.set_notes("triage", "ann", "two")
        texts = [live(store=each).render(definition, "s", "ann") for each in (one, two)]
    assert texts == ["one", "two"]


def test_what_is_bound_is_bound_once() -> None:
    """From the third turn on the front of the prompt is the same object."""
    made = renderer(
        Counted("static", {"a": Scope.STATIC}, {"a": "x" * 100}),
        Counted("turn", {"b": Scope.TURN}),
    )
    prompts = [made.prompt("{{ a }}\n{{ b }}", "s") for _ in range(4)]
    fronts = [prompt.blocks()[0] for prompt in prompts]
    assert fronts[2] is fronts[3]
    assert {block.text for block in fronts} == {"x" * 100 + "\n"}


def test_a_declared_default_holds_as_long_as_the_definition() -> None:
    """It changes with the agent's file alone, until the caller gives something else."""
    header = "---\nname: spoke\ninputs:\n  style: {type: string, default: brief}\n---\n"
    spoke = parse_agent(header + "Be {{ style }}. It is {{ current_time }}.")
    made = PromptRenderer(entry_points=False)
    usual = made.prompt(spoke, session="s")
    other = made.prompt(spoke, session="s", extra_vars={"style": "loud"})
    again = made.prompt(spoke, session="s")
    assert [p.cacheable_prefix.characters for p in (usual, other, again)] == [16, 3, 16]
    assert usual.text.startswith("Be brief.")
    assert other.text.startswith("Be loud.")
    assert again.blocks()[0].scope is Scope.STATIC

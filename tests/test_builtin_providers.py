"""The built-in providers: names, formats, priorities and scopes are those of the design."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import cuecard
from cuecard import STRICT, ProviderError
from cuecard.providers import find_zone, state_of, todo_list_markdown
from cuecard.stores import FileStore, SQLiteStore, TodoItem, read_todos
from cuecard.workspace import Workspace

from .case_files import Case, parameters
from .live_providers import NOON, Clock, agent, codes, live

SetZone = Callable[[str], None]


@pytest.fixture
def machine_zone() -> Iterator[SetZone]:
    """Sets the zone of the machine."""
    before = os.environ.get("TZ")

    def set_zone(name: str | None) -> None:
        if name is None:
            os.environ.pop("TZ", None)
        else:
            os.environ["TZ"] = name
        time.tzset()

    yield set_zone
    set_zone(before)


PROVIDERS = {
    "current_date": (
        0,
        {"current_date": "day", "current_time": "turn", "current_datetime": "turn"},
    ),
    "agent_metadata": (
        0,
        {
            "agent_name": "static",
            "agent_id": "static",
            "namespace": "static",
            "user_id": "session",
            "session_id": "session",
        },
    ),
    "agent_tools": (0, {"tools": "static"}),
    "workspace": (
        0,
        {"workspace": "static", "environment": "static", "skills": "session", "user": "session"},
    ),
    "todo_list": (10, {"todos": "turn", "todo_list_md": "turn"}),
    "workspace_notes": (100, {"user_notes": "session", "user_profile": "session"}),
}


def test_the_table_of_the_design() -> None:
    """Names, order, priorities and scopes."""
    known = {
        each.name: (each.priority, {n: s.name.lower() for n, s in (each.provides or {}).items()})
        for each in live().providers
    }
    assert known == PROVIDERS
    assert list(known) == list(PROVIDERS)


# dates -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", parameters("dates.jsonl"))
def test_a_date(case: Case, machine_zone: SetZone) -> None:
    """Date and time in the user's zone, else the configured one, else the machine's; UTC."""
    machine_zone(case.get("machine", "America/Caracas"))
    renderer = live(
        clock=Clock(datetime.datetime.fromisoformat(case["now"])), zone=case.get("zone")
    )
    template = "{{ current_date }} {{ current_time }} {{ current_datetime }}"
    text = renderer.render(template, case.get("session"), case.get("auth"))
    assert text == f"{case['date']} {case['time']} {case['datetime']}"


def test_the_day_rolls_over_in_a_running_session() -> None:
    """The date is that of the user's day at each turn, and the same all day long."""
    clock = Clock(datetime.datetime(2026, 11, 29, 22, 58, tzinfo=datetime.UTC))
    renderer = live(clock=clock)
    session = {"id": "s", "time_zone": "Europe/Berlin"}
    dates = []
    for _ in range(4):
        dates.append(renderer.render("{{ current_date }}", session))
        clock.forward(minutes=1)
    assert dates == ["2026-11-29", "2026-11-29", "2026-11-30", "2026-11-30"]


def test_a_user_who_travels() -> None:
    """A zone that changes within a session changes the date at the next turn."""
    renderer = live(zone="UTC")
    for zone, date in (
        ("Pacific/Kiritimati", "2026-11-30"),
        ("Pacific/Honolulu", "2026-11-29"),
        (ZoneInfo("Pacific/Kiritimati"), "2026-11-30"),
        (None, "2026-11-29"),
    ):
        assert renderer.render("{{ current_date }}", {"id": "s", "time_zone": zone}) == date


BAD_ZONES = ["Mars/Olympus", "", "../../etc/passwd", "/etc/passwd", "America", 7, "a\0b", "\udfff"]


@pytest.mark.parametrize("zone", BAD_ZONES)
def test_a_zone_that_is_none(zone: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A turn goes on in the configured zone, and says so; a strict profile raises."""
    session = {"id": "s", "time_zone": zone}
    prompt = live(zone="Asia/Tokyo").prompt("{{ current_time }}", session)
    assert prompt.text == "21:00"
    assert codes(prompt) == ["P306"]
    assert "P306" in caplog.text
    with pytest.raises(ProviderError) as caught:
        live(profile=STRICT).render("{{ current_time }}", session)
    assert caught.value.code == "P306"
    assert "Europe/Berlin" in (caught.value.hint or "")
    assert not zone or str(zone) not in caught.value.message + caplog.text


def test_the_profile_of_the_agent_decides() -> None:
    """An agent whose header says `strict` raises for a zone that is none, others go on."""
    session = {"id": "s", "time_zone": "Mars/Olympus"}
    with pytest.raises(ProviderError, match="P306"):
        live().render(agent("{{ current_time }}", profile="strict"), session)
    live(profile=STRICT).render(agent("{{ current_time }}", profile="live"), session)


def test_a_configured_zone_that_is_none() -> None:
    """The renderer does not begin with one."""
    with pytest.raises(ProviderError, match="P306"):
        live(zone="Mars/Olympus")
    with pytest.raises(ProviderError, match="P306"):
        find_zone("Mars/Olympus")


# metadata ----------------------------------------------------------------------------------------

SHOWN = "agent_name agent_id where user_id session_id"
METADATA = " ".join(f"{{{{ {name} | tojson }}}}" for name in SHOWN.split())
METADATA += "".join(f"{{{{ {name} is defined }}}}" for name in SHOWN.split())


@cuecard.provider("where", needs=["namespace"], priority=1)
def where(request: Any) -> dict[str, Any]:
    """The namespace, under a name that is not the engine's."""
    return {"where": request.values["namespace"]}


@dataclass(slots=True)
class Slots:
    id: Any = None
    user_id: Any = None


WHO: dict[str, tuple[Any, Any, Any, str]] = {
    "nothing": (None, None, None, "null null null null null"),
    "agent": (agent("", id="7", namespace="ops"), None, None, '"triage" "7" "ops" null null'),
    "agent-without-id": (agent(""), None, None, '"triage" null null null null'),
    "ids": (None, "s", "ann", 'null null null "ann" "s"'),
    "mappings": (None, {"id": "s"}, {"user_id": "ann"}, 'null null null "ann" "s"'),
    "session_id": (None, {"session_id": "s"}, {"id": "ann"}, 'null null null "ann" "s"'),
    "claims": (None, None, {"sub": "ann"}, 'null null null "ann" null'),
    "session-first": (
        None,
        {"id": "s", "user_id": "ann"},
        {"user_id": "bob"},
        'null null null "ann" "s"',
    ),
    "objects": (None, SimpleNamespace(id=7, user_id=8), None, 'null null null "8" "7"'),
    "slots": (None, Slots("s", "ann"), None, 'null null null "ann" "s"'),
    "empty-objects": (None, SimpleNamespace(), SimpleNamespace(), "null null null null null"),
}


@pytest.mark.parametrize("name", WHO)
def test_metadata(name: str) -> None:
    """Ids are found on whatever objects a runtime has; what is not known is null, not absent."""
    definition, session, auth, expected = WHO[name]
    if definition is not None:
        definition = replace(definition, system_prompt=METADATA)
    renderer = live(profile=STRICT, providers=[where])
    assert renderer.render(definition or METADATA, session, auth) == expected + "True" * 5


def test_the_state_of_a_session() -> None:
    """Texts, numbers, dates and zones are compared; lists and what is in them are not held."""
    history = ["a"] * 1000
    assert state_of(SimpleNamespace(a=1, b="x", c=None, history=history)) == {
        "a": 1,
        "b": "x",
        "c": None,
    }
    assert state_of({"a": NOON, "history": history}) == {"a": NOON}
    assert state_of(Slots("s", 7)) == {"id": "s", "user_id": 7}
    assert state_of("s") == "s"

    class Hidden:
        __slots__ = ("id",)

    assert state_of(Hidden()) != state_of(Hidden())


# tools -------------------------------------------------------------------------------------------

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
TOOLS = [
    {"name": "search", "description": "Finds.", "parameters": SCHEMA},
    {"name": "read"},
    {"name": "write", "description": None, "parameters": {}},
]
ENABLED: dict[str, tuple[list[Any], tuple[str, ...] | None, list[str], list[str]]] = {
    "all": (TOOLS, None, ["search", "read", "write"], []),
    "star": (TOOLS, ("*",), ["search", "read", "write"], []),
    "in-the-agent's-order": (TOOLS, ("write", "search"), ["write", "search"], []),
    "none": (TOOLS, (), [], []),
    "unknown": (TOOLS, ("read", "fly"), ["read"], ["fly"]),
    "names-alone": ([], ("write", "fly"), ["write", "fly"], []),
    "nothing": ([], None, [], []),
}


@pytest.mark.parametrize("name", ENABLED)
def test_tools(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """The enabled tools in order; one that is named and not known is left out, with a warning."""
    tools, named, expected, unknown = ENABLED[name]
    template = "{% for t in tools %}{{ t.name }},{% endfor %}"
    text = live(tools=tools).render(agent(template, tools=named))
    assert text.split(",")[:-1] == expected
    assert [each for each in unknown if each not in caplog.text] == []
    assert bool(caplog.records) == bool(unknown)


def test_the_keys_of_a_tool() -> None:
    """Name, description, which is never null, and parameters, in this order."""
    text = live(tools=TOOLS).render("{% for t in tools %}{{ t | tojson }}\n{% endfor %}")
    assert text.splitlines() == [
        '{"name": "search", "description": "Finds.", "parameters": {"type": "object", '
        '"properties": {"q": {"type": "string"}}}}',
        '{"name": "read", "description": "", "parameters": {}}',
        '{"name": "write", "description": "", "parameters": {}}',
    ]


# todo lists --------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", parameters("todo_list.jsonl"))
def test_a_todo_list(case: Case) -> None:
    """The items as data, and as Markdown to the byte."""
    items = read_todos(case["items"])
    assert todo_list_markdown(items) == case["md"]
    with SQLiteStore(":memory:") as store:
        store.set_todos("s", items)
        renderer = live(store=store, profile=STRICT)
        text = renderer.render("{{ todo_list_md }}|{{ todos | tojson }}", "s")
    shown, _, data = text.rpartition("|")
    assert shown == (case["md"] or "")
    assert cuecard.render("{{ t | tojson }}", {"t": case["todos"]}) == data


@pytest.mark.parametrize("store", [None, SQLiteStore(":memory:")], ids=["no store", "store"])
@pytest.mark.parametrize("session", [None, "s"])
def test_no_todo_list(store: Any, session: str | None) -> None:
    """No store, no session or no items: an empty list, and null."""
    template = "{{ todos | tojson }} {{ todo_list_md | tojson }}"
    assert live(store=store, profile=STRICT).render(template, session) == "[] null"


def test_a_todo_list_is_fetched_at_every_turn() -> None:
    """A replaced list is seen at the next turn; each session has its own."""
    with SQLiteStore(":memory:") as store:
        renderer = live(store=store)
        template = "{% for t in todos %}{{ t.display_text }};{% endfor %}"
        texts = []
        for content in ("A", "B"):
            store.set_todos("s", [TodoItem(content)])
            texts.append((renderer.render(template, "s"), renderer.render(template, "other")))
    assert texts == [("A;", ""), ("B;", "")]


# notes -------------------------------------------------------------------------------------------


@pytest.fixture(params=["files", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FileStore | SQLiteStore]:
    """A blank store that needs no server."""
    path = tmp_path / "store"
    made = FileStore(path) if request.param == "files" else SQLiteStore(path)
    with made:
        yield made


NOTES = "{{ user_notes | tojson }} {{ user_profile | tojson }}"


def test_notes(store: FileStore | SQLiteStore) -> None:
    """Notes are the agent's and the user's, the profile the user's; stripped; absent is null."""
    renderer = live(store=store, profile=STRICT)
    mine, other = agent(NOTES, "mine"), agent(NOTES, "other")
    assert renderer.render(mine, "s", "ann") == "null null"
    store.set_notes("mine", "ann", "\n  likes é  \n")
    store.set_profile("ann", " \n")
    assert renderer.render(mine, "s", "ann") == '"likes é" null'
    store.set_profile("ann", "Ann ")
    assert renderer.render(mine, "s", "ann") == '"likes é" "Ann"'
    assert renderer.render(other, "s", "ann") == 'null "Ann"'
    assert renderer.render(mine, "s", "bob") == "null null"
    assert renderer.render(mine, "s") == "null null"
    assert renderer.render(NOTES, "s", "ann") == 'null "Ann"'
    store.set_notes("mine", "ann", None)
    assert renderer.render(mine, "s", "ann") == 'null "Ann"'


def test_notes_are_known_by_the_agent_s_id(store: FileStore | SQLiteStore) -> None:
    """An agent that has an id is known by it, else by its name."""
    store.set_notes("7", "ann", "by id")
    renderer = live(store=store)
    assert renderer.render(agent("{{ user_notes }}", id="7"), "s", "ann") == "by id"


def test_only_what_is_read_is_fetched(store: FileStore | SQLiteStore) -> None:
    """A template that reads the profile alone does not fetch the notes."""
    store.set_profile("ann", "Ann")
    calls: list[str] = []
    store.notes = lambda *ids: calls.append("notes")  # type: ignore[method-assign]
    assert live(store=store).render(agent("{{ user_profile }}"), "s", "ann") == "Ann"
    assert calls == []


# the workspace -----------------------------------------------------------------------------------


def test_what_the_workspace_knows(tmp_path: Path) -> None:
    """The markdown path's variables are there too, each fetched when it is read."""
    (tmp_path / ".agents" / "skills" / "sql").mkdir(parents=True)
    skill = "---\nname: sql\ndescription: Queries.\n---\nBODY\n"
    (tmp_path / ".agents" / "skills" / "sql" / "SKILL.md").write_text(skill)
    (tmp_path / ".agents" / "USER.md").write_text("Be brief.\n")
    renderer = live(workspace=Workspace(tmp_path, home=tmp_path / "home"), profile=STRICT)
    names = "{% for s in skills %}{{ s.name }}: {{ s.description }}{% endfor %}"
    assert renderer.render(f"{names}|{{{{ user }}}}") == "sql: Queries.|Be brief.\n"
    assert renderer.render("{{ workspace }}") == str(tmp_path.resolve())
    assert renderer.render(agent("{% for s in skills %}{{ s.body }}{% endfor %}")) == "BODY\n"
    nowhere = live(profile=STRICT)
    four = "{{ workspace }}{{ skills }}{{ user }}{{ environment }}"
    assert nowhere.render(four) == ""

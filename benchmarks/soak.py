"""Soak: a day of a busy service in millions of renders, whose memory must stay flat.

Threads share one renderer with a store in SQLite. Sessions begin and end, agents are edited,
notes and plans change, providers fail, are slow or are coroutines, templates are broken, the
day ends. What is rendered is checked. README.md says how to read the table.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import gc
import json
import logging
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil

import cuecard
from cuecard import AgentDefinition, PromptRenderer, Scope
from cuecard.stores import Store, TodoItem, open_store
from report import machine, table

DAY = datetime.timedelta(days=1)
BEGIN = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)
AGENTS = 12
"""Agents that are served at once; after a while one goes, and another comes."""

SESSIONS = 50
"""Sessions that are open at once."""

LENGTH = 20
"""Turns of a session."""

ROUND = 5_000
"""Renders after which every thread takes another share."""

LIMITS = {"memory": 12.0, "objects": 20_000, "threads": 3, "descriptors": 3}
"""What a sample may have more than the first after the warm-up. Memory is in MiB."""

HEAD = "{{ agent_name }} serves {{ user_id }} in {{ session_id }}\n"
TEMPLATES = (
    "Version {version}.\n{{% for tool in tools %}}\n- {{{{ tool.name }}}}\n{{% endfor %}}\n",
    "Today is {{{{ current_date }}}}. {{{{ weather }}}} {{{{ load }}}} {version}\n",
    "{{% if user_notes %}}{{{{ user_notes }}}}{{% endif %}}\n{{{{ todo_list_md }}}} {version}",
    "{{{{ policy }}}} {{{{ x | default('none') }}}} {{{{ flaky }}}} {version}\n",
    "{{% for item in load_list %}}{{{{ loop.index }}}}{{{{ item }}}}{{% endfor %}} {version}\n",
    "{{{{ policy }}}}{{{{ current_time }}}}{{{{ missing.name }}}} {version}\n",
)
BROKEN = "{{ agent_name }} {% if %} {version}"
TOOLS = [{"name": f"tool_{n}", "description": "Does it.", "parameters": {}} for n in range(8)]


class Sample(NamedTuple):
    """What the process holds after so many renders.

    Attributes:
        renders: how many.
        seconds: since the start.
        memory: resident, in MiB.
        objects: that Python's collector knows.
        threads: of the process.
        descriptors: open ones.
    """

    renders: int
    seconds: float
    memory: float
    objects: int
    threads: int
    descriptors: int


def sample(renders: int, begun: float) -> Sample:
    gc.collect()
    process = psutil.Process()
    return Sample(
        renders,
        time.monotonic() - begun,
        process.memory_info().rss / 2**20,
        len(gc.get_objects()),
        process.num_threads(),
        process.num_fds(),
    )


class Service:
    """What the threads share.

    Args:
        store: where notes and plans are.
        total: renders of the whole day.
    """

    def __init__(self, store: Store, total: int) -> None:
        self.store = store
        self.total = total
        self.done = 0
        self.failures: list[str] = []
        self.renderer = PromptRenderer(
            self._providers(),
            entry_points=False,
            store=store,
            tools=TOOLS,
            clock=lambda: BEGIN + DAY * (self.done / total),
            zone="Asia/Tokyo",
            max_definitions=AGENTS + 4,
            max_sessions=SESSIONS // 2,
        )

    def _providers(self) -> Iterator[Any]:
        @cuecard.provider("weather", scope=Scope.DAY)
        def weather(request: Any) -> dict[str, Any]:
            return {"weather": "snow" * 20}

        @cuecard.provider("load", "load_list")
        def load(request: Any) -> dict[str, Any]:
            return {"load": self.done, "load_list": [self.done, "é", None]}

        @cuecard.provider("policy", scope=Scope.SESSION)
        def policy(request: Any) -> dict[str, Any]:
            return {"policy": f"policy {self.done // 10_000} " * 10}

        policy.stamp = lambda request: self.done // 10_000  # type: ignore[attr-defined]

        @cuecard.provider("flaky")
        def flaky(request: Any) -> dict[str, Any]:
            if self.done % 50 == 0:
                raise RuntimeError("down")
            return {"flaky": "up"}

        @cuecard.provider("slow", timeout=0.001)
        def slow(request: Any) -> dict[str, Any]:
            time.sleep(0.002 * (self.done % 2))
            return {"slow": "slow"}

        @cuecard.provider("later")
        async def later(request: Any) -> dict[str, Any]:
            await asyncio.sleep(0)
            return {"later": "later"}

        yield from (weather, load, policy, flaky, slow, later)

    def agent(self, number: int, version: int) -> AgentDefinition:
        """An agent as it is now; it is another after each edit."""
        template = TEMPLATES[number % len(TEMPLATES)].format(version=version)
        return AgentDefinition(name=f"agent-{number}", system_prompt=HEAD + template)


def work(service: Service, numbers: range) -> None:
    """Serve these turns, in a loop of the thread's own where a turn is asynchronous."""
    loop = asyncio.new_event_loop()
    try:
        for number in numbers:
            turn(service, number, loop)
    except BaseException as error:
        service.failures.append(f"{type(error).__name__}: {error}")
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def turn(service: Service, number: int, loop: asyncio.AbstractEventLoop) -> None:
    """One turn; at some, something else happens too."""
    service.done = number
    open_since = number // (SESSIONS * LENGTH) * SESSIONS
    index = open_since + number % SESSIONS
    agent = service.agent(number // 100_000 + index % AGENTS, number // 20_000)
    session, user = f"s{index}", f"user-{index % 97}"
    extra = {"x": number} if number % 3 == 0 else None
    renderer = service.renderer
    if number % 500 == 0:
        change(service, number, agent.name or "", session, user)
    if number % 200 == 1:
        text = loop.run_until_complete(renderer.arender(agent, session, user, extra))
    elif number % 50 == 2:
        text = renderer.prompt(agent, session, user, extra).text
    elif number % 10_000 == 3:
        text = renderer.render(HEAD + "{{ slow }}{{ later }}", session, user, extra)
        agent = AgentDefinition()
    elif number % 1_000 == 4:
        values = {"agent_name": None, "user_id": user, "session_id": session}
        text = cuecard.render(HEAD + str(number), values)
        agent = AgentDefinition()
    else:
        text = renderer.render(agent, session, user, extra)
    if not text.startswith(f"{agent.name or ''} serves {user} in {session}\n"):
        service.failures.append(f"turn {number}: another text")


def change(service: Service, number: int, agent: str, session: str, user: str) -> None:
    """What changes between turns: notes, plans, templates with faults, sessions that end."""
    store = service.store
    store.set_notes(agent, user, f"notes {number} " * 20)
    store.set_todos(session, [TodoItem(f"step {n} {number}") for n in range(5)])
    service.renderer.render(BROKEN.replace("{version}", str(number)), session, user)
    service.renderer.invalidate(session=session)
    if number % 20_000 == 0:
        store.set_notes(agent, user, None)
        store.set_todos(session, ())


def soak(renders: int, threads: int, samples: int) -> Iterator[Sample]:
    """Render, and give a sample every so often.

    Raises:
        SystemExit: a turn failed, or gave another text.
    """
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder, "a.db")) as store:
        service = Service(store, renders)
        done = 0
        for goal in (renders * n // samples for n in range(1, samples + 1)):
            while done < goal:
                count = min(ROUND, goal - done)
                workers = [
                    threading.Thread(
                        target=work, args=(service, range(done + n, done + count, threads))
                    )
                    for n in range(threads)
                ]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()
                done += count
                if service.failures:
                    sys.exit("\n".join(service.failures[:10]))
            yield sample(done, begun)


def grown(samples: list[Sample]) -> list[str]:
    """What did not stay flat after the warm-up, which is the first quarter."""
    warm, *rest = samples[max(0, len(samples) // 4 - 1) :]
    return [
        f"{name}: {getattr(warm, name):,.0f} grew to {getattr(worst, name):,.0f}"
        for name, limit in LIMITS.items()
        for worst in [max(rest, key=lambda each: float(getattr(each, name)), default=warm)]
        if getattr(worst, name) - getattr(warm, name) > limit
    ]


def cells(each: Sample) -> tuple[str, ...]:
    return (
        f"{each.renders:,}",
        f"{each.seconds:,.0f} s",
        f"{each.memory:.1f} MiB",
        f"{each.objects:,}",
        str(each.threads),
        str(each.descriptors),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renders", type=int, default=5_000_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--json", metavar="FILE", help="write the samples there too")
    options = parser.parse_args()
    # What fails is meant to fail, and said in the log.
    logging.getLogger("cuecard").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore", cuecard.FallbackWarning)
    samples: list[Sample] = []
    for each in soak(options.renders, options.threads, options.samples):
        samples.append(each)
        print(" ".join(f"{cell:>12}" for cell in cells(each)), file=sys.stderr, flush=True)
    print(f"{options.renders:,} renders in {options.threads} threads; {machine()}\n")
    print(table(Sample._fields, [cells(each) for each in samples]))
    if options.json:
        text = json.dumps([each._asdict() for each in samples], indent=2) + "\n"
        Path(options.json).write_text(text, encoding="utf-8")
    found = grown(samples)
    print("\n" + ("\n".join(found) or "all stayed flat"))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

"""Cancellation at every await: a render or a write that is given up leaves nothing half done.

A task is cancelled at its n-th suspension, for every n until it completes. A suspension is
where the task itself, a coroutine of a provider or a thread of a provider could be waiting.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import trio

import cuecard
from cuecard import PromptRenderer, Scope
from cuecard.stores import FileStore, SQLiteStore, TextStore, TodoItem

from .live_providers import Clock, Counted, agent, codes, renderer

HOW = ("task of asyncio", "scope of asyncio", "scope of trio")


class Suspensions:
    """Counts suspensions, and cancels at one of them.

    Attributes:
        count: how many there were.
        cancel: what cancels the task under test.
    """

    def __init__(self, at: int) -> None:
        self.count = 0
        self.cancel: Callable[[], object] = lambda: None
        self._at = at

    def reached(self) -> None:
        """Note a suspension; the task is cancelled if it is the one."""
        self.count += 1
        if self.count == self._at:
            self.cancel()

    async def point(self) -> None:
        """A suspension of a provider."""
        self.reached()
        await anyio.lowlevel.checkpoint()

    @property
    def cancelled(self) -> bool:
        """Whether the suspension at which to cancel was reached."""
        return self.count >= self._at


class Stepped(Awaitable[Any]):
    """A coroutine whose own suspensions are counted."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any], suspensions: Suspensions) -> None:
        self._coroutine = coroutine
        self._suspensions = suspensions

    def __await__(self) -> Generator[Any, Any, Any]:
        step, given = self._coroutine.send, None
        while True:
            try:
                waiting = step(given)
            except StopIteration as end:
                return end.value
            self._suspensions.reached()
            try:
                given, step = (yield waiting), self._coroutine.send
            except BaseException as error:
                given, step = error, self._coroutine.throw


async def cancelled_at(
    suspensions: Suspensions, how: str, call: Callable[[], Coroutine[Any, Any, Any]]
) -> Any:
    """What a call gives that may be cancelled at a suspension; None when it was."""
    if how.startswith("task"):

        async def run() -> Any:
            return await Stepped(call(), suspensions)

        task = asyncio.ensure_future(run())
        suspensions.cancel = task.cancel
        done, _ = await asyncio.wait([task], timeout=30)
        assert done, "the task hangs"
        return None if task.cancelled() else task.result()
    with anyio.fail_after(30), anyio.CancelScope() as scope:
        suspensions.cancel = scope.cancel
        return await Stepped(call(), suspensions)
    return None


def run(how: str, function: Callable[[], Awaitable[Any]]) -> Any:
    """Run a function in the loop of a kind; nothing may be left of it but idle threads."""

    async def main() -> Any:
        result = await function()
        if how.endswith("asyncio"):
            for _ in range(3):
                await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}
        return result

    return anyio.run(main, backend=how.rpartition(" ")[2])


@pytest.fixture
def before() -> set[threading.Thread]:
    """The threads that there were before a test."""
    return set(threading.enumerate())


def threads_left(before: set[threading.Thread]) -> list[str]:
    """The threads of renderers and stores that are gone, which have a moment to end."""
    end = time.monotonic() + 10
    while True:
        gc.collect()
        new = set(threading.enumerate()) - before
        left = [each.name for each in new if each.name.startswith("cuecard")]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.01)


def calls_of_loop() -> Callable[[Callable[[], None]], None]:
    """What calls a function in the loop that runs now, from a thread, and waits for it."""
    if trio.lowlevel.in_trio_run():
        token = trio.lowlevel.current_trio_token()
        return lambda function: trio.from_thread.run_sync(function, trio_token=token)
    loop = asyncio.get_running_loop()

    def call(function: Callable[[], None]) -> None:
        async def run() -> None:
            function()

        asyncio.run_coroutine_threadsafe(run(), loop).result()

    return call


class World:
    """Providers of every kind, which suspend where they can.

    Attributes:
        suspensions: of the turn under test.
        turn: the value of what holds for a turn.
    """

    def __init__(self) -> None:
        self.suspensions = Suspensions(0)
        self.turn = 0

    def providers(self) -> list[Any]:
        """Coroutines, threads, threads with a limit, stamps, and one that needs another."""
        return [
            Counted("a", {"a": Scope.STATIC}, acontribute=self._later("a")),
            Counted("b", {"b": Scope.SESSION}, self._blocking("b")),
            Counted("c", {"c": Scope.TURN}, acontribute=self._later("c"), timeout=30),
            Counted("d", {"d": Scope.TURN}, self._blocking("d"), timeout=30),
            Counted("e", {"e": Scope.SESSION}, self._now("e"), astamp=self._astamp, stamp=str),
            Counted("f", {"f": Scope.DAY}, self._now("f"), instant=True),
            Counted("g", {"g": Scope.TURN}, acontribute=self._needing, priority=1, needs=["c"]),
        ]

    def text(self) -> str:
        """The right text of a turn."""
        return f"a b c{self.turn} d{self.turn} e f C{self.turn}"

    def _value(self, name: str) -> str:
        return f"{name}{self.turn}" if name in "cd" else name

    def _now(self, name: str) -> Callable[[Any], Any]:
        return lambda request: {name: self._value(name)}

    def _later(self, name: str) -> Callable[[Any], Any]:
        async def give(request: Any) -> dict[str, Any]:
            await self.suspensions.point()
            await self.suspensions.point()
            return {name: self._value(name)}

        return give

    def _blocking(self, name: str) -> Callable[[Any], Any]:
        in_loop = calls_of_loop()

        def give(request: Any) -> dict[str, Any]:
            # The loop is told before and after, as if the thread was cancelled at work.
            for _ in range(2):
                in_loop(self.suspensions.reached)
            return {name: self._value(name)}

        return give

    async def _astamp(self, request: Any) -> str:
        await self.suspensions.point()
        return "stamp"

    async def _needing(self, request: Any) -> dict[str, Any]:
        await self.suspensions.point()
        return {"g": request.values["c"].upper()}


TEMPLATE = "{{ a }} {{ b }} {{ c }} {{ d }} {{ e }} {{ f }} {{ g }}"


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("warm", [0, 2], ids=["first turn", "third turn"])
def test_renders(how: str, warm: int, before: set[threading.Thread]) -> None:
    """Wherever a turn is cancelled, it ends; the next turns are right, and nothing is left."""

    async def turns() -> list[int]:
        cancelled = []
        for at in itertools.count(1):
            world = World()
            made = renderer(*world.providers())
            for _ in range(warm):
                assert await made.arender(TEMPLATE, "s") == world.text()
            world.suspensions = Suspensions(at)
            text = await cancelled_at(world.suspensions, how, partial(made.arender, TEMPLATE, "s"))
            assert text in (None, world.text())
            cancelled += [at] if text is None else []
            reached = world.suspensions.cancelled
            for _ in range(3):
                world.turn += 1
                world.suspensions = Suspensions(0)
                assert await made.arender(TEMPLATE, "s") == world.text()
            if not reached:
                return cancelled
        raise AssertionError

    cancelled = run(how, turns)
    assert len(cancelled) >= 8
    assert threads_left(before) == []


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", ["files", "sqlite"])
def test_renders_with_a_store(how: str, kind: str, tmp_path: Path) -> None:
    """The same for the built-in providers, whose store has a single connection to lose."""
    store = store_of(kind, tmp_path)
    definition = agent("{{ user_notes }} {{ todos | length }} {{ user_profile }} {{ agent_name }}")

    async def turns() -> int:
        await store.aset_profile("ann", "profile")
        for at in itertools.count(1):
            made = PromptRenderer(entry_points=False, store=store, clock=Clock())
            await store.aset_notes("triage", "ann", f"notes {at}")
            await store.aset_todos("s", [TodoItem("a")] * at)
            right = f"notes {at} {at} profile triage"
            suspensions = Suspensions(at)
            text = await cancelled_at(
                suspensions, how, partial(made.arender, definition, "s", "ann")
            )
            assert text in (None, right)
            for _ in range(3):
                assert await made.arender(definition, "s", "ann") == right
            if not suspensions.cancelled:
                return at
        raise AssertionError

    assert run(how, turns) > 3
    store.close()


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", ["files", "sqlite"])
def test_writes(how: str, kind: str, tmp_path: Path) -> None:
    """Wherever a write is cancelled, it is done; a reading is done or given up."""
    store = store_of(kind, tmp_path)
    calls: list[Callable[[str], Coroutine[Any, Any, Any]]] = [
        lambda text: store.aset_notes("agent", "ann", text),
        lambda text: store.aappend_note("agent", "ann", text),
        lambda text: store.aset_profile("ann", text),
        lambda text: store.aset_todos("s", [TodoItem(text)]),
    ]

    async def write(number: int, at: int) -> bool:
        text = f"text {number} {at}"
        suspensions = Suspensions(at)
        await cancelled_at(suspensions, how, lambda: calls[number](text))
        kept = (
            (await store.anotes("agent", "ann") or "").split("\n")[-1],
            (await store.anotes("agent", "ann") or "").split("\n")[-1],
            await store.aprofile("ann"),
            "".join(item.content for item in await store.atodos("s")),
        )
        assert kept[number] == text
        await cancelled_at(Suspensions(at), how, lambda: store.astamp("agent", "ann", "s"))
        return suspensions.cancelled

    async def writes() -> None:
        for number in range(len(calls)):
            at = 1
            while await write(number, at):
                at += 1
            assert at > 1

    run(how, writes)
    store.close()


def store_of(kind: str, folder: Path) -> TextStore:
    """A store in which a connection or a lock that is not given back is soon missed."""
    if kind == "files":
        return FileStore(folder / "files", timeout=2)
    return SQLiteStore(folder / "store.db", timeout=2, connections=1)


# time-outs ---------------------------------------------------------------------------------------

SLOW = ("coroutine", "thread", "stamp", "awaitable")


@pytest.mark.parametrize("mode", ["sync", "asyncio", "trio"])
def test_time_outs_of_any(mode: str) -> None:
    """Whichever providers are late, they are given up, and the others are there."""
    ended = threading.Event()
    for chosen in itertools.product([False, True], repeat=len(SLOW)):
        late = {name for name, is_late in zip(SLOW, chosen, strict=True) if is_late}
        made = renderer(*late_providers(late, ended))
        template = "".join(f"{{{{ {name} }}}}" for name in SLOW)
        if mode == "sync":
            prompt = made.prompt(template, "s")
        else:
            prompt = anyio.run(made.aprompt, template, "s", backend=mode)
        assert prompt.text == "".join(name[0] for name in SLOW if name not in late)
        assert codes(prompt).count("P302") == len(late)
        assert len(prompt.providers) == len(SLOW)
    ended.set()


class Later(Awaitable[Any]):
    """An awaitable that begins when it is awaited."""

    def __init__(self, function: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self._function = function

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._function().__await__()


def late_providers(late: set[str], ended: threading.Event) -> list[Any]:
    """A provider of each kind; those that are late wait until all is over."""

    async def coroutine(request: Any) -> dict[str, Any]:
        if "coroutine" in late:
            await anyio.sleep(30)
        return {"coroutine": "c"}

    def thread(request: Any) -> dict[str, Any]:
        if "thread" in late:
            ended.wait(30)
        return {"thread": "t"}

    def stamp(request: Any) -> str:
        if "stamp" in late:
            ended.wait(30)
        return "1"

    async def awaited() -> dict[str, Any]:
        if "awaitable" in late:
            await anyio.sleep(30)
        return {"awaitable": "a"}

    limits = {name: 0.02 if name in late else 30 for name in SLOW}
    return [
        cuecard.provider("coroutine", timeout=limits["coroutine"])(coroutine),
        Counted("thread", {"thread": Scope.TURN}, thread, timeout=limits["thread"]),
        Counted(
            "stamp", {"stamp": Scope.SESSION}, {"stamp": "s"}, stamp=stamp, timeout=limits["stamp"]
        ),
        Counted(
            "awaitable",
            {"awaitable": Scope.TURN},
            lambda request: Later(awaited),
            timeout=limits["awaitable"],
        ),
    ]

"""The asynchronous twins, and renders that threads and tasks share."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

import cuecard
from cuecard import STRICT, ProviderError, Scope
from cuecard.stores import TodoItem, open_store

from .child_process import run_python
from .live_providers import SECRET, Counted, agent, codes, live, raising, renderer, states

USER: contextvars.ContextVar[str] = contextvars.ContextVar("user")


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs a coroutine function in an event loop of each kind."""

    def call(function: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
        return anyio.run(function, *arguments, backend=request.param)

    return call


class Asynchronous(Counted):
    """A provider whose `contribute` is a coroutine function."""

    async def contribute(self, request: Any) -> Any:
        await anyio.sleep(0)
        return super().contribute(request)


class Both(Counted):
    """A provider with a plain method and its twin, with and without a stamp."""

    asynchronously = 0

    async def acontribute(self, request: Any) -> Any:
        self.asynchronously += 1
        await anyio.sleep(0)
        return self.contribute(request)


TEMPLATE = "{{ a }} {{ b }} {{ c }} {{ d }} {{ x }}"


def test_the_twins_give_the_same(run: Callable[..., Any]) -> None:
    """Text, providers and what holds are the same as those of a plain render."""
    both = Both("both", {"b": Scope.SESSION})
    providers = [
        Asynchronous("asynchronous", {"a": Scope.STATIC}),
        both,
        Counted("plain", {"c": Scope.DAY}),
        Asynchronous("turn", {"d": Scope.TURN}, priority=1),
    ]
    made = renderer(*providers)

    async def turns() -> list[str]:
        texts = [await made.arender(TEMPLATE, "s", None, {"x": 1})]
        prompt = await made.aprompt(TEMPLATE, "s", None, {"x": 1})
        assert prompt.seconds > 0
        assert set(states(prompt).values()) == {"kept", "called"}
        return [*texts, prompt.text]

    texts = run(turns)
    texts += [made.render(TEMPLATE, "s", None, {"x": 1})]
    assert texts == [f"a1 b1 c1 d{number} 1" for number in (1, 2, 3)]
    assert both.asynchronously == 1


def test_coroutines_of_one_priority_run_together(run: Callable[..., Any]) -> None:
    """Five wait for each other, so that they can only end when all of them have begun."""
    begun: list[str] = []
    everyone: list[anyio.Event] = []

    def waiting(name: str) -> Any:
        @cuecard.provider(name, name=name)
        async def wait(request: Any) -> dict[str, Any]:
            begun.append(name)
            if len(begun) == 5:
                everyone[0].set()
            await everyone[0].wait()
            return {name: name}

        return wait

    names = ["a", "b", "c", "d", "x"]
    made = renderer(*map(waiting, names))

    async def turn() -> str:
        everyone.append(anyio.Event())
        with anyio.fail_after(30):
            return await made.arender(TEMPLATE)

    assert run(turn) == "a b c d x"
    begun.clear()
    everyone.clear()

    @cuecard.provider("first", priority=-1)
    async def first(request: Any) -> dict[str, Any]:
        everyone.append(anyio.Event())
        return {}

    # An event belongs to a loop, which a plain render makes for each priority.
    everyone.append(_ThreadEvent())  # type: ignore[arg-type]
    assert renderer(first, *map(waiting, names)).render(TEMPLATE) == "a b c d x"


class _ThreadEvent:
    """An event that any loop may wait for."""

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        self._set = True

    async def wait(self) -> None:
        while not self._set:
            await anyio.sleep(0.001)


def test_priorities_run_one_after_another(run: Callable[..., Any]) -> None:
    """A later priority begins when the earlier one has ended, and sees what it gave."""
    order: list[str] = []

    async def slow(request: Any) -> dict[str, Any]:
        order.append("begin")
        await anyio.sleep(0.01)
        order.append("end")
        return {"a": "A"}

    def later(request: Any) -> dict[str, Any]:
        order.append("later")
        return {"b": request.values["a"] + "+"}

    after = Counted("later", {"b": Scope.TURN}, later, priority=1, needs=["a"])
    made = renderer(cuecard.provider("a")(slow), after)
    assert run(made.arender, "{{ a }} {{ b }}") == "A A+"
    assert order == ["begin", "end", "later"]


def test_plain_providers_do_not_hold_up_the_loop(run: Callable[..., Any]) -> None:
    """They run in a thread, while coroutines go on; instant ones are called in place."""
    threads: dict[str, str] = {}
    released = threading.Event()

    def blocking(request: Any) -> dict[str, Any]:
        threads["plain"] = threading.current_thread().name
        assert released.wait(30)
        return {"a": "A"}

    async def releasing(request: Any) -> dict[str, Any]:
        released.set()
        return {"b": "B"}

    def instant(request: Any) -> dict[str, Any]:
        threads["instant"] = threading.current_thread().name
        return {"c": "C"}

    made = renderer(
        Counted("plain", {"a": Scope.TURN}, blocking),
        cuecard.provider("b")(releasing),
        Counted("instant", {"c": Scope.TURN}, instant, instant=True),
    )
    assert run(made.arender, "{{ a }}{{ b }}{{ c }}") == "ABC"
    assert threads["instant"] == threading.current_thread().name != threads["plain"]


def test_a_plain_function_that_gives_an_awaitable(run: Callable[..., Any]) -> None:
    """What it gives is awaited, in either kind of render."""

    async def give() -> dict[str, Any]:
        await anyio.sleep(0)
        return {"a": "A"}

    made = renderer(Counted("lambda", {"a": Scope.TURN}, lambda request: give()))
    timed = renderer(Counted("lambda", {"a": Scope.TURN}, lambda request: give(), timeout=30))
    for each in (made, timed):
        assert (each.render("{{ a }}"), run(each.arender, "{{ a }}")) == ("A", "A")


def test_a_plain_render_in_a_running_loop(run: Callable[..., Any]) -> None:
    """It works there too, with coroutines, and context variables reach them."""

    async def give(request: Any) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"a": USER.get()}

    made = renderer(cuecard.provider("a")(give), Asynchronous("b", {"b": Scope.SESSION}))

    async def turn() -> list[str]:
        USER.set("ann")
        return [made.render("{{ a }} {{ b }}", "s") for _ in range(3)]

    assert run(turn) == ["ann b1"] * 3


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interruption_in_a_running_loop(
    run: Callable[..., Any], error: type[BaseException]
) -> None:
    """An interruption of one coroutine among several goes through as it is."""
    made = renderer(
        cuecard.provider("a")(_raising_coroutine(error())), Asynchronous("b", {"b": Scope.TURN})
    )

    async def plain() -> None:
        made.render("{{ a }}{{ b }}", "s")

    for turn in (plain, lambda: made.arender("{{ a }}{{ b }}", "s")):
        with pytest.raises(error):
            run(turn)


def _raising_coroutine(error: BaseException) -> Callable[[Any], Awaitable[Any]]:
    async def fail(request: Any) -> Any:
        await anyio.sleep(0)
        raise error

    return fail


def test_context_variables_reach_providers(run: Callable[..., Any]) -> None:
    """Coroutines, threads and threads with a time limit see those of the caller."""

    def give(name: str) -> Callable[[Any], Any]:
        return lambda request: {name: USER.get()}

    class Waiting(Counted):
        async def contribute(self, request: Any) -> Any:
            return super().contribute(request)

    made = renderer(
        Counted("a", {"a": Scope.TURN}, give("a")),
        Counted("b", {"b": Scope.TURN}, give("b"), timeout=30),
        Waiting("c", {"c": Scope.TURN}, give("c")),
        Counted("d", {"d": Scope.TURN}, give("d"), instant=True),
    )

    async def turn(user: str) -> str:
        USER.set(user)
        return await made.arender(TEMPLATE)

    assert run(turn, "ann") == "ann ann ann ann "
    context = contextvars.copy_context()
    context.run(USER.set, "bob")
    assert context.run(made.render, TEMPLATE) == "bob bob bob bob "


# failures and cancellation -----------------------------------------------------------------------

FAILING: dict[str, tuple[Any, str]] = {
    "coroutine": (cuecard.provider("a")(_raising_coroutine(RuntimeError(SECRET))), "P301"),
    "thread": (Counted("plain", {"a": Scope.TURN}, raising(RuntimeError(SECRET))), "P301"),
    "no-mapping": (Asynchronous("none", {"a": Scope.TURN}, lambda request: SECRET), "P303"),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_provider_that_fails(name: str, run: Callable[..., Any]) -> None:
    """As in a plain render: LIVE goes on, others raise, and the others of its priority end."""
    failing, code = FAILING[name]
    other = Asynchronous("other", {"b": Scope.TURN})
    prompt = run(renderer(failing, other).aprompt, "{{ a }}|{{ b }}")
    assert prompt.text == "|b1"
    assert code in codes(prompt)
    assert SECRET not in str(prompt.diagnostics)
    with pytest.raises(ProviderError) as caught:
        run(renderer(failing, other, profile=STRICT).arender, "{{ a }}|{{ b }}")
    assert caught.value.code == code
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("kind", ["coroutine", "thread"])
def test_a_provider_that_is_too_slow(kind: str, run: Callable[..., Any]) -> None:
    """It is given up when its time is over, and the others are not."""
    ended = threading.Event()

    async def sleep(request: Any) -> Any:
        await anyio.sleep(30)

    plain = Counted("slow", {"a": Scope.TURN}, lambda request: ended.wait(30), timeout=0.02)
    slow = cuecard.provider("a", timeout=0.02)(sleep) if kind == "coroutine" else plain
    other = Asynchronous("other", {"b": Scope.TURN}, timeout=30)

    async def turn() -> cuecard.Prompt:
        with anyio.fail_after(15):
            return await renderer(slow, other).aprompt("{{ a }}|{{ b }}")

    prompt = run(turn)
    ended.set()
    assert prompt.text == "|b1"
    assert "P302" in codes(prompt)


@pytest.mark.parametrize("kind", ["coroutine", "coroutines", "thread"])
def test_a_render_that_is_cancelled(kind: str, run: Callable[..., Any]) -> None:
    """It ends at once, whatever it waits for, and the next turn is right."""
    waits = [True]
    ended = threading.Event()

    async def wait(request: Any) -> dict[str, Any]:
        if waits:
            await anyio.sleep(30)
        return {"a": "A"}

    def block(request: Any) -> dict[str, Any]:
        if waits:
            ended.wait(30)
        return {"a": "A"}

    waiting = Counted("a", {"a": Scope.SESSION}, block)
    providers = [waiting if kind == "thread" else cuecard.provider("a")(wait)]
    providers += [Asynchronous("b", {"b": Scope.TURN})] if kind == "coroutines" else []
    made = renderer(*providers, Counted("c", {"c": Scope.SESSION}, instant=True))
    template = "{{ a }}{{ c }}" + ("{{ b }}" if kind == "coroutines" else "")

    async def turns() -> list[str]:
        with anyio.move_on_after(0.5) as scope:
            await made.arender(template, "s")
        assert scope.cancelled_caught
        waits.clear()
        ended.set()
        return [await made.arender(template, "s") for _ in range(3)]

    expected = [f"Ac2b{number}" for number in (2, 3, 4)] if kind == "coroutines" else ["Ac2"] * 3
    assert run(turns) == expected


def test_a_cancelled_task_of_asyncio() -> None:
    """`Task.cancel` ends a render as it ends any coroutine."""

    async def wait(request: Any) -> dict[str, Any]:
        await asyncio.sleep(30)
        return {}

    made = renderer(cuecard.provider("a")(wait), Asynchronous("b", {"b": Scope.TURN}))

    async def turn() -> None:
        task = asyncio.create_task(made.arender("{{ a }}{{ b }}"))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(turn())


# stores ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["file:{}/files", "sqlite:{}/store.db"])
def test_stores(address: str, run: Callable[..., Any], tmp_path: Path) -> None:
    """Notes, profiles and todo lists are seen at the next turn here too."""
    definition = agent("{{ user_notes }}{% for t in todos %}{{ t.display_text }}{% endfor %}")
    with open_store(address.format(tmp_path)) as store:
        made = live(store=store)

        async def turns() -> list[str]:
            texts = [await made.arender(definition, "s", "ann") for _ in range(3)]
            await store.aset_notes("triage", "ann", "notes ")
            await store.aset_todos("s", [TodoItem("todo")])
            texts += [await made.arender(definition, "s", "ann") for _ in range(3)]
            await store.aset_todos("s", [])
            return [*texts, await made.arender(definition, "s", "ann")]

        assert run(turns) == ["", "", "", *["notestodo"] * 3, "notes"]


# many at once ------------------------------------------------------------------------------------

MANY = """
import asyncio, datetime, sys, threading
from cuecard import PromptRenderer, Scope

sys.setswitchinterval(1e-5)
ASYNCHRONOUS = {asynchronous}

class Provider:
    name = "one"
    provides = {{"a": Scope.STATIC, "b": Scope.SESSION, "c": Scope.TURN}}

    def contribute(self, request):
        session = request.session
        return {{"a": "A", "b": f"<{{session['id']}}>", "c": [session["turn"], "é"]}}

class Waiting(Provider):
    async def contribute(self, request):
        await asyncio.sleep(0)
        return super().contribute(request)

def stamp(request):
    return request.session["turn"] // 5

versioned = cuecard.provider("v", scope=Scope.SESSION)(
    lambda request: {{"v": request.session["turn"] // 5}}
)
versioned.stamp = stamp
made = PromptRenderer(
    [Waiting() if ASYNCHRONOUS else Provider(), versioned], builtins=False, max_sessions=40
)
TEMPLATE = "{{{{a}}}} {{{{b}}}} {{{{v}}}} {{% for y in c %}}{{{{y}}}}{{% endfor %}} {{{{x}}}}"
wrong = []

def session_of(number, turn):
    return {{"id": f"s{{number % 60}}-{{number}}", "turn": turn}}

def check(text, number, turn):
    expected = f"A <s{{number % 60}}-{{number}}> {{turn // 5}} {{turn}}é {{number}}"
    if text != expected:
        wrong.append((text, expected))

def work(number):
    barrier.wait()
    for turn in range(200):
        for each in (number, 8):
            text = made.render(TEMPLATE, session_of(each, turn), None, {{"x": each}})
            check(text, each, turn)

async def task(number):
    for turn in range(2):
        text = await made.arender(TEMPLATE, session_of(number, turn), None, {{"x": number}})
        check(text, number, turn)

async def tasks():
    await asyncio.gather(*map(task, range(1000)))

if ASYNCHRONOUS:
    asyncio.run(tasks())
else:
    barrier = threading.Barrier(8)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(len(wrong), wrong[:3])
"""


@pytest.mark.parametrize("asynchronous", [False, True], ids=["8 threads", "1000 tasks"])
def test_many_at_once(asynchronous: bool) -> None:
    """Every text is that of its own session and turn, also where all share one session."""
    program = MANY.format(asynchronous=asynchronous)
    assert run_python(program, timeout=60) == "0 []\n"


HANGING = """
import asyncio, threading, time
import cuecard

threading.stack_size(1 << 19)
released = threading.Event()

@cuecard.provider("stuck", timeout=0.05)
def stuck(request):
    released.wait(60)
    return {"stuck": "never"}

@cuecard.provider("a")
def fine(request):
    return {"a": "fine"}

made = cuecard.PromptRenderer([stuck, fine], entry_points=False)

async def tasks():
    hanging = asyncio.gather(*(made.arender("{{ stuck }}") for _ in range(30)))
    texts = [await made.arender("{{ a }}", str(number)) for number in range(30)]
    return {*texts, *await hanging}

texts = []
threads = [threading.Thread(target=lambda: texts.append(asyncio.run(tasks()))) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
texts.append(asyncio.run(tasks()))
released.set()
print(texts == [{"", "fine"}] * 5)
"""


def test_functions_that_hang_leave_room_for_others() -> None:
    """However many threads never come back, other providers are called all the same."""
    program = f"import logging; logging.disable()\n{HANGING}"
    assert run_python(program, timeout=60) == "True\n"


ENDLESS = """
import asyncio, logging, sys, threading
import cuecard
logging.disable()

@cuecard.provider("stuck", timeout=0.05)
def stuck(request):
    threading.Event().wait()

made = cuecard.PromptRenderer([stuck], entry_points=False)
if ASYNCHRONOUS:
    text = asyncio.run(made.arender("[{{ stuck }}]"))
else:
    text = made.render("[{{ stuck }}]")
print(text)
"""


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_process_ends_without_what_hangs(asynchronous: bool) -> None:
    """A function that was given up does not hold the process at its end."""
    program = ENDLESS.replace("ASYNCHRONOUS", str(asynchronous))
    assert run_python(program, timeout=30) == "[]\n"


FORKED = """
import asyncio, os
import cuecard

@cuecard.provider("a")
def provide(request):
    return {"a": os.getpid()}

made = cuecard.PromptRenderer([provide], entry_points=False)
assert asyncio.run(made.arender("{{ a }}")) == str(os.getpid())
child = os.fork()
if not child:
    assert asyncio.run(made.arender("{{ a }}")) == str(os.getpid())
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_has_threads_of_its_own() -> None:
    """A child renders, also when its parent had threads for it."""
    assert run_python(FORKED, timeout=60) == "7\n"


LOADING = """
import contextlib, importlib, sys, threading, time
sys.path.insert(0, {folder!r})
import cuecard

@cuecard.provider("a", timeout=5)
def provide(request):
    return {{"a": request.session_id}}

made = cuecard.PromptRenderer([provide], entry_points=False)

def load(name):
    with contextlib.suppress(ImportError):
        importlib.import_module(name)

threads = [threading.Thread(target=load, args=(name,)) for name in {names!r}]
for thread in threads:
    thread.start()
rounds = 0
while not rounds or any(thread.is_alive() for thread in threads):
    rounds += 1
    text = made.render("{{{{ a }}}}", str(rounds))
    assert text == str(rounds), text
    if rounds == 1:
        assert all(thread.is_alive() for thread in threads)
print("ok")
"""


def test_packages_that_another_thread_is_loading(tmp_path: Path) -> None:
    """What is loaded by halves is as good as not loaded."""
    names = ("sniffio", "trio", "opentelemetry.trace")
    (tmp_path / "opentelemetry").mkdir()
    (tmp_path / "opentelemetry" / "__init__.py").touch()
    for name in names:
        path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        path.write_text("import time\ntime.sleep(0.5)\nraise ImportError\n", encoding="utf-8")
    assert run_python(LOADING.format(folder=str(tmp_path), names=names), timeout=60) == "ok\n"

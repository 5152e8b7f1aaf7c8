"""Failures: under LIVE the turn survives and says so; other profiles raise, with the cause kept."""

from __future__ import annotations

import itertools
import logging
import threading
import time
import warnings
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import cuecard
from cuecard import LIVE, MARKDOWN, STRICT, FallbackWarning, ProviderError, Scope
from cuecard.stores import SQLiteStore

from .child_process import run_python
from .live_providers import SECRET, Clock, Counted, agent, codes, live, raising, renderer, states

REST = Counted("rest", {"rest": Scope.TURN}, {"rest": "all the rest"})
TEMPLATE = "{{ a }}{{ b }}|{{ rest }}"


class Endless(Mapping[str, Any]):
    """A mapping without an end."""

    def __getitem__(self, key: str) -> Any:
        return SECRET

    def __iter__(self) -> Iterator[str]:
        return map(str, itertools.count())

    def __len__(self) -> int:
        return 1


class EndlessList(list[Any]):
    """A list that never ends."""

    def __iter__(self) -> Iterator[Any]:
        return itertools.repeat(SECRET)


class Broken(Mapping[str, Any]):
    """A mapping that cannot be read."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(SECRET)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError(SECRET)

    def __len__(self) -> int:
        return 1


def cyclic() -> list[Any]:
    made: list[Any] = [SECRET]
    made.append(made)
    return made


def deep() -> list[Any]:
    made: list[Any] = [SECRET]
    for _ in range(100):
        made = [made]
    return made


class Secret:
    """An object that would show itself."""

    def __repr__(self) -> str:
        return SECRET


GIVEN: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "raises": (raising(RuntimeError(SECRET)), "P301", "raised `RuntimeError`"),
    "raises-an-odd-one": (raising(UnicodeDecodeError("x", b"y", 0, 1, SECRET)), "P301", "raised"),
    "raises-an-error-of-ours": (
        raising(ProviderError("is down", code="P301", hint="start it")),
        "P301",
        "is down",
    ),
    "times-out-by-itself": (raising(TimeoutError(SECRET)), "P302", "took too long"),
    "stops-iteration": (raising(StopIteration(SECRET)), "P301", "raised `StopIteration`"),
    "nothing": (lambda request: None, "P303", "`NoneType` and no mapping"),
    "text": (lambda request: SECRET, "P303", "`str` and no mapping"),
    "list": (lambda request: [("a", SECRET)], "P303", "`list` and no mapping"),
    "generator": (lambda request: (x for x in SECRET), "P303", "`generator` and no mapping"),
    "number-as-key": (lambda request: {"a": SECRET, 7: SECRET}, "P303", "key that is no text"),
    "tuple-as-key": (lambda request: {("a", SECRET): 1}, "P303", "key that is no text"),
    "endless-mapping": (lambda request: Endless(), "P303", "more than 10,000"),
    "broken-mapping": (lambda request: Broken(), "P301", "raised `RuntimeError`"),
    "generator-as-value": (lambda request: {"a": (x for x in SECRET)}, "P303", "`a`"),
    "object-as-value": (lambda request: {"a": Secret()}, "P303", "`a`"),
    "bytes-as-value": (lambda request: {"a": SECRET.encode()}, "P303", "`a`"),
    "exception-as-value": (lambda request: {"a": RuntimeError(SECRET)}, "P303", "`a`"),
    "cyclic-value": (lambda request: {"a": cyclic()}, "P303", "contains itself"),
    "deep-value": (lambda request: {"a": deep()}, "P303", "levels deep"),
    "endless-value": (lambda request: {"a": EndlessList()}, "P303", "more values"),
    "endless-iterator": (lambda request: {"a": itertools.repeat(SECRET)}, "P303", "`a`"),
    "surrogate": (lambda request: {"a": f"{SECRET}\udfff"}, "P303", "`a`"),
}


@pytest.mark.parametrize("scope", [Scope.TURN, Scope.SESSION, Scope.STATIC, None])
@pytest.mark.parametrize("name", GIVEN)
def test_a_provider_that_fails(
    name: str, scope: Scope | None, caplog: pytest.LogCaptureFixture
) -> None:
    """LIVE leaves it out at every turn, with a warning and a diagnostic; its values never show.

    It is asked again at every turn, and its value is there once it has one.
    """
    give, code, says = GIVEN[name]
    scopes = None if scope is None else {"a": scope, "b": scope}
    failing = Counted("failing", scopes, give)
    made = renderer(failing, REST)
    for turn in range(4):
        caplog.clear()
        assert made.render(TEMPLATE, "s") == "|all the rest"
        assert [record.levelno for record in caplog.records] == [logging.WARNING]
        assert code in caplog.text
        prompt = made.prompt(TEMPLATE, "s")
        assert prompt.text == "|all the rest"
        (finding,) = [each for each in prompt.diagnostics if each.code == code]
        assert finding.severity == "warning"
        assert says in finding.message
        assert states(prompt) == {"failing": "failed", "rest": "called"}
        (run,) = [run for run in prompt.providers if run.state == "failed"]
        assert run.reason == finding.message
        assert SECRET not in caplog.text + str(prompt.diagnostics) + str(prompt.providers)
        assert failing.calls == 2 * turn + 2
    failing.give = {"a": "well", "b": " again"}
    assert [made.render(TEMPLATE, "s") for _ in range(4)] == ["well again|all the rest"] * 4


@pytest.mark.parametrize("profile", [STRICT, MARKDOWN])
@pytest.mark.parametrize("name", GIVEN)
def test_a_provider_that_fails_under_another_profile(
    name: str, profile: cuecard.Profile, caplog: pytest.LogCaptureFixture
) -> None:
    """It raises, with the cause; neither the message nor a log repeats what it said."""
    give, code, says = GIVEN[name]
    failing = Counted("failing", {"a": Scope.SESSION, "b": Scope.TURN}, give)
    made = renderer(failing, profile=profile)
    for render in (made.render, made.prompt):
        with pytest.raises(ProviderError) as caught:
            render("{{ a }}{{ b }}", "s")
        error = caught.value
        assert (error.code, bool(caplog.records)) == (code, False)
        assert says in error.message
        assert error.__cause__ is not error
        if code == "P301" and "raised" in says:
            assert SECRET in repr(error.__cause__)
        assert SECRET not in str(error) + error.report() + str(error.diagnostic())


def test_a_value_that_nobody_reads_may_be_anything() -> None:
    """What is not read is not looked at."""
    made = renderer(Counted("one", {"a": Scope.TURN}, {"a": "x", "b": Secret()}), profile=STRICT)
    assert made.render("{{ a }}") == "x"


def test_what_a_failing_provider_gave_before() -> None:
    """What held for the session still does, what held for a day that is over does not."""
    clock = Clock()
    failing = Counted("failing", {"a": Scope.SESSION, "b": Scope.DAY, "c": Scope.TURN})
    made = renderer(failing, clock=clock, zone="UTC")
    template = "{{ a }},{{ b }},{{ c }}"
    assert made.render(template, "s") == "a1,b1,c1"
    failing.give = raising(RuntimeError())
    assert [made.render(template, "s") for _ in range(3)] == ["a1,b1,"] * 3
    clock.forward(days=1)
    assert [made.render(template, "s") for _ in range(3)] == ["a1,,"] * 3
    assert made.render(template, "t") == ",,"
    failing.give = None
    assert made.render(template, "s") == "a1,b9,c9"


@pytest.mark.parametrize("scope", [Scope.SESSION, Scope.STATIC])
def test_a_stamp_that_fails(scope: Scope) -> None:
    """The provider is left out, with what it gave before; other profiles raise."""

    class Stamped(Counted):
        error: Exception | None = None

        def stamp(self, request: Any) -> int:
            if self.error is not None:
                raise self.error
            return 1

    stamped = Stamped("stamped", {"a": scope})
    made = renderer(stamped)
    stamped.error = RuntimeError(SECRET)
    assert [made.render("{{ a }}|", "s") for _ in range(3)] == ["|"] * 3
    stamped.error = None
    assert [made.render("{{ a }}|", "s") for _ in range(3)] == ["a1|"] * 3
    stamped.error = RuntimeError(SECRET)
    prompts = [made.prompt("{{ a }}|", "s") for _ in range(3)]
    assert {(prompt.text, *codes(prompt)) for prompt in prompts} == {("a1|", "P301")}
    strict = renderer(stamped, profile=STRICT)
    with pytest.raises(ProviderError) as caught:
        strict.render("{{ a }}|", "s")
    assert caught.value.__cause__ is stamped.error
    assert SECRET not in str(caught.value)


# time --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", ["own", "renderer's"])
def test_a_plain_provider_that_is_too_slow(limit: str) -> None:
    """It is left to itself when its time is over; a quick one is not hurt by a limit."""
    done = threading.Event()

    def wait(request: Any) -> dict[str, Any]:
        done.wait(30)
        return {"a": SECRET}

    own = {"timeout": 0.02} if limit == "own" else {}
    whole = {} if limit == "own" else {"timeout": 0.02}
    slow = Counted("slow", {"a": Scope.TURN}, wait, **own)
    quick = Counted("rest", {"rest": Scope.TURN}, {"rest": "quick"}, timeout=30)
    start = time.perf_counter()
    prompt = renderer(slow, quick, **whole).prompt("{{ a }}|{{ rest }}")
    assert prompt.text == "|quick"
    assert "P302" in codes(prompt)
    strict = renderer(slow, quick, profile=STRICT, **whole)
    with pytest.raises(ProviderError) as caught:
        strict.render("{{ a }}")
    assert (caught.value.code, type(caught.value.__cause__)) == ("P302", TimeoutError)
    assert "timeout" in (caught.value.hint or "")
    assert time.perf_counter() - start < 10
    done.set()


def test_an_asynchronous_provider_that_is_too_slow() -> None:
    """A plain render gives up a coroutine too, and one that a plain function returns."""
    import anyio

    @cuecard.provider("a", timeout=0.02)
    async def slow(request: Any) -> dict[str, Any]:
        await anyio.sleep(30)
        return {"a": SECRET}

    @cuecard.provider("b", timeout=0.02)
    def hidden(request: Any) -> Any:
        return slow.contribute(request)

    @cuecard.provider("rest", timeout=30)
    def quick(request: Any) -> Any:
        return awaited()

    async def awaited() -> dict[str, Any]:
        return {"rest": "quick"}

    prompt = renderer(slow, hidden, quick).prompt(TEMPLATE)
    assert prompt.text == "|quick"
    assert codes(prompt).count("P302") == 2


# interruptions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("how", ["plain", "timed", "coroutine", "stamp"])
def test_an_interruption_goes_through(error: type[BaseException], how: str) -> None:
    """It is raised as it is, wherever it comes from, and the next turn is right."""
    interrupts = [True]

    def give(request: Any = None) -> dict[str, Any]:
        if interrupts.pop() if interrupts else False:
            raise error
        return {"a": "x"}

    async def agive(request: Any) -> dict[str, Any]:
        return give()

    provider = Counted("one", {"a": Scope.SESSION}, give)
    if how == "timed":
        provider.timeout = 30  # type: ignore[attr-defined]
    elif how == "coroutine":
        provider.contribute = agive  # type: ignore[method-assign]
    elif how == "stamp":
        provider.stamp = lambda request: len(give())  # type: ignore[attr-defined]
    made = renderer(provider)
    with pytest.raises(error):
        made.render("{{ a }}", "s")
    assert [made.render("{{ a }}", "s") for _ in range(3)] == ["x"] * 3


# templates and what callers give -----------------------------------------------------------------

BROKEN = {
    "syntax": ("{% if a %}{{ a }", "P1"),
    "filter": ("{{ a | nothing }}", "P103"),
    "operation": ("{{ 1 + a }} {{ b }}", "P2"),
    "raised": ("{{ a }}{{ raise_exception('no') }}", "P205"),
    "fuel": (f"{{{{ a }}}}{2 * '{% for x in range(9999) %}'}{2 * '{% endfor %}'}", "P114"),
    "include": ("{{ a }}{% include 'x' %}", "P1"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_template_that_fails(name: str) -> None:
    """LIVE gives it as it stands, with a warning, and the prompt says why; others raise."""
    source, code = BROKEN[name]
    made = renderer(Counted("one", {"a": Scope.SESSION}, {"a": SECRET}))
    for _ in range(3):
        with pytest.warns(FallbackWarning) as warned:
            assert made.render(agent(source), "s") == source
        with pytest.warns(FallbackWarning):
            prompt = made.prompt(agent(source), "s")
        assert prompt.text == source
        assert any(each.startswith(code) for each in codes(prompt))
        assert SECRET not in str(prompt.diagnostics) + str(warned[0].message)
    assert warned[0].filename == __file__
    strict = renderer(Counted("one", {"a": Scope.SESSION}, {"a": SECRET}), profile=STRICT)
    for _ in range(3):
        with pytest.raises(cuecard.PromptError) as caught:
            strict.render(agent(source), "s", None, {"b": 1})
        assert caught.value.code.startswith(code)
        assert SECRET not in str(caught.value)


def test_the_place_of_a_failure_is_in_the_file() -> None:
    """Under a strict profile an error of a bound template names the agent's file and line."""
    definition = agent("{{ a }}\n{{ b }}", path=Path("triage.md"), first_line=5)
    made = renderer(Counted("one", {"a": Scope.STATIC}), profile=STRICT)
    for _ in range(3):
        with pytest.raises(cuecard.UndefinedVariableError) as caught:
            made.render(definition, "s")
        assert caught.value.place == "triage.md:6:4"


def test_a_value_of_the_caller_that_is_no_data() -> None:
    """It is the caller's fault: LIVE gives the template as it stands, others raise."""
    one = Counted("one", {"a": Scope.SESSION})
    with pytest.warns(FallbackWarning):
        text = renderer(one).render("{{ a }}{{ b }}", "s", None, {"b": Secret()})
    assert text == "{{ a }}{{ b }}"
    with pytest.raises(cuecard.ContextError) as caught:
        renderer(one, profile=STRICT).render("{{ a }}{{ b }}", "s", None, {"b": Secret()})
    assert caught.value.path == "$.b"
    with pytest.raises(cuecard.ContextError):
        renderer(one).render("{{ a }}", "s", None, 7)  # type: ignore[arg-type]


def test_what_mappings_may_be_given() -> None:
    """Any mapping will do, from providers and from the caller."""
    made = renderer(Counted("one", {"a": Scope.TURN}, lambda request: UserDict(a="x")))
    assert made.render("{{ a }}{{ b }}", "s", None, UserDict(b="y")) == "xy"


def test_a_provider_cannot_change_what_others_have() -> None:
    """A value that its provider changes later is as it was for as long as it holds."""
    items = ["x"]
    made = renderer(Counted("one", {"a": Scope.SESSION}, {"a": items}))
    template = "{% for x in a %}{{ x }}{% endfor %}"
    assert [made.render(template, "s") for _ in range(3)] == ["x"] * 3
    items.append("y")
    assert made.render(template, "s") == "x"


def test_a_value_that_goes_bad_while_it_is_kept() -> None:
    """It is left out when it is rendered anew, and its provider is asked again."""
    items: list[Any] = ["x"]
    one = Counted("one", {"a": Scope.SESSION}, {"a": items})
    two = Counted("two", {"b": Scope.SESSION}, stamp=lambda request: len(items))
    made = renderer(one, two)
    template = "{% for x in a %}{{ x }}{% endfor %} {{ b }}"
    assert [made.render(template, "s") for _ in range(3)] == ["x b1"] * 3
    items.append(Secret())
    assert made.render(template, "s") == " b2"
    one.give = {"a": ["fresh"]}
    assert [made.render(template, "s") for _ in range(3)] == ["fresh b2"] * 3


# stores ------------------------------------------------------------------------------------------


def test_a_store_that_is_down(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its providers are left out, with what they had before; the turn survives, and recovers."""
    definition = agent("{{ user_notes }}{{ user_profile }}{{ todo_list_md }}|{{ agent_name }}")
    store = SQLiteStore(tmp_path / "store.db")
    store.set_notes("triage", "ann", "notes")
    made, strict = live(store=store), live(store=store, profile=STRICT)
    assert [made.render(definition, "s", "ann") for _ in range(3)] == ["notes|triage"] * 3
    store.close()
    prompts = [made.prompt(definition, "s", "ann") for _ in range(3)]
    assert [prompt.text for prompt in prompts] == ["notes|triage"] * 3
    assert {(run.provider, run.state) for run in prompts[-1].providers} >= {
        ("todo_list", "failed"),
        ("workspace_notes", "failed"),
        ("agent_metadata", "kept"),
    }
    assert [made.render(definition, "t", "ann") for _ in range(3)] == ["|triage"] * 3
    assert "todo_list" in caplog.text
    with pytest.raises(ProviderError) as caught:
        strict.render(definition, "s", "ann")
    assert isinstance(caught.value.__cause__, cuecard.StoreError)
    assert caught.value.hint


def test_nothing_is_imported_that_is_not_used() -> None:
    """A plain turn loads neither anyio nor a database nor OpenTelemetry."""
    program = """
import sys
renderer = cuecard.PromptRenderer()
print(renderer.render("{{ agent_name }}{{ current_date }}{{ todos }}{{ x }}", "s", "ann", {"x": 1}))
unwanted = {"anyio", "asyncio", "sqlalchemy", "opentelemetry", "trio", "sqlite3", "psycopg"}
print(sorted(unwanted & set(sys.modules)))
"""
    assert run_python(program).splitlines()[1] == "[]"


def test_anyio_is_asked_for_only_when_it_is_needed() -> None:
    """Without it plain providers work, also in a coroutine of one call; others say what to do."""
    program = """
import asyncio, sys, threading
sys.modules["anyio"] = None
from cuecard import PromptRenderer, Scope

@cuecard.provider("a", timeout=30)
def plain(request):
    return {"a": "A"}

@cuecard.provider("b")
async def waiting(request):
    return {"b": "B"}

renderer = PromptRenderer([plain, waiting])
print(renderer.render("{{ a }} {{ agent_name }} {{ x }}", "s", None, {"x": 1}))
print(asyncio.run(renderer.arender("{{ b }} {{ current_date is defined }}")))
for call in (
    lambda: renderer.render("{{ b }}"),
    lambda: asyncio.run(renderer.arender("{{ a }}{{ b }}")),
    lambda: asyncio.run(renderer.arender("{{ a }}")),
):
    try:
        call()
    except cuecard.MissingExtraError as error:
        print(error.code, error.hint)
"""
    needed = ["P807 pip install 'cuecard[live]'"] * 3
    assert run_python(program).splitlines() == ["A  1", "B True", *needed]


def test_a_renderer_shows_no_values() -> None:
    """Its text says what it is made of, not what it holds."""
    made = renderer(Counted("one", {"a": Scope.STATIC}, {"a": SECRET}))
    made.render("{{ a }}", "s")
    assert repr(made) == "PromptRenderer(profile='live', providers=1)"


def test_warnings_that_are_errors_do_not_hide_the_reason() -> None:
    """Who turns warnings into errors gets the warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FallbackWarning, match="as it stands"):
            renderer(profile=LIVE).render("{% broken")

"""Providers: the contract, the plan as a pure function, and providers of installed packages."""

from __future__ import annotations

import functools
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cuecard
from cuecard import ProviderError, Scope
from cuecard.providers import Plan, Provider, Registered, make_plan, register

from .case_files import Case, parameters
from .live_providers import Counted, renderer

PACKAGE = Path(__file__).parent / "provider_package"
NAMES = ("a", "b", "c", "d")


def described(about: dict[str, Any]) -> Registered:
    """A provider as a case describes it."""
    scopes = about["provides"]
    if scopes is not None:
        scopes = {name: Scope[scope.upper()] for name, scope in scopes.items()}
    more = {"priority": about.get("priority", 0), "needs": about.get("needs", ())}
    return register(Counted(about["name"], scopes, **more))


# the plan ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", parameters("plan.jsonl"))
def test_a_plan(case: Case) -> None:
    """What runs in which order, what does not and why, whose the variables are, conflicts."""
    plan = make_plan(case["reads"], map(described, case["providers"]), case.get("extra", ()))
    assert [[step.provider.name for step in group] for group in plan.groups] == case["runs"]
    assert {each.provider.name: each.reason for each in plan.skipped} == case["skipped"]
    assert {name: owner.name for name, owner in plan.owners.items()} == case["owners"]
    assert [finding.message for finding in plan.diagnostics] == case.get("conflicts", [])
    assert {(f.code, f.severity, bool(f.hint)) for f in plan.diagnostics} <= {
        ("P304", "warning", True)
    }
    names = {step.provider.name: step.names for step in plan.steps}
    for name, asked in case.get("names", {}).items():
        assert names[name] == frozenset(asked)
    for name, scope in case.get("scopes", {}).items():
        assert plan.scopes[name] is Scope[scope.upper()]


def test_the_rows_of_a_plan() -> None:
    """Those that run come first, in their order; each says what it gives and why it runs."""
    providers = [
        described({"name": "late", "priority": 9, "provides": {"b": "day", "a": "static"}}),
        described({"name": "silent", "provides": None}),
        described({"name": "spare", "provides": {"z": "turn"}}),
    ]
    assert make_plan(["a", "b"], providers).rows() == [
        {
            "provider": "silent",
            "priority": 0,
            "runs": True,
            "variables": None,
            "refresh": "turn",
            "reason": "does not say what it gives",
        },
        {
            "provider": "late",
            "priority": 9,
            "runs": True,
            "variables": ["a", "b"],
            "refresh": "day",
            "reason": "is read",
        },
        {
            "provider": "spare",
            "priority": 0,
            "runs": False,
            "variables": ["z"],
            "refresh": None,
            "reason": "unread",
        },
    ]


@st.composite
def provider_lists(draw: st.DrawFn) -> list[Registered]:
    """A few providers of few priorities and few names, so that they meet."""
    made = []
    for number in range(draw(st.integers(0, 6))):
        scopes = draw(
            st.none() | st.dictionaries(st.sampled_from(NAMES), st.sampled_from(Scope), max_size=3)
        )
        more: dict[str, Any] = {
            "priority": draw(st.integers(-1, 2)),
            "needs": draw(st.sets(st.sampled_from(NAMES), max_size=2)),
        }
        made.append(register(Counted(f"p{number}", scopes, **more)))
    return made


NAME_SETS = st.frozensets(st.sampled_from(NAMES))


def running(plan: Plan) -> list[tuple[str, frozenset[str] | None]]:
    return [(step.provider.name, step.names) for step in plan.steps]


@given(provider_lists(), NAME_SETS, NAME_SETS)
def test_what_holds_for_every_plan(
    providers: list[Registered], reads: frozenset[str], extra: frozenset[str]
) -> None:
    """Ascending and stable; all is run or skipped; nothing unread runs; all that is read is given.

    The last provider that gives a name has the last word on it.
    """
    plan = make_plan(reads, providers, extra)
    priorities = [step.provider.priority for step in plan.steps]
    assert priorities == sorted(priorities)
    order = [each.name for each in sorted(providers, key=lambda each: each.priority)]
    assert [step.provider.name for step in plan.steps] == [
        name for name in order if name in {step.provider.name for step in plan.steps}
    ]
    everyone = [step.provider.name for step in plan.steps]
    everyone += [each.provider.name for each in plan.skipped]
    assert sorted(everyone) == sorted(order)
    for step in plan.steps:
        later = [s.provider for s in plan.steps if s.provider.priority > step.provider.priority]
        wanted = reads.union(*(each.needs for each in later)) - extra
        if step.names is not None:
            assert step.names
            assert step.names <= wanted & set(step.provider.provides or ())
    for name in reads - extra:
        givers = [each for each in providers if name in (each.provides or ())]
        if givers:
            last = max(givers, key=lambda each: (each.priority, providers.index(each)))
            assert plan.owners[name] is last
            assert plan.scopes[name] is (last.provides or {})[name]
    assert not extra.intersection(plan.owners)


@given(provider_lists(), NAME_SETS, NAME_SETS, st.integers(-1, 2))
def test_an_unread_provider_changes_nothing(
    providers: list[Registered], reads: frozenset[str], extra: frozenset[str], priority: int
) -> None:
    """It is skipped as unread, and the others run as they would without it."""
    unread = register(Counted("unread", {"z": Scope.TURN}, priority=priority, needs=NAMES))
    before, after = (make_plan(reads, each, extra) for each in (providers, [unread, *providers]))
    assert running(after) == running(before)
    assert after.owners == before.owners
    assert after.diagnostics == before.diagnostics
    assert [s.reason for s in after.skipped if s.provider is unread] == ["unread"]


@given(provider_lists(), NAME_SETS, NAME_SETS)
def test_reading_anything_asks_for_all_that_is_known(
    providers: list[Registered], reads: frozenset[str], extra: frozenset[str]
) -> None:
    """What may read any name is given at least what any set of names would be."""
    everything, some = make_plan(None, providers, extra), make_plan(reads, providers, extra)
    assert set(some.owners) <= set(everything.owners)
    asked = dict(running(everything))
    for name, names in running(some):
        assert names is None or names <= (asked[name] or frozenset())


# the contract ------------------------------------------------------------------------------------


def test_a_function_is_a_provider() -> None:
    """The decorator says all that a class would; the function can still be called by itself."""

    @cuecard.provider(
        "a", "b", priority=7, scope={"a": Scope.DAY}, needs=["c"], timeout=2, name="mine"
    )
    def function(request: Any) -> dict[str, Any]:
        """What it is for."""
        return {"a": 1, "b": 2}

    known = register(function)
    assert (known.name, known.priority, known.timeout) == ("mine", 7, 2.0)
    assert known.provides == {"a": Scope.DAY, "b": Scope.TURN}
    assert known.needs == {"c"}
    assert not known.is_async
    assert function.__doc__ == "What it is for."
    assert "mine" in repr(function)
    assert function(None) == {"a": 1, "b": 2}  # type: ignore[operator]


def test_a_function_gives_its_own_name() -> None:
    """Without more, a function of no names is asked at every turn, and its name is its own."""

    @cuecard.provider()
    async def everything(request: Any) -> dict[str, Any]:
        return {}

    known = register(everything)
    assert (known.name, known.priority, known.provides) == ("everything", 0, None)
    assert known.is_async


def test_a_class_is_a_provider() -> None:
    """Only `contribute` is needed; all else has a default. Names alone hold for a turn."""

    class Plain:
        provides = ("a", "b")

        def contribute(self, request: Any) -> dict[str, Any]:
            return {}

    known = register(Plain())
    assert (known.name, known.priority, known.timeout) == ("Plain", 0, None)
    assert known.needs == frozenset()
    assert known.provides == {"a": Scope.TURN, "b": Scope.TURN}
    assert isinstance(Plain(), Provider)


def test_what_is_awaited_or_timed_is_not_instant() -> None:
    """`instant` cannot hold for a coroutine function, or with a time limit."""

    async def give(request: Any) -> dict[str, Any]:
        return {}

    known = register(SimpleNamespace(contribute=give, instant=True))
    assert (known.instant, known.is_async) == (False, True)
    assert register(Counted("a", None, instant=True)).instant
    assert not register(Counted("a", None, instant=True, timeout=1)).instant
    assert register(Counted("a", None, timeout=math.inf)).timeout is None


def contributing(**about: Any) -> Any:
    return SimpleNamespace(name="mine", contribute=lambda request: {}, **about)


INVALID: dict[str, tuple[Any, str, str]] = {
    "class": (Counted, "is a class", "instance"),
    "function": (lambda request: {}, "no method `contribute`", "@cuecard.provider"),
    "none": (None, "no method `contribute`", "@cuecard.provider"),
    "no-method": (SimpleNamespace(name="mine", contribute={}), "no method", "contribute(request)"),
    "name": (SimpleNamespace(name=7, contribute=print), "a name that is no text", "text"),
    "priority": (contributing(priority="high"), "priority that is no whole", "100"),
    "fraction": (contributing(priority=1.5), "priority that is no whole", "100"),
    "true": (contributing(priority=True), "priority that is no whole", "100"),
    "provides-text": (contributing(provides="a"), "in no mapping", "scopes"),
    "provides-number": (contributing(provides=7), "in no mapping", "scopes"),
    "provides-unhashable": (contributing(provides=[["a"]]), "no template can read", "snake_case"),
    "provides-spaces": (contributing(provides=["a b"]), "no template can read", "snake_case"),
    "provides-private": (contributing(provides=["_a"]), "no template can read", "snake_case"),
    "provides-numbers": (contributing(provides={7: Scope.DAY}), "no template", "snake_case"),
    "scope": (contributing(provides={"a": "day"}), "gives `a` no `Scope`", "Scope.TURN"),
    "needs-text": (contributing(needs="a"), "needs something", "list"),
    "needs-number": (contributing(needs=7), "needs something", "list"),
    "needs-numbers": (contributing(needs=[7]), "needs something", "list"),
    "timeout-zero": (contributing(timeout=0), "no number above 0", "seconds"),
    "timeout-negative": (contributing(timeout=-1), "no number above 0", "seconds"),
    "timeout-nan": (contributing(timeout=math.nan), "no number above 0", "seconds"),
    "timeout-text": (contributing(timeout="1s"), "no number above 0", "seconds"),
    "timeout-true": (contributing(timeout=True), "no number above 0", "seconds"),
    "stamp": (contributing(stamp=7), "`stamp`, which is no method", "method"),
    "acontribute": (contributing(acontribute={}), "`acontribute`, which is no", "method"),
}


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_provider(name: str) -> None:
    """What cannot be a provider is refused when the renderer is made, with the remedy."""
    value, says, hint = INVALID[name]
    with pytest.raises(ProviderError) as caught:
        renderer(value)
    assert caught.value.code == "P305"
    assert says in caught.value.message
    assert hint in (caught.value.hint or "")


DECORATIONS: dict[str, tuple[Any, str]] = {
    "bare": (lambda f: cuecard.provider(f), "without a name"),
    "spaces": (cuecard.provider("a b"), "no template can read"),
    "scope": (cuecard.provider("a", scope="day"), "gives `a` no `Scope`"),  # type: ignore[arg-type]
    "stranger": (
        lambda f: cuecard.provider("greeting", scope={"greting": Scope.DAY})(f),
        "has a scope for `greting`",
    ),
    "priority": (cuecard.provider("a", priority="1"), "priority"),  # type: ignore[arg-type]
    "timeout": (cuecard.provider("a", timeout=0), "timeout"),
}


@pytest.mark.parametrize("name", DECORATIONS)
def test_an_invalid_decoration(name: str) -> None:
    """A decorator that is wrong says so where it stands, not at a turn."""
    decorate, says = DECORATIONS[name]
    with pytest.raises(ProviderError) as caught:
        decorate(lambda request: {})
    assert caught.value.code == "P305"
    assert says in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("timeout", [0, -1, math.nan, "1", True])
def test_an_invalid_timeout_of_the_renderer(timeout: Any) -> None:
    """A limit for all providers is a number above 0."""
    with pytest.raises(ValueError, match="timeout"):
        renderer(timeout=timeout)


# installed packages ------------------------------------------------------------------------------

PROGRAM = """
import datetime, json, logging, sys
import cuecard

logging.basicConfig(format="%(message)s")
clock = lambda: datetime.datetime(2026, 11, 29, tzinfo=datetime.UTC)
with_packages = cuecard.PromptRenderer(clock=clock, zone="UTC")
text = with_packages.render("{{ greeting }} It is {{ weather }}.", {"id": "s"}, "Ann")
names = [each.name for each in with_packages.providers]
without = cuecard.PromptRenderer(entry_points=False, profile=cuecard.STRICT)
try:
    cuecard.PromptRenderer(profile=cuecard.STRICT)
except cuecard.ProviderError as error:
    strict = [error.code, error.message, error.hint, type(error.__cause__).__name__]
print(json.dumps([text, names[-2:], "weather" in {p.name for p in without.providers}, strict]))
"""


@functools.cache
def installed(folder: Path) -> Path:
    """The folder, with the package of the tests installed in it."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder)]
    subprocess.run([*pip, *options, str(PACKAGE)], check=True, timeout=60)
    return folder


def test_a_package_brings_providers(tmp_path: Path) -> None:
    """Its class and its function are there without a word; what cannot be loaded is a warning.

    Under a strict profile it is an error, whose cause is kept.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(installed(tmp_path))},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    text, names, without, strict = json.loads(done.stdout)
    assert text == "Hello, Ann. It is dry on 29 November."
    assert names == ["greeting", "weather"]
    assert without is False
    message = "the entry point `tide` cannot be loaded: it raised `AttributeError`"
    assert strict == [
        "P305",
        message,
        "update or remove the package that declares it",
        "AttributeError",
    ]
    assert message in done.stderr

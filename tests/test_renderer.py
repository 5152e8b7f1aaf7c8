"""The renderer: a turn's text is that of all values together, whatever is kept between turns."""

from __future__ import annotations

import pickle
import random
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuecard
from cuecard import LIVE, MARKDOWN, STRICT, Scope
from cuecard.agents import Input

from .generated_templates import CONTEXT, templates
from .live_providers import NOON, Clock, Counted, agent, codes, live, renderer, states
from .test_turns import VALUES

NAMES = sorted(CONTEXT)

# text --------------------------------------------------------------------------------------------


class Turn:
    """What a turn is like: whose it is, when, and what the caller gives."""

    def __init__(self, number: int, draw: st.DrawFn) -> None:
        self.number = number
        session = draw(st.sampled_from([None, "s", "t"]))
        mood = draw(st.integers(0, 1))
        self.session = session and {"id": session, "mood": mood}
        self.user = draw(st.sampled_from([None, "ann"]))
        self.day = draw(st.integers(0, 1))
        self.version = draw(st.integers(0, 1))
        names = st.sets(st.sampled_from(NAMES), max_size=2)
        self.extra = {name: CONTEXT[name] for name in draw(st.just(set()) | names)}

    def key(self, scope: Scope, stamped: bool) -> tuple[Any, ...]:
        """All that a value of this scope may depend on; a stamp has to tell what else changes."""
        session = self.session or {}
        whose = (session.get("id"), None if stamped else session.get("mood"), self.user)
        parts = ((), whose, (*whose, self.day), (*whose, self.day, self.number))
        return (self.version if stamped else None, *parts[scope])


class Modelled:
    """A provider whose values are a function of its scopes alone."""

    def __init__(self, number: int, turns: list[Turn], draw: st.DrawFn) -> None:
        self.name = f"p{number}"
        self.priority = draw(st.integers(0, 2))
        self.needs = draw(st.sets(st.sampled_from(NAMES), max_size=1))
        self.instant = draw(st.booleans())
        scopes = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(Scope), min_size=1)
        self.scopes: dict[str, Scope] = draw(scopes)
        self.stamped = draw(st.booleans())
        silent = draw(st.integers(0, 5)) == 0
        if silent:
            self.scopes = dict.fromkeys(self.scopes, Scope.TURN)
        self.provides = None if silent else self.scopes
        self.turn: Turn = turns[0]
        self.stamp = (lambda request: self.turn.version) if self.stamped else None

    def contribute(self, request: Any) -> dict[str, Any]:
        return {
            name: random.Random(f"{self.name} {name} {self.turn.key(scope, self.stamped)}").choice(
                VALUES
            )
            for name, scope in self.scopes.items()
        }


@st.composite
def stories(draw: st.DrawFn) -> tuple[str, list[Modelled], list[Turn]]:
    """A template, providers, and turns of sessions, days and values that change."""
    turns = [Turn(number, draw) for number in range(draw(st.integers(1, 6)))]
    providers = [Modelled(number, turns, draw) for number in range(draw(st.integers(0, 4)))]
    return draw(templates()), providers, turns


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(stories())
def test_the_text_is_that_of_the_merged_values(
    story: tuple[str, list[Modelled], list[Turn]],
) -> None:
    """At every turn the text is an unbound render of all values, later priorities over earlier."""
    source, providers, turns = story
    clock = Clock()
    made = renderer(*providers, clock=clock, zone="UTC")
    template = cuecard.Template(source, profile=LIVE)
    ordered = sorted(providers, key=lambda each: each.priority)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cuecard.FallbackWarning)
        for turn in turns:
            clock.now = NOON
            clock.forward(days=turn.day)
            merged: dict[str, Any] = {}
            for each in ordered:
                each.turn = turn
                merged.update(each.contribute(None))
            merged.update(turn.extra)
            expected = template.render(merged)
            assert made.render(source, turn.session, turn.user, turn.extra) == expected
            prompt = made.prompt(source, turn.session, turn.user, turn.extra)
            assert prompt.text == expected
            assert "".join(block.text for block in prompt.blocks()) == expected


@pytest.mark.parametrize("definition", [None, "", "plain {text} %}\n", agent(""), agent("text")])
@pytest.mark.parametrize("profile", [LIVE, STRICT])
def test_what_reads_nothing_asks_nobody(definition: Any, profile: cuecard.Profile) -> None:
    """No template, an empty one and plain text are returned as they are, and nobody is asked."""
    silent = Counted("silent", None, {})
    made = renderer(silent, profile=profile)
    expected = (
        definition if isinstance(definition, str) else getattr(definition, "system_prompt", "")
    )
    assert made.render(definition, "s", "ann", {"a": 1}) == expected
    assert made.prompt(definition).text == expected
    assert silent.calls == 0


@pytest.mark.parametrize("definition", [7, b"text", ["text"], {"name": "a"}, ("a",)])
def test_what_is_no_definition(definition: Any) -> None:
    """Anything else is a wrong call."""
    with pytest.raises(TypeError, match="AgentDefinition"):
        renderer().render(definition)


def test_a_profile_that_trims() -> None:
    """MARKDOWN's end of the text, bound or not."""
    made = renderer(Counted("one", {"a": Scope.SESSION}, {"a": "x\n\n"}), profile=MARKDOWN)
    assert [made.render("{{ a }}\n", "s") for _ in range(3)] == ["x\n"] * 3


@pytest.mark.parametrize("template", ["{% include 'part' %}", "{% include n %}"])
def test_a_partial_that_is_edited(template: str, tmp_path: Path) -> None:
    """What an edited partial reads is asked for at the next turn; so it is if it is computed."""
    (tmp_path / "part").write_text("{{ a }}")
    made = renderer(
        Counted("one", {"a": Scope.SESSION}, {"a": "A"}),
        Counted("two", {"b": Scope.SESSION}, {"b": "B"}),
        Counted("which", {"n": Scope.SESSION}, {"n": "part"}),
        profile=STRICT,
        partials=cuecard.Folder(tmp_path),
    )
    assert [made.render(template, "s") for _ in range(3)] == ["A"] * 3
    (tmp_path / "part").write_text("{{ a }} and {{ b }}")
    assert [made.render(template, "s") for _ in range(3)] == ["A and B"] * 3


# who has the last word ---------------------------------------------------------------------------


def test_later_priorities_override_and_the_caller_overrides_all() -> None:
    """Ascending by priority, the last of equals, then `extra_vars`; who is overridden rests."""
    low = Counted("low", {"a": Scope.STATIC, "b": Scope.TURN})
    high = Counted("high", {"a": Scope.TURN}, {"a": "high"}, priority=10)
    made = renderer(high, low)
    assert made.render("{{ a }} {{ b }}") == "high b1"
    assert made.render("{{ a }}") == "high"
    assert made.render("{{ a }}{{ b }}", extra_vars={"a": "mine", "b": None}) == "mine"
    assert (low.calls, high.calls) == (1, 2)


def test_a_provider_that_does_not_say() -> None:
    """It is asked at every turn; it overrides earlier ones, and later ones override it."""
    silent = Counted("silent", None, {"a": "silent", "b": "silent", "c": "silent"}, priority=5)
    made = renderer(
        silent,
        Counted("before", {"a": Scope.SESSION}),
        Counted("after", {"b": Scope.SESSION}, priority=10),
    )
    for _ in range(3):
        text = made.render("{{ a }} {{ b }} {{ c }} {{ d }}", "s", None, {"d": 4})
        assert text == "silent b1 silent 4"
    assert made.render("{{ c }}", "s", None, {"c": "mine"}) == "mine"
    assert silent.calls == 4


def test_of_equal_priorities_the_last_counts() -> None:
    """Also where one of them does not say what it gives."""
    said, silent = (
        Counted("said", {"a": Scope.TURN}, {"a": "said"}),
        Counted("silent", None, {"a": "silent"}),
    )
    assert renderer(said, silent).render("{{ a }}") == "silent"
    assert renderer(silent, said).render("{{ a }}") == "said"


def test_what_a_provider_needs() -> None:
    """It sees what earlier priorities gave, the caller's variables over it, and no others."""
    base = Counted("base", {"a": Scope.SESSION, "b": Scope.TURN})
    equal = Counted("equal", {"c": Scope.TURN}, priority=5)
    top = Counted(
        "top",
        {"d": Scope.TURN},
        lambda request: {"d": sorted(request.values.items())},
        priority=5,
        needs=["a", "b", "c"],
    )
    made = renderer(base, equal, top)
    template = "{% for name, value in d %}{{ name }}={{ value }} {% endfor %}"
    assert made.render(template, "s", None, {"b": "mine"}) == "a=a1 b=mine "
    assert made.render(template, "s") == "a=a2 b=b2 "
    assert made.render(template, "s") == "a=a2 b=b3 "
    assert equal.calls == 0


def test_an_overridden_value_can_be_built_upon() -> None:
    """A later provider may take a variable, and give another value for it."""
    base = Counted("base", {"a": Scope.SESSION}, {"a": "base"})
    more = Counted(
        "more",
        {"a": Scope.TURN},
        lambda request: {"a": request.values["a"] + "+"},
        priority=1,
        needs=["a"],
    )
    made = renderer(base, more)
    assert [made.render("{{ a }}", "s") for _ in range(4)] == ["base+"] * 4
    prompt = made.prompt("{{ a }}", "s")
    assert prompt.provider_of("a") == "more"
    assert (base.calls, more.calls) == (1, 5)


def test_conflicts_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    """In the plan, in every prompt, and once in the log."""
    one, two = (Counted(name, {"a": Scope.TURN}, {"a": name}) for name in ("one", "two"))
    made = renderer(one, two)
    for _ in range(2):
        prompt = made.prompt("{{ a }}")
        assert prompt.text == "two"
        assert codes(prompt) == ["P304"]
    assert [finding.code for finding in made.plan("{{ a }}").diagnostics] == ["P304"]
    assert len(caplog.records) == 1


def test_the_plan_of_a_definition() -> None:
    """What `explain --plan` shows, without asking anyone."""
    one, two = Counted("one", {"a": Scope.DAY}), Counted("two", {"b": Scope.TURN})
    made = renderer(one, two)
    plan = made.plan(agent("{{ a }}{{ x }}"), ["x"])
    assert [step.provider.name for step in plan.steps] == ["one"]
    assert plan.overridden == {"x"}
    assert plan.scopes == {"a": Scope.DAY}
    assert [each.reason for each in made.plan("{{ a }}", ["a"]).skipped] == [
        "overridden by the caller",
        "unread",
    ]
    assert made.plan(None).steps == made.plan("text").steps == ()
    assert made.plan("{% broken").steps == ()
    assert (one.calls, two.calls) == (0, 0)
    with pytest.raises(cuecard.TemplateSyntaxError):
        renderer(profile=STRICT).plan("{% broken")


# inputs ------------------------------------------------------------------------------------------

INPUTS = (
    Input("topic", "string"),
    Input("count", "integer", required=False, default=3),
    Input("tone", "string", required=False),
)
TEMPLATE = "{{ topic }} {{ count }}{% if tone is defined %} {{ tone }}{% endif %} {{ a }}"
GIVEN: dict[str, tuple[Mapping[str, Any] | None, str, list[str]]] = {
    "all": ({"topic": "t", "count": 1, "tone": "dry"}, "t 1 dry A", []),
    "defaults": ({"topic": "t"}, "t 3 A", []),
    "null": ({"topic": "t", "count": None, "tone": None}, "t 3 A", []),
    "missing": (None, " 3 A", ["P710"]),
    "mistyped": ({"topic": "t", "count": "many"}, "t many A", ["P711"]),
    "undeclared": ({"topic": "t", "other": 1}, "t 3 A", ["P712"]),
    "in place of a provider's": ({"topic": "t", "a": "mine"}, "t 3 mine", []),
}


@pytest.mark.parametrize("name", GIVEN)
def test_declared_inputs(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """Defaults are filled in; a missing or mistyped input is an error, or under LIVE a warning.

    What providers give counts as given, and may be overridden.
    """
    extra, expected, noticed = GIVEN[name]
    inputs = (*INPUTS, Input("a")) if name == "all" else INPUTS
    definition = agent(TEMPLATE, inputs=inputs)
    provider = Counted("one", {"a": Scope.SESSION}, {"a": "A"})
    made = renderer(provider)
    for _ in range(3):
        caplog.clear()
        assert made.render(definition, "s", None, extra) == expected
        assert [code for code in noticed if code not in caplog.text] == []
    found = codes(made.prompt(definition, "s", None, extra))
    assert [code for code in found if code.startswith("P7")] == noticed
    strict = renderer(provider, profile=STRICT)
    if set(noticed) & {"P710", "P711"}:
        with pytest.raises(cuecard.ContextError) as caught:
            strict.render(definition, "s", None, extra)
        assert caught.value.code == noticed[0]
    else:
        assert strict.render(definition, "s", None, extra) == expected


def test_an_input_that_a_silent_provider_gives() -> None:
    """A provider that does not say what it gives may give a declared input."""
    definition = agent("{{ topic }}", inputs=(Input("topic", "string"),))
    made = renderer(Counted("silent", None, {"topic": "t"}), profile=STRICT)
    assert made.render(definition) == "t"


# the prompt --------------------------------------------------------------------------------------


def test_what_a_prompt_says_of_providers() -> None:
    """Who was called, kept, or skipped and why; what it has from each, and how long it took."""
    made = renderer(
        Counted("static", {"a": Scope.STATIC}),
        Counted("turn", {"d": Scope.TURN, "c": Scope.TURN}),
        Counted("spare", {"z": Scope.TURN}),
    )
    first, second = (made.prompt("{{ a }} {{ c }} {{ d }}", "s") for _ in range(2))
    assert states(first) == {"static": "called", "turn": "called", "spare": "skipped"}
    assert states(second) == {"static": "kept", "turn": "called", "spare": "skipped"}
    runs = {run.provider: run for run in second.providers}
    assert runs["turn"].variables == ("c", "d")
    assert runs["static"].variables == ("a",)
    assert runs["spare"].reason == "unread"
    assert 0 < runs["turn"].seconds < second.seconds < 5
    assert (second.provider_of("a"), second.provider_of("d")) == ("static", "turn")
    assert second.diagnostics == ()
    assert made.prompt("{{ a }}", extra_vars={"a": 1}).provider_of("a") is None


def test_a_prompt_pickles() -> None:
    """With its text, its segments, what providers did, and what was noticed."""
    made = renderer(Counted("one", {"a": Scope.STATIC}))
    for _ in range(3):
        prompt = made.prompt("# {{ a }}\n{% if a %}{{ x }}{% endif %}", "s", None, {"x": 1})
        copy = pickle.loads(pickle.dumps(prompt))
        for attribute in ("text", "segments", "providers", "seconds", "diagnostics", "template"):
            assert getattr(copy, attribute) == getattr(prompt, attribute)


def test_the_front_stays_byte_identical() -> None:
    """What holds for the session is the front of every turn, up to what the first turn changes."""
    clock = Clock()
    made = live(
        clock=clock,
        zone="UTC",
        tools=[{"name": "b"}, {"name": "a"}],
        providers=[Counted("who", {"who": Scope.SESSION}), Counted("now", {"now": Scope.TURN})],
    )
    definition = agent(
        "You are {{ agent_name }}.\n{% for t in tools %}- {{ t.name }}\n{% endfor %}"
        "For {{ who }}.\nToday: {{ current_date }}\nNow: {{ now }}\nBye, {{ who }}."
    )
    prompts = []
    for _ in range(6):
        prompts.append(made.prompt(definition, "s", "ann"))
        clock.forward(minutes=1)
    static = "You are triage.\n- b\n- a\n"
    front = f"{static}For who1.\nToday: 2026-11-29"
    for number, prompt in enumerate(prompts, 1):
        assert prompt.text == f"{front}\nNow: now{number}\nBye, who1."
        assert prompt.cacheable_prefix.characters == len(front) + len("\nNow: ")
        scopes = [block.scope for block in prompt.blocks()]
        assert scopes == [Scope.STATIC, Scope.SESSION, Scope.DAY, Scope.TURN]
        assert prompt.blocks()[:3] == prompts[0].blocks()[:3]
    difference = prompts[-1].diff(prompts[-2])
    assert difference.variables == ("now",)


def test_a_prompt_knows_the_providers_of_its_parts() -> None:
    """Each segment names the providers behind it, and so does the diff to the turn before."""

    @cuecard.provider("mood")
    def mood(request: cuecard.ProviderRequest) -> dict[str, str]:
        return {"mood": "calm" if request.session["n"] == 1 else "brisk"}

    renderer = cuecard.PromptRenderer([mood], entry_points=False)
    template = "{{ session_id }} is {{ mood }}{% if agent_name %}{{ agent_name }}{% endif %}"
    first = renderer.prompt(template, {"id": "s", "n": 1})
    second = renderer.prompt(template, {"id": "s", "n": 2})
    providers = [segment.providers for segment in second.segments if segment.variables]
    assert providers == [("agent_metadata",), ("mood",), ("agent_metadata",)]
    assert second.diff(first).providers == ("mood",)

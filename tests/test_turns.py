"""Turns of a bound template: what it remembers of the turn before never shows."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import cuecard
from cuecard import Template

from .generated_templates import CONTEXT, templates
from .test_segments import PROFILES, assert_covers, outcome

VALUES: list[Any] = [
    "", " ", "x", "é", "same", "sa" "me", "{{ x }}\n", "%s %", 0, 1, True, False, 1.0, 0.0, -0.0,
    None, [], [1], [True], {}, {"k": "v"}, {"k": None}, 2**70, "\n",
]  # fmt: skip


@st.composite
def turns_of_names(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A few turns that each give some of the names, of few values, so that many recur."""
    names = sorted(CONTEXT)
    values = st.one_of(*(st.just(value) for value in VALUES), st.sampled_from([*CONTEXT.values()]))
    turn = st.dictionaries(st.sampled_from(names), values, max_size=len(names))
    return draw(st.lists(turn, min_size=2, max_size=6))


@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    template=templates(),
    turns=turns_of_names(),
    bound=st.sets(st.sampled_from(sorted(CONTEXT)), max_size=3),
    profile=st.sampled_from(PROFILES),
)
@example(
    "{% if a %}%{{ a }}{% else %}{{ b }}%{% endif %}",
    [{"a": 1, "b": 2}, {"a": True}],
    set(),
    PROFILES[3],
)
def test_a_turn_is_what_it_is_by_itself(
    template: str, turns: list[dict[str, Any]], bound: set[str], profile: cuecard.Profile
) -> None:
    """Whatever turns came before, a render and a trace give the text of an unbound render."""
    kind, compiled = outcome(lambda: Template(template, profile=profile))
    if kind == "error":
        return
    stable = {name: CONTEXT[name] for name in bound}
    bound_template = compiled.bind(stable)
    for turn in turns:
        given_ = {name: value for name, value in turn.items() if name not in bound}
        expected = outcome(compiled.render, {**stable, **given_})
        assert outcome(bound_template.render, given_) == expected
        traced = outcome(bound_template.trace, given_)
        if expected[0] == "error":
            assert traced == expected
        else:
            assert traced[1].text == expected[1]
            assert_covers(traced[1])
            whole = compiled.trace({**stable, **given_})
            assert places(traced[1]) == places(whole)
            assert messages(traced[1]) == messages(whole)


def places(prompt: cuecard.Prompt) -> list[Any]:
    found: list[Any] = []
    for segment in prompt.segments:
        found.append((segment.start, segment.end, segment.span, segment.kind, segment.variables))
        found.extend((child.start, child.end, child.span) for child in segment.children)
    return found


def messages(prompt: cuecard.Prompt) -> set[str]:
    return {notice.message for notice in prompt.diagnostics}

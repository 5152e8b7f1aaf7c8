"""Segments: joined they are the render of the whole, and each knows where it came from."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import cuecard
from cuecard import Prompt, Scope, Template

from .generated_templates import CONTEXT, contexts, templates

PROFILES = [
    dataclasses.replace(profile, fallback=False)
    for profile in (cuecard.STRICT, cuecard.OPERATOR, cuecard.MARKDOWN, cuecard.LIVE)
]
LIVE = PROFILES[3]
EXAMPLES = int(os.environ.get("CUECARD_EXAMPLES", "2000"))
many = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


def outcome(call: Any, *arguments: Any) -> tuple[str, Any]:
    """What a call gives: its result, or its error as text."""
    try:
        return "ok", call(*arguments)
    except cuecard.PromptError as error:
        return "error", str(error)


def assert_covers(prompt: Prompt) -> None:
    """Segments cover the text without gaps, and children lie within them."""
    position = 0
    for segment in prompt.segments:
        assert segment.start == position
        position = segment.end
        for child in segment.children:
            assert segment.start <= child.start <= child.end <= segment.end
    assert position == len(prompt.text)
    assert "".join(block.text for block in prompt.blocks()) == prompt.text
    assert "".join(block.text for block in prompt.blocks(2)) == prompt.text


@many
@given(template=templates(), context=contexts(), profile=st.sampled_from(PROFILES))
@example("{% set b = b ~ d %}{{ b }}{% set b = b ~ n %}{{ b }}", CONTEXT, PROFILES[0])
@example("{% if a %}{% set q = 1 %}{% endif %}{{ q }}", CONTEXT, PROFILES[2])
@example(
    "{% set s %}{% filter upper %}{% set b = 1 %}{% endfilter %}{% endset %}{{ b }}",
    {},
    PROFILES[3],
)
@example("x{{ n }}{% if xs %}{% set s = 1 %}{% endif %} text {", CONTEXT, PROFILES[1])
@example("{% set unused = missing %}x", {}, PROFILES[0])
def test_segments_joined_are_the_whole(
    template: str, context: dict[str, Any], profile: cuecard.Profile
) -> None:
    """A trace has the text of the render of the whole, or fails with the same error."""
    kind, compiled = outcome(lambda: Template(template, profile=profile))
    if kind == "error":
        return
    rendered = outcome(compiled.render, context)
    traced = outcome(compiled.trace, context)
    if rendered[0] == "error":
        assert traced == rendered
        return
    prompt = traced[1]
    assert prompt.text == rendered[1]
    assert_covers(prompt)


@many
@given(
    template=templates(),
    context=contexts(),
    profile=st.sampled_from(PROFILES),
    bound=st.sets(st.sampled_from(sorted(CONTEXT))),
)
@example("{{ a }}{{ n }}-{{ b }}{% if n %} {% endif %}", CONTEXT, PROFILES[0], {"a", "b"})
@example("{{ a }}{{ n }}{\n{{ b }}{{ n }}", CONTEXT, PROFILES[0], {"a", "b"})
def test_bound_renders_equal_unbound_ones(
    template: str, context: dict[str, Any], profile: cuecard.Profile, bound: set[str]
) -> None:
    """Binding some names and giving the rest is rendering with all of them."""
    kind, compiled = outcome(lambda: Template(template, profile=profile))
    if kind == "error" or outcome(compiled.render, context)[0] == "error":
        return
    text = compiled.render(context)
    stable = {name: value for name, value in context.items() if name in bound}
    turn = {name: value for name, value in context.items() if name not in bound}
    bound_template = compiled.bind(stable)
    assert bound_template.render(turn) == text
    assert bound_template.render(turn) == text
    prompt = bound_template.trace(turn)
    assert prompt.text == text
    assert_covers(prompt)
    spans = [(s.span, s.kind) for s in compiled.trace(context).segments]
    assert [(s.span, s.kind) for s in prompt.segments] == spans


@settings(max_examples=300, deadline=None)
@given(template=templates(), context=contexts(), profile=st.sampled_from(PROFILES))
def test_outputs_come_from_their_place(
    template: str, context: dict[str, Any], profile: cuecard.Profile
) -> None:
    """The span of an output is exactly its tag in the source."""
    kind, compiled = outcome(lambda: Template(template, profile=profile))
    if kind == "error" or outcome(compiled.render, context)[0] == "error":
        return
    for segment in compiled.trace(context).segments:
        for part in (segment, *segment.children):
            source = template[part.span.start : part.span.end]
            if part.kind == "output":
                assert source.startswith("{{")
                assert source.endswith("}}")
            elif part.kind == "block" and len(compiled.trace(context).segments) > 1:
                assert source.startswith("{")


def test_loops_are_traced_to_their_outputs() -> None:
    """Each pass of a loop gives a child with its tag's span and what the loop is over."""
    source = "Skills:\n{% for s in skills %}\n- {{ s.name }}: {{ s.note }}\n{% endfor %}\n"
    context = {"skills": [{"name": "a", "note": "<1>"}, {"name": "bb", "note": ""}]}
    template = Template(source, scopes={"skills": Scope.STATIC})
    prompt = template.trace(context)
    assert prompt.text == "Skills:\n- a: <1>\n- bb: \n"
    text, block = prompt.segments
    assert (text.kind, block.kind) == ("text", "block")
    found = [
        (prompt.text[c.start : c.end], source[c.span.start : c.span.end]) for c in block.children
    ]
    assert found == [
        ("a", "{{ s.name }}"),
        ("<1>", "{{ s.note }}"),
        ("bb", "{{ s.name }}"),
        ("", "{{ s.note }}"),
    ]
    assert all(child.variables == {"skills"} for child in block.children)
    assert all(child.scope is Scope.STATIC for child in block.children)


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{% filter upper %}{{ a }}{% endfilter %}", "a filter could change the marks"),
        ("{% for x in xs %}{% set y %}{{ x }}{% endset %}{{ y }}{% endfor %}", "captured text"),
        (
            "{% for x in [1, [2]] recursive %}{{ x }}{% if x is not number %}{{ loop(x) }}"
            "{% endif %}{% endfor %}",
            "a recursive loop captures its passes",
        ),
    ],
)
def test_what_is_captured_is_not_traced_inside(template: str, why: str) -> None:
    """Where marks could be changed on their way there are none, and the text is right."""
    prompt = Template(template).trace(CONTEXT)
    assert prompt.text == Template(template).render(CONTEXT)
    assert [segment.children for segment in prompt.segments] == [()], why


@pytest.mark.parametrize(
    ("template", "segments"),
    [
        ("a{{ b }}c", 3),
        ("{{ a }}{{ b }}", 2),
        ("{% set s = 1 %}x{{ s }}", 3),
        ("{% macro m() %}x{% endmacro %}{{ m() }}{{ m() }}", 2),
        ("{# note #}x", 1),
        ("{% if a %}{% set s = 1 %}{% endif %}x{{ a }}", 1),
        ("x{% set ns = namespace(n=1) %}y{{ ns.n }}", 2),
    ],
)
def test_how_templates_are_cut(template: str, segments: int) -> None:
    """Bindings are carried along; what may leak names keeps the rest in one piece."""
    assert len(Template(template).trace(CONTEXT).segments) == segments


def test_a_template_with_partials_is_one_segment(tmp_path: Any) -> None:
    """What a partial reads and binds is not known part by part, so the whole is one segment."""
    (tmp_path / "p").write_text("{{ a }}")
    template = Template("x{% include 'p' %}{{ n }}", partials=cuecard.Folder(tmp_path))
    prompt = template.trace(CONTEXT)
    assert [(s.kind, s.variables) for s in prompt.segments] == [("block", frozenset({"a", "n"}))]
    assert prompt.text == template.render(CONTEXT) == "xA {{ x }}\n3"


def test_ten_thousand_segments() -> None:
    """Many segments take time in proportion, and nothing overflows."""
    source = "".join(f"line {i} {{{{ n }}}}\n" for i in range(10_000))
    template = Template(source)
    prompt = template.trace(n=1)
    assert len(prompt.segments) == 20_001
    assert prompt.text == template.render(n=1)
    assert template.bind({"n": 1}).render() == prompt.text


def test_a_failing_trace_keeps_what_came_before() -> None:
    """The error of a trace is that of the render, with the segments before the failure."""
    template = Template("one {{ a }} two {{ d.missing }} three", name="t")
    with pytest.raises(cuecard.UndefinedVariableError) as raised:
        template.trace(CONTEXT)
    error = raised.value
    assert str(error).startswith("t:1:20: P202 ")
    assert isinstance(error.partial, Prompt)
    assert error.partial.text == "one A {{ x }}\n two "


def test_a_live_trace_falls_back_and_says_so() -> None:
    """A failing live trace is the template as it stands, with the error as a diagnostic."""
    template = Template("{{ 'a' + 1 }}", profile=cuecard.LIVE)
    with pytest.warns(cuecard.FallbackWarning):
        prompt = template.trace()
    assert prompt.text == "{{ 'a' + 1 }}"
    assert [(d.code, d.severity) for d in prompt.diagnostics] == [("P203", "error")]


def test_absent_names_are_noted() -> None:
    """A lenient trace lists the names whose absence it took for empty, with their place."""
    template = Template(
        "x\n{{ docs }}{{ q }}{% if z %}{{ z }}{% endif %}", profile=cuecard.MARKDOWN
    )
    (notice,) = template.trace(q="?").diagnostics
    assert (notice.code, notice.severity) == ("P201", "warning")
    assert "`docs`" in notice.message
    assert notice.span is not None
    assert (notice.span.line, notice.span.column) == (2, 4)


def test_scopes_of_unread_names_are_noted() -> None:
    """Scopes for names that the template does not read are named in one warning."""
    template = Template("{{ a }}", scopes={"a": Scope.DAY, "zz": Scope.DAY, "yy": Scope.TURN})
    (notice,) = template.trace(a=1).diagnostics
    assert notice.code == "P501"
    assert "`yy`, `zz`" in notice.message


# binding ------------------------------------------------------------------------------------


def test_a_bound_value_is_not_overridden_by_accident() -> None:
    """Giving a bound name again is an error that names it, whatever its value."""
    bound = Template("{{ a }}{{ n }}").bind({"a": "secret", "unread": 1})
    for context in ({"a": "secret", "n": 1}, {"unread": 2, "n": 1}):
        for call in (bound.render, bound.trace):
            with pytest.raises(cuecard.ContextError, match="bound already") as raised:
                call(context)
            assert raised.value.code == "P708"
            assert "secret" not in str(raised.value)


def test_binding_again_replaces() -> None:
    """What was bound before is free again."""
    template = Template("{{ a }}{{ b }}{{ n }}")
    first = template.bind({"a": 1, "b": 2})
    assert first.render(n=3) == "123"
    assert first.variables == first.required == {"n"}
    second = first.bind({"b": 5})
    assert second.render(a=4, n=6) == "456"
    assert second.variables == {"a", "n"}


def test_a_name_that_is_lacking_later() -> None:
    """A name that is neither bound nor given is undefined, at its place in the whole."""
    bound = Template("{{ a }}\n{{ n }}{{ b }}", name="t").bind({"a": 1})
    with pytest.raises(cuecard.UndefinedVariableError) as raised:
        bound.render()
    assert str(raised.value).startswith("t:2:4: P201 ")
    assert raised.value.variables == ("n", "b")


def test_a_bound_part_that_fails() -> None:
    """What can only fail fails at the render, as it would without binding."""
    bound = Template("{{ n }}{{ d.nope }}", name="t").bind({"d": {}})
    for call in (bound.render, bound.trace):
        with pytest.raises(cuecard.UndefinedVariableError, match="t:1:11: P202"):
            call(n=1)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "rest", ["{{ n }}", "{{ n }}\n\n", "{% if n > 2 %}{{ n }}{% endif %}, {{ n }}"]
)
def test_bound_text_is_the_same_object_at_every_turn(profile: cuecard.Profile, rest: str) -> None:
    """The front that does not change is not copied: each turn's blocks are the same texts."""
    front = "# Rules\n{% for x in xs %}{{ x }}{% endfor %}\nName: {{ name }}\n"
    template = Template(front + rest, profile=profile, scopes={"n": Scope.TURN})
    bound = template.bind({"xs": ["a" * 1000] * 10, "name": "b"})
    first, second = (bound.trace(n=n).blocks() for n in (1, 2))
    assert [block.scope for block in first] == [Scope.STATIC, Scope.SESSION, Scope.TURN]
    assert first[0].text is second[0].text
    assert first[1].text is second[1].text


@pytest.mark.parametrize("profile", PROFILES)
def test_blocks_of_a_bound_front_that_is_trimmed(profile: cuecard.Profile) -> None:
    """Bound blocks join to the text, even where the profile trims the end of the front."""
    source = "# Rules\n{% for x in xs %}{{ x }}\n\n{% endfor %}\n{{ empty }}\n{{ n }}"
    context = {"xs": ["a", "b"], "empty": ""}
    template = Template(source, profile=profile, scopes={"n": Scope.STATIC})
    bound = template.bind(context)
    for n in ("", "c", ""):
        prompt, whole = bound.trace(n=n), template.trace({**context, "n": n})
        assert "".join(block.text for block in prompt.blocks()) == whole.text == prompt.text
        scopes = {**template.scopes, "xs": Scope.SESSION, "empty": Scope.SESSION}
        unbound = Template(source, profile=profile, scopes=scopes).trace({**context, "n": n})
        assert prompt.blocks() == unbound.blocks()


@pytest.mark.parametrize("profile", PROFILES)
def test_bound_names_are_given_and_read(profile: cuecard.Profile) -> None:
    """Nothing is noticed of a name that is bound: neither that it is absent nor unread."""
    bound = Template("{{ a }} {{ b }}", profile=profile).bind({"a": "x"}, {"a": Scope.STATIC})
    assert bound.trace({"b": "y"}).diagnostics == ()


@pytest.mark.parametrize("way", ["render", "trace"])
@pytest.mark.parametrize("bound", [False, True])
def test_an_interruption_stays_one(way: str, bound: bool) -> None:
    """What stops the program is raised as it is, even where a render would fail besides."""

    class Interrupted(Mapping[str, Any]):
        def __getitem__(self, key: str) -> Any:
            raise KeyboardInterrupt

        def __iter__(self) -> Iterator[str]:
            return iter(["k"])

        def __len__(self) -> int:
            return 1

    template = Template("{{ a.k }}{{ b.nope }}")
    with pytest.raises(KeyboardInterrupt):
        getattr(template.bind() if bound else template, way)({"a": Interrupted(), "b": {}})


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda prompt: pickle.loads(pickle.dumps(prompt))]
)
@pytest.mark.parametrize("bound", [{}, {"xs": [1, 2]}])
def test_a_prompt_can_be_copied_and_stored(copied: Any, bound: dict[str, Any]) -> None:
    """A prompt goes to another process without its template, and keeps all that it knows."""
    template = Template("a{% for x in xs %}{{ x }}{% endfor %}{{ n }}{{ b }}", profile=LIVE)
    prompt = template.bind(bound).trace({"n": 3} if bound else {"xs": [1, 2], "n": 3})
    there = copied(prompt)
    assert (there.text, there.segments) == (prompt.text, prompt.segments) != ("", ())
    assert len(there.with_counter(len).segments[1].children) == 2
    assert there.blocks() == prompt.blocks()
    assert there.diagnostics == prompt.diagnostics != ()
    assert there.diff(prompt).equal


def test_the_caller_s_later_changes_are_not_seen() -> None:
    """What was bound stays as it was when it was bound."""
    tools = ["a"]
    bound = Template("{{ tools }}{% if n %}{{ tools }}{% endif %}").bind({"tools": tools})
    tools.append("b")
    assert bound.render(n=1) == "['a']['a']"


def test_binding_a_text_without_tags() -> None:
    """There is nothing to bind, and nothing is lost."""
    assert Template("plain").bind({"a": 1}).render() == "plain"
    assert Template("plain").bind({"a": 1}).trace().text == "plain"


def test_a_bound_template_sees_edited_partials(tmp_path: Any) -> None:
    """A partial that changes is rendered anew, bound or not."""
    (tmp_path / "p").write_text("one {{ a }}")
    bound = Template("{% include 'p' %}", partials=cuecard.Folder(tmp_path)).bind({"a": 1})
    assert bound.render() == "one 1"
    (tmp_path / "p").write_text("other {{ a }}")
    assert bound.render() == "other 1"

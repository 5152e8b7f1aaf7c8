"""Profiles: the table of the design, row by row, and that a variant is a value of its own."""

import dataclasses
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import cuecard

from .case_files import PROFILES

ALL = [pytest.param(profile, id=name) for name, profile in PROFILES.items()]
NOPE: Any = "nope"
LINES = "a\n  {% if true %}\nb\n  {% endif %}\nc\n"


def render(profile: str, template: str, context: Any = None) -> str:
    return cuecard.render(template, context, profile=PROFILES[profile])


@pytest.mark.parametrize(
    ("profile", "template", "context", "expected"),
    [
        # an absent name
        ("markdown", "[{{ x }}]", {}, "[]\n"),
        ("live", "[{{ x }}{{ x.y.z }}]", {}, "[]"),
        ("markdown", "{% if x %}a{% else %}b{% endif %}", {}, "b\n"),
        # block tags on their own line
        ("strict", LINES, {}, "a\nb\nc\n"),
        ("operator", LINES, {}, "a\n  \nb\n  \nc"),
        ("markdown", LINES, {}, "a\nb\nc\n"),
        ("live", LINES, {}, "a\nb\nc\n"),
        ("strict", LINES.replace("\n", "\r\n"), {}, "a\r\nb\r\nc\r\n"),
        ("live", LINES.replace("\n", "\r\n"), {}, "a\r\nb\r\nc\r\n"),
        ("strict", "a {% if true %}\nb{% endif %}", {}, "a b"),
        ("strict", "a\n\t{# note #}\nb", {}, "a\nb"),
        ("strict", "a\n  {{ 1 }}\nb", {}, "a\n  1\nb"),
        ("strict", "a\n  {%+ if true %}b{% endif +%}\nc", {}, "a\n  b\nc"),
        ("operator", "a\n  {%- if true -%}\nb\n{%- endif %}\nc", {}, "ab\nc"),
        # the end of the text
        ("strict", "{{ 1 }}\n\n", {}, "1\n\n"),
        ("operator", "{{ 1 }}\n\n", {}, "1\n"),
        ("operator", "{{ 1 }}\r\n", {}, "1"),
        ("operator", "{{ x }}", {"x": "a\n"}, "a\n"),
        ("operator", "", {}, ""),
        ("operator", "\n", {}, ""),
        ("markdown", "{{ 1 }} \n\n \t\n", {}, "1\n"),
        ("markdown", "{{ x }}", {"x": "a\n\n"}, "a\n"),
        ("markdown", "{{ x }}", {"x": "a\x1c\n"}, "a\x1c\n"),
        ("markdown", "", {}, "\n"),
        ("markdown", "  \n", {}, "\n"),
        ("live", "{{ 1 }}\n\n", {}, "1\n\n"),
        ("live", "", {}, ""),
        # a context that is no mapping
        ("operator", "{{ value[0] }}", ["a"], "a"),
        ("operator", "{{ value }}", "text", "text"),
        ("operator", "{{ value + 1 }}", 41, "42"),
        ("operator", "{{ value is none }}", None, "True"),
        ("operator", "{{ value }}", {"value": "a slot"}, "a slot"),
        # keys in JSON
        ("strict", "{{ x | tojson }}", {"x": {"b": 1, "a": 2}}, '{"b": 1, "a": 2}'),
        ("operator", "{{ x | tojson }}", {"x": {"b": 1, "a": 2}}, '{"b": 1, "a": 2}'),
        ("markdown", "{{ x | tojson }}", {"x": {"b": 1, "a": 2}}, '{"a": 2, "b": 1}\n'),
        ("live", "{{ x | tojson }}", {"x": {"b": 1, "a": 2}}, '{"b": 1, "a": 2}'),
    ],
)
def test_row(profile: str, template: str, context: Any, expected: str) -> None:
    """A row of the table, for a profile in which it gives a text."""
    assert render(profile, template, context) == expected


@pytest.mark.parametrize(
    ("profile", "template", "context", "code"),
    [
        ("strict", "{{ x }}", {}, "P201"),
        ("operator", "{{ x }}", {}, "P201"),
        ("markdown", "{{ x.y }}", {}, "P201"),
        ("strict", "{{ value }}", [1], "P707"),
        ("markdown", "{{ value }}", [1], "P707"),
        ("strict", "{{ value }}", "text", "P707"),
        ("strict", "{% include 'a' %}", {}, "P107"),
        ("operator", "{% include 'a' %}", {}, "P107"),
        ("markdown", "{% include 'a' %}", {}, "P107"),
        ("markdown", "{% if %}", {}, "P101"),
        ("markdown", "{{ 'a' + 1 }}", {}, "P203"),
    ],
)
def test_refusal(profile: str, template: str, context: Any, code: str) -> None:
    """A row of the table, for a profile in which it is an error."""
    with pytest.raises(cuecard.PromptError) as caught:
        render(profile, template, context)
    assert caught.value.code == code


class TestFallback:
    @pytest.mark.parametrize(
        ("template", "context", "code"),
        [
            ("a {{ x", {}, "P101"),
            ("{% nosuchtag %}\r\n", {}, "P102"),
            ("{{ x | nofilter }}", {}, "P103"),
            ("{{ 'a' + 1 }}", {}, "P203"),
            ("{% include 'a' %}", {}, "P107"),
            ("{{ x._y }}", {}, "P108"),
            ("{{ x }}", {"x": object()}, "P701"),
            ("{{ x }}", 5, "P707"),
            ("{{ range(10 ** 9) }}", {}, "P114"),
            ("{{ raise_exception('x') }}", {}, "P205"),
        ],
    )
    def test_returns_the_template_and_warns(self, template: str, context: Any, code: str) -> None:
        """Whatever fails, the template comes back as it stands, with the error as a warning."""
        compiled = cuecard.Template(template, profile=cuecard.LIVE)
        for _ in range(3):
            with pytest.warns(cuecard.FallbackWarning, match=code) as caught:
                assert compiled.render(context) == template
            assert len(caught) == 1
        with pytest.warns(cuecard.FallbackWarning, match=code):
            assert cuecard.render(template, context, profile=cuecard.LIVE) == template

    def test_warning_points_at_the_caller(self) -> None:
        """The warning is attributed to the line that asked for the render."""
        broken = cuecard.Template("{{ x", profile=cuecard.LIVE)
        failing = cuecard.Template("{{ 'a' + x }}", profile=cuecard.LIVE)
        asked: list[Callable[[], str]] = [
            lambda: broken.render(),
            lambda: failing.render(x=1),
            lambda: failing.render({"x": 1}),
            lambda: cuecard.render("{{ y", profile=cuecard.LIVE),
            lambda: cuecard.render("{{ 'a' + 1 }}", profile=cuecard.LIVE),
        ]
        for ask in asked:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                ask()
            assert [warning.filename for warning in caught] == [__file__]

    def test_failure_is_known_beforehand(self) -> None:
        """A template that cannot be read says so in `failure`; others have none."""
        broken = cuecard.Template("{{ x", profile=cuecard.LIVE)
        assert isinstance(broken.failure, cuecard.TemplateSyntaxError)
        assert broken.variables == frozenset()
        assert cuecard.Template("{{ x }}", profile=cuecard.LIVE).failure is None

    def test_interruption_is_none_of_it(self) -> None:
        """An interruption of the process is not taken for a failing template."""

        class Interrupts(dict[str, int]):
            def __getitem__(self, key: str) -> int:
                raise KeyboardInterrupt

        template = cuecard.Template("{{ x.a }}", profile=cuecard.LIVE)
        with pytest.raises(KeyboardInterrupt):
            template.render(x=Interrupts(a=1))


class TestValue:
    @pytest.mark.parametrize("profile", ALL)
    def test_is_frozen(self, profile: cuecard.Profile) -> None:
        """Neither a profile nor its limits can be changed."""
        with pytest.raises(dataclasses.FrozenInstanceError):
            profile.undefined = "lenient"  # type: ignore[misc]
        with pytest.raises(dataclasses.FrozenInstanceError):
            profile.limits.fuel = 1  # type: ignore[misc]

    @pytest.mark.parametrize("profile", ALL)
    def test_is_a_key_and_pickles(self, profile: cuecard.Profile) -> None:
        """Equal profiles are one key; a copy in another process is equal."""
        hash(profile)
        again = pickle.loads(pickle.dumps(profile))
        assert again == profile
        assert hash(again) == hash(profile)
        variant = dataclasses.replace(profile, name="variant")
        assert variant != profile
        assert dataclasses.replace(variant, name=profile.name) == profile

    def test_variant_has_its_own_templates(self) -> None:
        """Rendering one text under two variants never mixes them up."""
        text = "{{ x }}|{{ y | tojson }}\n"
        lenient = dataclasses.replace(cuecard.STRICT, undefined="lenient")
        sorted_keys = dataclasses.replace(lenient, sort_keys=True)
        context = {"y": {"b": 1, "a": 2}}
        for _ in range(2):
            with pytest.raises(cuecard.UndefinedVariableError):
                cuecard.render(text, context)
            assert cuecard.render(text, context, profile=lenient) == '|{"b": 1, "a": 2}\n'
            assert cuecard.render(text, context, profile=sorted_keys) == '|{"a": 2, "b": 1}\n'

    def test_name_of_the_template_is_its_own(self) -> None:
        """Rendering one text under two names reports each by its name."""
        for name in ("agent.md", "SYSTEM.md", "a.html", "b.yaml", "{{ x }}"):
            with pytest.raises(cuecard.UndefinedVariableError) as caught:
                cuecard.render("{{ x }}", name=name)
            assert caught.value.template == name
            assert str(caught.value).startswith(f"{name}:1:4: P201 ")

    @pytest.mark.parametrize("name", ["a.html", "a.yaml", "a.json", "a.j2", "a.xml", "", "\0main"])
    def test_name_never_changes_the_text(self, name: str) -> None:
        """Nothing is escaped, whatever a template is called."""
        assert cuecard.render("{{ x }}", {"x": "<&'\""}, name=name) == "<&'\""

    def test_newline_lf(self) -> None:
        """With `newline="lf"` a template's CR LF is read as LF; values keep theirs."""
        profile = dataclasses.replace(cuecard.STRICT, newline="lf")
        assert cuecard.render("a\r\n{{ x }}\r\n", {"x": "\r\n"}, profile=profile) == "a\n\r\n\n"
        assert cuecard.render("a\r\nb\r", profile=profile) == "a\nb\r"
        with pytest.raises(cuecard.UndefinedVariableError) as caught:
            cuecard.render("a\r\nb\r\n {{ x }}", profile=profile)
        assert caught.value.place == "system:3:5"


class TestWhiteSpace:
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize(
        "tags",
        [
            "{% if true %}|{% endif %}",
            "{% for i in [1] %}|{% endfor %}",
            "{% set a = 1 %}|{% set b = 2 %}",
            "{# note #}|{# note #}",
            "{% raw %}|{% endraw %}",
            "{% with a = 1 %}|{% endwith %}",
            "{% macro m() %}{% endmacro %}|{% do m() %}",
            "{% filter trim %}{% endfilter %}|{# #}",
        ],
    )
    def test_tag_line_vanishes_whole(self, end: str, tags: str) -> None:
        """A line with nothing but a block tag leaves no trace, with either line end."""
        first, last = tags.split("|")
        template = end.join(["a", f" \t{first}", "b", f"{last}", "c", ""])
        assert cuecard.render(template) == end.join(["a", "b", "c", ""])

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_output_line_stays(self, end: str) -> None:
        """A line with an output keeps its blanks and its line end."""
        template = end.join(["a", "  {{ x }}  ", "b", ""])
        assert cuecard.render(template, {"x": ""}) == end.join(["a", "    ", "b", ""])

    def test_byte_order_mark_is_text(self) -> None:
        """In a text that is given as such, a byte order mark is a character like others."""
        assert cuecard.render("\ufeffa{{ 1 }}") == "\ufeffa1"


class TestMarkdownPath:
    def test_sections(self) -> None:
        """Every section is in the context; those that are absent print nothing."""
        template = (
            "{{ workspace }}|{{ skills | length }}|{{ tools | length }}|{{ mcp | length }}|"
            "{{ environment }}{{ user }}{{ vision }}|{{ user is none }}"
        )
        text = cuecard.markdown.render_system(template, "/ws", [{"name": "a"}], [])
        assert text == "/ws|1|0|0||True\n"

    def test_given_sections(self) -> None:
        """Given sections are verbatim: their braces stay."""
        text = cuecard.markdown.render_system(
            "{% for t in tools %}{{ t.name }}{% endfor %}"
            "{% for m in mcp %}{{ m.server }}{% endfor %}"
            "{{ environment }}{{ user }}{{ vision }}",
            "/ws",
            tools=iter([{"name": "t"}]),
            mcp=[{"server": "s"}],
            environment="[{{ e }}]",
            user="[{% u %}]",
            vision="[v]\n",
        )
        assert text == "ts[{{ e }}][{% u %}][v]\n"

    def test_error_is_of_system(self) -> None:
        """A template that cannot be right refuses to render, under the name `system`."""
        with pytest.raises(cuecard.TemplateSyntaxError, match=r"^system:1:4: P101"):
            cuecard.markdown.render_system("{% if skills %}", "/ws")


class TestOperatorPath:
    def test_failure_has_kind_message_and_place(self) -> None:
        """The text of a failure is fixed; the exact error is its cause."""
        with pytest.raises(cuecard.RenderError) as caught:
            cuecard.operator.render_system("a\n{{ directiv }}", {"directive": "x"})
        error = caught.value
        assert str(error) == (
            "template render failed: undefined value: undefined variable `directiv` (at system:2:4)"
        )
        assert isinstance(error.__cause__, cuecard.UndefinedVariableError)
        assert (error.code, error.hint) == ("P201", "Did you mean `directive`?")
        assert error.span == error.__cause__.span
        assert error.line_text == "{{ directiv }}"

    @pytest.mark.parametrize(
        ("template", "slots", "start"),
        [
            ("{{ x", {}, "syntax error: "),
            ("{% foo %}", {}, "syntax error: "),
            ("{{ x }}", {}, "undefined value: "),
            ("{{ x.y }}", {"x": {}}, "undefined value: "),
            ("{{ x | nofilter }}", {"x": 1}, "unknown filter: "),
            ("{{ x is notest }}", {"x": 1}, "unknown test: "),
            ("{{ nofunction() }}", {}, "unknown function: "),
            ("{{ x.nomethod() }}", {"x": "a"}, "unknown method: "),
            ("{% include 'a' %}", {}, "not available: "),
            ("{{ x + 1 }}", {"x": "a"}, "invalid operation: "),
            ("{{ x }}", {"x": object()}, "not plain data: "),
            ("{{ raise_exception('no') }}", {}, "template raised: "),
            ("{{ range(10 ** 9) }}", {}, "too much work: "),
        ],
    )
    def test_kind(self, template: str, slots: dict[str, Any], start: str) -> None:
        """Each failure begins with the words for its kind."""
        with pytest.raises(cuecard.RenderError) as caught:
            cuecard.operator.render_system(template, slots)
        assert str(caught.value).startswith(f"template render failed: {start}")

    def test_failure_pickles(self) -> None:
        """A failure survives pickling with its text, code, place and hint."""
        with pytest.raises(cuecard.RenderError) as caught:
            cuecard.operator.render_system("{{ a }}", {})
        again = pickle.loads(pickle.dumps(caught.value))
        assert str(again) == str(caught.value)
        assert vars(again) == vars(caught.value)

    @pytest.mark.parametrize(
        ("prompt", "slots"),
        [
            ({"a": 1}, {"a": 1}),
            ([1], {"directive": [1]}),
            (5, {"directive": 5}),
            (None, {"directive": None}),
            (True, {"directive": True}),
        ],
    )
    def test_slots_of_other_values(self, prompt: Any, slots: dict[str, Any]) -> None:
        """A mapping is used as it is, any other value is the directive."""
        assert cuecard.slots_from_prompt(prompt) == slots

    @pytest.mark.parametrize(
        "text",
        [
            '{"a": 1}{"b": 2}',
            '\ufeff{"a": 1}',
            "{'a': 1}",
            '{"a": 1,}',
            '{"a": -Infinity}',
            '{"a": "\n"}',
            '{"\\udc00": 1}',
            "{" * 100_000,
            '{"a": ' + "9" * 5000 + "}",
            "\u00a0{}",
            "[]",
            "true",
        ],
    )
    def test_text_that_is_no_object(self, text: str) -> None:
        """What a strict JSON reader would not take for an object is the directive."""
        assert cuecard.slots_from_prompt(text) == {"directive": text}

    @pytest.mark.parametrize(("levels", "read"), [(127, True), (128, False), (5000, False)])
    def test_depth_of_slots(self, levels: int, read: bool) -> None:
        """127 levels are read as JSON, more are the directive."""
        text = '{"a":' * levels + "1" + "}" * levels
        assert ("a" in cuecard.slots_from_prompt(text)) == read

    def test_slots_are_a_copy(self) -> None:
        """The caller's mapping is not handed on itself."""
        given = {"a": 1}
        assert cuecard.slots_from_prompt(given) is not given


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: dataclasses.replace(cuecard.STRICT, undefined=NOPE), ValueError),
        (lambda: dataclasses.replace(cuecard.STRICT, end=NOPE), ValueError),
        (lambda: dataclasses.replace(cuecard.STRICT, limits=NOPE), TypeError),
        (lambda: cuecard.Limits(fuel=-1), ValueError),
        (lambda: cuecard.Limits(depth=True), ValueError),
        (lambda: cuecard.Template("x", profile=NOPE), TypeError),
        (lambda: cuecard.Template("x", partials=NOPE), TypeError),
    ],
)
def test_wrong_use_is_told_at_once(make: Callable[[], object], kind: type[Exception]) -> None:
    """A profile, a limit or a folder that is none is a Python error where it is given."""
    with pytest.raises(kind):
        make()

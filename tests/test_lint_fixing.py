"""Fixing and suppressing: a safe fix changes no rendered text, and comments switch off."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cuecard import MARKDOWN, OPERATOR, STRICT, Profile, PromptError, Template
from cuecard.lint import (
    Checker,
    Document,
    Edit,
    Finding,
    Fix,
    Fixed,
    Rule,
    Settings,
    Target,
    fix_document,
    read_target,
)
from cuecard.lint.sampling import contexts

from .case_files import Case, parameters
from .generated_templates import contexts as generated_contexts
from .generated_templates import templates

few = hypothesis_settings(max_examples=40)
PLAIN = Settings(entry_points=False)


def mended(text: str, *, unsafe: bool = False, settings: Settings = PLAIN) -> Fixed:
    """A text after `--fix`, as a template or as an agent file."""
    name, kind = ("a.md", "agent") if text.startswith("---\n") else ("a.j2", "template")
    target = Target(name, kind)  # type: ignore[arg-type]
    document = read_target(target, settings, text)
    return fix_document(Checker(settings), target, document, unsafe=unsafe)


def rendered(text: str, values: dict[str, Any], profile: Profile) -> str:
    """A rendered text, or the code of why there is none."""
    try:
        return Template(text, profile=profile).render(values)
    except PromptError as error:
        return error.code


FIXABLE = st.sampled_from(
    [
        *(
            "{{ a | safe }}",
            "x \t\n{%- if a %} y{% endif %}",
            "{% autoescape false %}b{% endautoescape %}",
        ),
        *("{{ d.k|safe|upper }}", "line \n  {% for x in xs %}  \n{{ x }} \n{% endfor %}", "\tx\n"),
        *("{{ curent_date }}", "{%if a%}\n\n{%endif%}\n", "{{- b|safe -}}  \n"),
    ]
)
PIECES = st.lists(st.one_of(templates(), FIXABLE, FIXABLE), max_size=5).map("".join)
PROFILES = st.sampled_from([STRICT, OPERATOR, MARKDOWN])


class TestGenerated:
    @few
    @given(text=PIECES, values=generated_contexts(), profile=PROFILES)
    def test_safe_fixes_change_no_text(
        self, text: str, values: dict[str, Any], profile: Profile
    ) -> None:
        """Whatever is mended, what is rendered stays the same, under the file's profile."""
        settings = Settings(profiles={"*": profile.name}, entry_points=False)
        fixed = mended(text, settings=settings)
        assert rendered(fixed.text, values, profile) == rendered(text, values, profile)

    def test_some_of_these_can_be_mended(self) -> None:
        """Else the test above would say nothing."""
        codes = {finding.code for finding in mended("{{ a | safe }}\nx").fixed}
        assert codes == {"P914"}

    @few
    @given(text=PIECES, unsafe=st.booleans())
    def test_mending_twice_is_mending_once(self, text: str, unsafe: bool) -> None:
        """Nothing is left that could be mended, and the second time nothing changes."""
        once = mended(text, unsafe=unsafe)
        twice = mended(once.text, unsafe=unsafe)
        assert twice.text == once.text
        assert twice.fixed == ()
        assert (once.text == text) == (once.fixed == ())

    @few
    @given(text=PIECES, unsafe=st.booleans())
    def test_a_template_that_was_read_is_read_after(self, text: str, unsafe: bool) -> None:
        """No fix makes an error, and none of the errors is hidden."""
        target = Target("a.j2", "template")
        before = read_target(target, PLAIN, text)
        after = read_target(target, PLAIN, mended(text, unsafe=unsafe).text)
        if before.failure is None:
            assert after.failure is None


def edit_rule(code: str, *changes: tuple[str, str], safe: bool) -> Rule:
    """A rule that would replace each of some texts wherever it stands in the template."""

    def check(document: Document) -> list[Finding]:
        found = []
        for old, new in changes:
            start = document.body.text.find(old)
            if start >= 0:
                edits = (document.edit(start, start + len(old), new),)
                found.append(
                    document.found("x", start, start + len(old), None, Fix("x", edits, safe))
                )
        return found

    return Rule(code, "x", "syntax", "warning", "safe" if safe else "unsafe", "X.\n", check)


def mended_by(rules: list[Rule], text: str, *, unsafe: bool = False) -> Fixed:
    """A text that is mended by rules of our own."""
    target = Target("a.j2", "template")
    checker = Checker(PLAIN)
    checker.__dict__["_rules"] = rules
    return fix_document(checker, target, read_target(target, PLAIN, text), unsafe=unsafe)


class TestVerification:
    """A fix that says it is safe is tried before it is believed."""

    @pytest.mark.parametrize(
        ("text", "old", "new"),
        [
            ("Hello", "Hello", "Goodbye"),
            ("{{ user.name }}", "name", "nme"),
            ("{% if a %}x{% endif %}", "if a", "if not a"),
            ("{% for t in ts %}{{ t.n }},{% endfor %}", "},{", "}, {"),
            ("{{ missing_one }}{{ d.k.l }} tail", "tail", "tall"),
            ("{{ a }}{% if b == 3 %}x{% endif %}", "b == 3", "b == 4"),
            ("{% if a %}", "a", "b"),
        ],
    )
    def test_a_false_one_is_left_out(self, text: str, old: str, new: str) -> None:
        """Its finding stays, and the text as it was; a broken template is no excuse."""
        fixed = mended_by([edit_rule("P901", (old, new), safe=True)], text)
        if text == "{% if a %}":
            assert fixed.text == "{% if b %}"  # nothing could be rendered, nothing changes
            return
        assert fixed.text == text
        assert fixed.fixed == ()
        assert len(fixed.left) == 1

    def test_a_false_one_does_not_hold_up_the_others(self) -> None:
        """Each of many is mended but the one that lies."""
        changes = [(f"{{{{x{n}}}}}", f"{{{{ x{n} }}}}") for n in range(40)]
        text = "".join(old for old, _ in changes) + "Hello"
        rule = edit_rule("P901", *changes, ("Hello", "Goodbye"), safe=True)
        fixed = mended_by([rule], text)
        assert fixed.text == "".join(new for _, new in changes) + "Hello"
        assert len(fixed.fixed) == 40
        assert len(fixed.left) == 1

    def test_unsafe_ones_do_not_cover_for_safe_ones(self) -> None:
        """With `--unsafe-fixes` a safe one is still held against the text."""
        rules = [
            edit_rule("P901", ("Hello", "Goodbye"), safe=True),
            edit_rule("P902", ("you", "YOU"), safe=False),
        ]
        fixed = mended_by(rules, "Hello you", unsafe=True)
        assert fixed.text == "Hello YOU"

    def test_an_end_is_found_when_two_rules_disagree(self) -> None:
        """Two fixes that undo each other do not run for ever."""
        rules = [
            edit_rule("P901", ("you", "YOU"), safe=False),
            edit_rule("P902", ("YOU", "you"), safe=False),
        ]
        assert mended_by(rules, "Hello you", unsafe=True).text in ("Hello you", "Hello YOU")

    def test_edits_that_touch_are_made_one_after_the_other(self) -> None:
        """Both rules get their way, in two rounds."""
        rules = [
            edit_rule("P901", ("{{x", "{{ x"), safe=True),
            edit_rule("P902", ("x}}", "x }}"), safe=True),
        ]
        assert mended_by(rules, "{{x}}").text == "{{ x }}"

    def test_nothing_spoils_a_header(self) -> None:
        """A fix after which the header cannot be read is left out."""
        text = "---\nname: a\ndescription: d\n---\nHello\n"

        def check(document: Document) -> list[Finding]:
            edit = Edit(4, 9, "name: [")
            return [document.found_in_file("x", 4, 8, None, Fix("x", (edit,), safe=False))]

        target = Target("a.md", "agent")
        checker = Checker(PLAIN)
        checker.__dict__["_rules"] = [Rule("P411", "x", "files", "error", "unsafe", "X.\n", check)]
        document = read_target(target, PLAIN, text)
        assert fix_document(checker, target, document, unsafe=True).text == text


class TestSamples:
    """What is rendered to try a fix has the forms that the template needs."""

    @pytest.mark.parametrize(
        ("text", "form"),
        [
            ("{{ user.name }}", {"user": {"name": "text"}}),
            ("{% for t in ts %}{{ t.n }}{% endfor %}", {"ts": [{"n": "text"}, {"n": "text2"}]}),
            ("{% for t in a.b | sort %}{{ t }}{% endfor %}", {"a": {"b": ["text", "text2"]}}),
            ("{{ a['b'].c }}{{ d[0] }}", {"a": {"b": {"c": "text"}}, "d": ["text", "text2"]}),
            (
                "{% for r in rows %}{% for c in r.cells %}{{ c.v }}{% endfor %}{% endfor %}",
                {"rows": [{"cells": [{"v": "text"}, {"v": "text2"}]}] * 2},
            ),
            ("{% for x in x %}{{ x.y }}{% endfor %}", None),
        ],
    )
    def test_are_shaped(self, text: str, form: Any) -> None:
        """Attributes make mappings, loops make lists; some sample renders under STRICT."""
        template = Template(text)
        assert template.unit is not None
        tree, names = template.unit.tree, template.unit.names
        samples = list(contexts(tree, names))
        assert {} in samples
        if form is not None:
            shaped = [s for s in samples if {**s, **form} == s or _texts(s) == _texts(form)]
            assert shaped
            assert any(rendered(text, sample, STRICT) not in ("P201", "P202") for sample in shaped)


def _texts(value: Any) -> Any:
    """A form without its texts."""
    if isinstance(value, dict):
        return {key: _texts(item) for key, item in value.items()}
    return [_texts(item) for item in value] if isinstance(value, list) else None


@pytest.mark.parametrize("case", parameters("suppressions.jsonl"))
def test_suppressions(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The findings that are left are the case's: code and line."""
    monkeypatch.chdir(tmp_path)
    settings = Settings(select=("P1", "P201", "P413"), entry_points=False)
    name = case.get("file", "a.md")
    kind: Any = "agent" if name.endswith(".md") else "template"
    report = Checker(settings).check_target(Target(name, kind), case["text"])
    found = [[f.code, f.span.line if f.span else None] for f in report.findings]
    assert found == case["finds"]

"""The behaviour that is agreed on: cases that the three original systems and bug reports gave.

`seeds.jsonl`, `slots.jsonl` and `reports.jsonl` are never changed to suit the code. What the
reports expect of an error in prose, `report_errors.jsonl` says exactly. The last three files
are our own: templates that do not parse or use what does not exist, absent names, and guards.
"""

import warnings
from dataclasses import replace
from pathlib import Path

import pytest

import cuecard
from cuecard.frontmatter import read_document

from .case_files import Case, check_error, parameters, profile_of, read_cases

NEEDS_FRONT_MATTER = (
    *("B55", "B57", "B58", "B61", "B62", "B64", "B65", "B68"),
    *("B69", "B71", "B72", "B74", "B75"),
)
"""Reports about the header of a file, which is split off before the body is rendered."""

WARNS = ("B62", "B69")
"""Reports whose header is read with a warning."""

NOT_AVAILABLE = (cuecard.TemplateSyntaxError, "not available")
KINDS: dict[str, tuple[type[cuecard.PromptError], str]] = {
    "undefined": (cuecard.UndefinedVariableError, "undefined value"),
    "syntax": (cuecard.TemplateSyntaxError, "syntax error"),
    "unknown_filter": (cuecard.UnknownNameError, "unknown filter"),
    "not_available": NOT_AVAILABLE,
}
"""What a kind of the data is in code: the class, and `error.kind`."""

REPORT_ERRORS = {case["id"]: case for case in read_cases("report_errors.jsonl")}


def is_fallback(case: Case) -> bool:
    return bool(case["profile"] == "live" and case["expected"] == case["template"])


def expects_text(case: Case) -> bool:
    return "expected" in case


def expects_error(case: Case) -> bool:
    return "expected" not in case


def of_profile(name: str) -> list[object]:
    return parameters("seeds.jsonl", lambda case: case["profile"] == name)


def report(case: Case) -> cuecard.Template:
    """The template of a report, as its settings say: STRICT, but for what differs."""
    settings = case.get("settings", {})
    profile = replace(
        cuecard.STRICT,
        undefined=settings.get("undefined", "strict"),
        newline=settings.get("newline", "keep"),
    )
    name = settings.get("template_name", "system")
    return cuecard.Template(case["template"], profile=profile, name=name)


class TestSeeds:
    @pytest.mark.parametrize("case", parameters("seeds.jsonl", expects_text))
    @pytest.mark.filterwarnings("ignore::cuecard.FallbackWarning")
    def test_text(self, case: Case) -> None:
        """A template renders as in the original system."""
        assert (
            cuecard.render(case["template"], case["context"], profile=profile_of(case))
            == (case["expected"])
        )

    @pytest.mark.parametrize("case", parameters("seeds.jsonl", expects_error))
    def test_error(self, case: Case) -> None:
        """A template fails for the expected reason, at its line, naming what is missing."""
        expected = case["error"]
        kind, words = KINDS[expected["kind"]]
        with pytest.raises(kind) as caught:
            cuecard.render(case["template"], case["context"], profile=profile_of(case))
        error = caught.value
        assert error.kind == words
        assert error.span is not None
        assert error.span.line == expected["line"]
        assert error.template == expected.get("template", "system")
        if "variable" in expected:
            assert isinstance(error, cuecard.UndefinedVariableError)
            assert expected["variable"] in error.variables
            assert all(f"`{step}`" in error.message for step in expected["variable"].split("."))

    @pytest.mark.parametrize("case", of_profile("operator"))
    def test_operator_path(self, case: Case) -> None:
        """`operator.render_system` gives the same text, or says kind, name and place."""
        if "expected" in case:
            text = cuecard.operator.render_system(case["template"], case["context"])
            assert text == case["expected"]
            return
        expected = case["error"]
        with pytest.raises(cuecard.RenderError) as caught:
            cuecard.operator.render_system(case["template"], case["context"])
        text = str(caught.value)
        assert text.startswith(f"template render failed: {KINDS[expected['kind']][1]}: ")
        assert all(step in text for step in expected.get("variable", "").split("."))
        assert f"system:{expected['line']}:" in text

    @pytest.mark.parametrize("case", of_profile("markdown"))
    def test_markdown_path(self, case: Case) -> None:
        """`markdown.render_template` gives the same text, or the same error."""
        if "expected" in case:
            text = cuecard.markdown.render_template(case["template"], case["context"])
            assert text == case["expected"]
            return
        kind, words = KINDS[case["error"]["kind"]]
        with pytest.raises(kind) as caught:
            cuecard.markdown.render_template(case["template"], case["context"])
        assert caught.value.kind == words
        assert caught.value.template == "system"

    @pytest.mark.parametrize(
        "case", parameters("seeds.jsonl", lambda case: case["id"].startswith("live-fallback"))
    )
    def test_fallback_warns(self, case: Case) -> None:
        """A template that is returned as it stands is never returned without a warning."""
        with pytest.warns(cuecard.FallbackWarning, match=r"P\d\d\d "):
            cuecard.render(case["template"], case["context"], profile=cuecard.LIVE)

    @pytest.mark.parametrize(
        "case",
        parameters(
            "seeds.jsonl", lambda case: case["profile"] == "live" and "fallback" not in case["id"]
        ),
    )
    def test_no_needless_warning(self, case: Case) -> None:
        """A template that renders does not warn."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cuecard.render(case["template"], case["context"], profile=cuecard.LIVE)


@pytest.mark.parametrize("case", parameters("slots.jsonl"))
def test_slots(case: Case) -> None:
    """A prompt that is a JSON object gives its keys as slots, any other is the directive."""
    assert cuecard.slots_from_prompt(case["prompt"]) == case["slots"]


class TestReports:
    @pytest.mark.parametrize(
        "case",
        parameters(
            "reports.jsonl",
            lambda case: expects_text(case) and case["id"] not in NEEDS_FRONT_MATTER,
        ),
    )
    def test_text(self, case: Case) -> None:
        """What other projects got wrong comes out right."""
        assert report(case).render(case["context"]) == case["expected"]

    @pytest.mark.parametrize(
        "case",
        parameters(
            "reports.jsonl",
            lambda case: expects_error(case) and case["id"] not in NEEDS_FRONT_MATTER,
        ),
    )
    def test_error(self, case: Case, tmp_path: Path) -> None:
        """What other projects reported badly is reported with its code, place and remedy."""
        # A folder is given, so that it is the name of the partial that is refused.
        folder = cuecard.Folder(tmp_path)
        with pytest.raises(cuecard.PromptError) as caught:
            cuecard.Template(case["template"], partials=folder).render(case["context"])
        check_error(caught.value, REPORT_ERRORS[case["id"]])

    @pytest.mark.parametrize(
        "case", parameters("reports.jsonl", lambda case: case["id"] in NEEDS_FRONT_MATTER)
    )
    def test_front_matter(self, case: Case) -> None:
        """The header is split off and the body renders; the file's name is in an error."""
        settings = case["settings"]
        recover = settings.get("frontmatter_recover", False)
        if expects_error(case):
            with pytest.raises(cuecard.SpecError) as caught:
                read_document(case["template"], "agent.md", recover=recover)
            check_error(caught.value, REPORT_ERRORS[case["id"]])
            assert caught.value.template == "agent.md"
            return
        document = read_document(case["template"], "agent.md", recover=recover)
        assert document.metadata == settings.get("metadata", document.metadata)
        assert bool(document.diagnostics) == (case["id"] in WARNS)
        context = dict(case["context"])
        if "expose" in settings:
            context[settings["expose"]] = document.metadata
        body = report({**case, "template": document.body.text})
        assert body.render(context) == case["expected"]

    def test_every_error_is_exact(self) -> None:
        """Each report that expects an error has a line in report_errors.jsonl, and no other."""
        reports = read_cases("reports.jsonl")
        assert {case["id"] for case in reports if expects_error(case)} == REPORT_ERRORS.keys()

    def test_value_is_not_shown(self) -> None:
        """B112: the other attributes of a user are in no text about the error."""
        (case,) = [case for case in read_cases("reports.jsonl") if case["id"] == "B112"]
        with pytest.raises(cuecard.UndefinedVariableError) as caught:
            cuecard.render(case["template"], case["context"])
        shown = [str(caught.value), repr(caught.value), caught.value.report()]
        assert not [text for text in shown if "sk-test-1" in text]

    def test_required_names_are_what_renders(self) -> None:
        """B10: a JSON example in the text is no variable; B39: nor is a name that is set."""
        cases = {case["id"]: case["template"] for case in read_cases("reports.jsonl")}
        assert cuecard.Template(cases["B10"]).required == {"question"}
        assert cuecard.Template(cases["B39"]).variables == {"old"}


@pytest.mark.parametrize("case", parameters("syntax_errors.jsonl"))
def test_syntax_errors(case: Case) -> None:
    """A template that cannot be right is refused with its code, place and remedy."""
    with pytest.raises(cuecard.TemplateError) as caught:
        cuecard.render(case["template"], case.get("context"), profile=profile_of(case))
    check_error(caught.value, case)


@pytest.mark.parametrize("case", parameters("undefined.jsonl", expects_error))
def test_undefined(case: Case) -> None:
    """What is absent is named, where it is read, and all absent names at once."""
    with pytest.raises(cuecard.UndefinedVariableError) as caught:
        cuecard.render(case["template"], case["context"], profile=profile_of(case))
    check_error(caught.value, case)


@pytest.mark.parametrize("case", parameters("undefined.jsonl", expects_text))
def test_guarded(case: Case) -> None:
    """A use whose absence the author provided for does not fail; nor does a name that is there."""
    text = cuecard.render(case["template"], case["context"], profile=profile_of(case))
    assert text == case["expected"]


@pytest.mark.parametrize("profile", [cuecard.MARKDOWN, cuecard.LIVE], ids=lambda p: p.name)
def test_lenient_absence_is_no_word(profile: cuecard.Profile) -> None:
    """Where absence is allowed it prints nothing, in a collection neither."""
    for expression in ("[missing]", "{'a': missing}", "(1, missing)", "[missing] | join(',')"):
        assert "undefined" not in cuecard.render("{{ " + expression + " }}", {}, profile=profile)

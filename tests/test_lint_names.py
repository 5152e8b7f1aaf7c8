"""What the rules know of names and values is what the engine does with them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

import cuecard
from cuecard.language.vocabulary import FILTERS
from cuecard.lint import Document, Finding, Settings, Target, find_rule, read_target

from .generated_templates import templates as generated
from .test_chat_templates import templates as chat_templates


def document(text: str, **settings: object) -> Document:
    return read_target(Target("a.j2", "template"), Settings(**settings), text)  # type: ignore[arg-type]


def found(code: str, text: str, **settings: object) -> list[Finding]:
    rule = find_rule(code)
    assert rule is not None
    return list(rule.findings(document(text, **settings)))


def render_error(text: str, context: dict[str, object]) -> cuecard.PromptError | None:
    try:
        cuecard.render(text, context)
    except cuecard.PromptError as error:
        return error
    return None


# unknown words --------------------------------------------------------------------------------

UNKNOWN = [
    ("P103", "{{ x | lenght }}"),
    ("P103", "{{ x | strftime('%d') | upper }}"),
    ("P103", "{{ [x] | map('uper') | join }}"),
    ("P104", "{{ x is defnied }}"),
    ("P104", "{{ x is not nul }}"),
    ("P104", "{{ [x] | select('od') | join }}"),
    ("P105", "{{ len(x) }}"),
    ("P105", "{{ rnge(3) }}"),
    ("P105", "{{ x() }}"),
    ("P105", "{{ super() }}"),
    ("P105", "{% block a %}{% endblock %}{{ self.b() }}"),
    ("P106", "{{ 'a'.items() }}"),
    ("P106", "{{ 'a'.zfill(3) }}"),
    ("P106", "{{ x.appendix() }}"),
    ("P106", "{{ [x].append(1) }}"),
]


@pytest.mark.parametrize(("code", "text"), UNKNOWN)
def test_unknown_words_are_told_as_a_render_tells_them(code: str, text: str) -> None:
    """The code and the words are those of the exception, and the place lies within its."""
    error = render_error(text, {"x": {"a": 1} if "appendix" in text else "a"})
    assert error is not None
    (finding,) = found(code, text)
    assert error.code == finding.code == code
    assert error.span is not None
    assert finding.span is not None
    assert error.span.start <= finding.span.start < finding.span.end <= error.span.end
    if code != "P106":
        assert error.message == finding.message


PLAIN = {"text": "'abc'", "list": "[1, 2]", "mapping": "{'a': 1}", "number": "3"}
METHODS = sorted(
    {name for kind in (str, list, dict, int) for name in dir(kind) if not name.startswith("_")}
)


@pytest.mark.parametrize("kind", PLAIN)
def test_methods_are_those_of_the_engine(kind: str) -> None:
    """A method is reported just when the engine says that there is none, of Python's all."""
    for name in METHODS:
        errors = [
            render_error(f"{{% set x = y %}}{{{{ x.{name}({arguments}) }}}}", {"y": value})
            for arguments in ("", "1", "'a'", "'a', 'b'")
            for value in (_value(kind),)
        ]
        refused = all(error is not None and error.code == "P106" for error in errors)
        finding = found("P106", f"{{{{ {PLAIN[kind]}.{name}() }}}}")
        assert bool(finding) == refused, name


def _value(kind: str) -> object:
    return {"text": "abc", "list": [1, 2], "mapping": {"a": 1}, "number": 3}[kind]


# null ------------------------------------------------------------------------------------------

ARGUMENTS = {
    "attr": "'a'",
    "batch": "2",
    "chain": "[1]",
    "groupby": "'a'",
    "map": "'upper'",
    "rejectattr": "'a'",
    "selectattr": "'a'",
    "slice": "2",
    "split": "','",
    "zip": "[1]",
    "replace": "'a', 'b'",
    "truncate": "length=3",
    "wordwrap": "width=3",
    "format": "",
}
WITH_NULL = [
    *(f"{{{{ x | {name}({ARGUMENTS.get(name, '')}) }}}}" for name in sorted(FILTERS - {"format"})),
    *("{{ x.a }}", "{{ x[0] }}", "{{ x['a'] }}", "{{ x.a.b }}", "{{ x.strip() }}", "{{ x[1:] }}"),
    *("{{ x.a is defined }}", "{{ x.a | default(1) }}", "{{ x.a.b is defined }}", "{{ x }}"),
    *(f"{{{{ x {sign} 1 }}}}" for sign in ("+", "-", "/", "//", "%", "**", "~", "==", "<")),
    *("{{ 1 - x }}", "{{ -x }}", "{{ 'a' + x }}", "{{ 'a' in x }}", "{{ x | int(0) }}"),
    *("{% for i in x %}{{ i.a }}{% endfor %}", "{% for i in x.a %}{{ i }}{% endfor %}"),
    *("{% if x.a %}a{% endif %}", "{% if x %}{{ x.a }}{% endif %}", "{{ x.a if x }}"),
    *("{{ x and x.a }}", "{{ x or x.a }}", "{% if x is not none %}{{ x.a }}{% endif %}"),
    *("{% if x is defined %}{{ x.a }}{% endif %}", "{{ x | first | default('a') }}"),
    *("{% if x == 1 %}{{ x.a }}{% endif %}", "{% if x is string %}{{ x.a }}{% endif %}"),
    *("{% if not x %}{% else %}{{ x.a }}{% endif %}", "{{ x | trim | upper }}"),
    *("{% set y = x %}{% if y %}{{ x.a }}{% endif %}", "{% if x | length %}{{ x.a }}{% endif %}"),
    *("{% if x | length > 0 %}{{ x.a }}{% endif %}", "{% if 'a' in x %}{{ x.a }}{% endif %}"),
]


@pytest.mark.parametrize("text", WITH_NULL)
def test_uses_that_fail_on_null(text: str) -> None:
    """Of a variable that may be null, just what fails when it is null is reported."""
    head = "---\nname: a\ndescription: d\nprofile: strict\ninputs: {x: {required: false}}\n---\n"
    rule = find_rule("P212")
    assert rule is not None
    # A second use that nothing guards: the input becomes null, and does not stay absent.
    agent = read_target(Target("a.md", "agent"), Settings(), head + text + "{{ x }}")
    fails = render_error(text, {"x": None}) is not None
    assert bool(list(rule.findings(agent))) == fails


# what names stand for --------------------------------------------------------------------------


ENDS_EARLY = re.compile(r"raise_exception|\bbreak\b|\bcontinue\b")


def contexts(checked: Document) -> tuple[set[int], set[int]]:
    """Where names are read from the context: by the rules, and by a render's own reader."""
    assert checked.names is not None
    reads = checked.scopes.reads.values()
    mine = {read.node.start for read in reads if None in read.bindings}
    return mine, {use.node.start for use in checked.names.uses}


def test_names_of_real_templates() -> None:
    """The names that the context may give are those that a template reads from it.

    Where a render ends early, the rules know more: a name that is set in all other branches.
    """
    for name, text in list(chat_templates().items())[::4]:
        checked = document(text)
        if checked.names is not None:
            mine, expected = contexts(checked)
            assert mine <= expected, name
            if not ENDS_EARLY.search(text):
                assert mine == expected, name


@given(generated())
def test_names_of_generated_templates(text: str) -> None:
    """The same for templates of every kind of statement, within each other."""
    checked = document(text)
    if checked.names is not None:
        mine, expected = contexts(checked)
        assert mine == expected


@given(generated())
def test_places_of_bindings(text: str) -> None:
    """The place of a name that the template binds is that name."""
    for binding in document(text).scopes.bindings:
        if binding.kind in ("set", "with", "for", "macro", "import"):
            start, end = binding.place(text)
            assert text[start:end] == binding.name
            assert re.search(r"\{%[^}]*$", text[:start])

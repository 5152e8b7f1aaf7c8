"""Errors: their tree and codes, how they look, and that none of them ever shows a value."""

import ast
import dataclasses
import re
import traceback
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import minijinja
import pytest

import cuecard
from cuecard.errors import CODES
from cuecard.source import Source

PACKAGE = Path(cuecard.__file__).parent
TREE: dict[type[Exception], tuple[type[Exception], ...]] = {
    cuecard.PromptError: (Exception,),
    cuecard.TemplateError: (cuecard.PromptError,),
    cuecard.TemplateSyntaxError: (cuecard.TemplateError,),
    cuecard.UndefinedVariableError: (cuecard.TemplateError,),
    cuecard.UnknownNameError: (cuecard.TemplateError,),
    cuecard.TemplateLimitError: (cuecard.TemplateError,),
    cuecard.TemplateRaisedError: (cuecard.TemplateError,),
    cuecard.RenderError: (cuecard.PromptError,),
    cuecard.SpawnError: (cuecard.PromptError,),
    cuecard.ContextError: (cuecard.PromptError,),
    cuecard.TemplateNotFoundError: (cuecard.PromptError, LookupError),
    cuecard.SpecError: (cuecard.PromptError,),
    cuecard.ProviderError: (cuecard.PromptError,),
    cuecard.StoreError: (cuecard.PromptError,),
    cuecard.MissingExtraError: (cuecard.PromptError, ImportError),
    cuecard.FallbackWarning: (UserWarning,),
}


class TestTree:
    @pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
    def test_bases(self, kind: type[Exception]) -> None:
        """Each class has its place, as the docstring of the module draws it."""
        assert kind.__bases__ == TREE[kind]

    def test_drawing(self) -> None:
        """The drawing names every class, below its base."""
        drawing = ast.get_docstring(ast.parse((PACKAGE / "errors.py").read_text(encoding="utf-8")))
        drawn = re.findall(r"^([\s│├└─]*)(\w+Error)\b", drawing or "", re.MULTILINE)
        kinds = {kind.__name__: kind for kind in TREE if issubclass(kind, cuecard.PromptError)}
        assert {name for _, name in drawn} == kinds.keys()
        above: list[tuple[int, str]] = []
        for indent, name in drawn:
            while above and above[-1][0] >= len(indent):
                above.pop()
            if above:
                assert kinds[name].__bases__[0] is kinds[above[-1][1]]
            above.append((len(indent), name))


def codes_in_source() -> Iterator[tuple[str, str]]:
    """Every code that is written in the package but for the table, with its file."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        table = [
            node
            for node in tree.body
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "CODES"
        ]
        hidden = {id(inner) for node in table for inner in ast.walk(node)}
        for node in ast.walk(tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            if is_text and id(node) not in hidden:
                for code in re.findall(r"\bP\d{3}\b", node.value):  # type: ignore[attr-defined]
                    yield code, path.name


class TestCodes:
    def test_all_that_are_used_have_words(self) -> None:
        """Every code that is written anywhere in the package is in the table."""
        assert {(code, file) for code, file in codes_in_source() if code not in CODES} == set()

    def test_all_that_have_words_are_used(self) -> None:
        """The table has no code that nothing raises."""
        used = {code for code, _ in codes_in_source()}
        assert sorted(CODES.keys() - used) == []

    def test_form(self) -> None:
        """A code is P and three digits; its words are short and have no capital of a sentence."""
        for code, words in CODES.items():
            assert re.fullmatch(r"P[1-9]\d\d", code)
            assert 0 < len(words) < 40
            assert words[0].islower() or words.startswith(("UTF", "JSON"))

    def test_kind(self) -> None:
        """An error's kind is the words of its code; the default code fits the class."""
        for kind in TREE:
            if issubclass(kind, cuecard.PromptError):
                assert kind("message").kind == CODES[kind("message").code]
        assert cuecard.UndefinedVariableError("message").kind == "undefined value"


REPORTS: dict[str, tuple[str, int, int, str]] = {
    # source, start, end of the fault, and the report
    "plain": (
        "hello {{ name }}",
        9,
        13,
        """file:1:10: P201 message
  1 | hello {{ name }}
    |          ^^^^
  hint: hint""",
    ),
    "second line": (
        "a\n  {{ x }}\nb",
        7,
        8,
        """file:2:6: P201 message
  2 |   {{ x }}
    |      ^
  hint: hint""",
    ),
    "line of two digits": (
        "\n" * 11 + "{{ x }}",
        14,
        15,
        """file:12:4: P201 message
  12 | {{ x }}
     |    ^
  hint: hint""",
    ),
    "line end": (
        "a\r\n{{ x }}\r\n",
        6,
        7,
        """file:2:4: P201 message
  2 | {{ x }}
    |    ^
  hint: hint""",
    ),
    "several lines": (
        "{{ a +\n b }}\n",
        3,
        10,
        """file:1:4: P201 message
  1 | {{ a +
    |    ^^^
  hint: hint""",
    ),
    "tab": (
        "\ta\t{{ x }}",
        6,
        7,
        """file:1:7: P201 message
  1 | \ta\t{{ x }}
    | \t \t   ^
  hint: hint""",
    ),
    "no width": (
        "ab",
        2,
        2,
        """file:1:3: P201 message
  1 | ab
    |   ^
  hint: hint""",
    ),
    "empty line": ("a\n\nb", 2, 2, "file:2:1: P201 message\n  hint: hint"),
}


def cells(text: str) -> int:
    """The width of a text on a terminal."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


class TestLayout:
    @pytest.mark.parametrize("name", REPORTS)
    def test_report(self, name: str) -> None:
        """Place, code and message; the line with carets under the fault; the hint."""
        text, start, end, expected = REPORTS[name]
        source = Source(text, "file")
        error = cuecard.UndefinedVariableError(
            "message", source=source, start=start, end=end, hint="hint"
        )
        assert error.report() == expected

    @pytest.mark.parametrize(
        "before", ["日本 ", "😀😀 ", "\uff26\uff35 ", "e\u0301e\u0301 ", "한국어 é ", "\t日 "]
    )
    def test_wide_characters(self, before: str) -> None:
        """The caret stands under the fault, though a character before it is two cells wide."""
        with pytest.raises(cuecard.UndefinedVariableError) as caught:
            cuecard.render(before + "{{ missing }}")
        _, line, carets = caught.value.report().split("\n")[:3]
        shown, under = line.split(" | ", 1)[1], carets.split(" | ", 1)[1]
        assert shown == before + "{{ missing }}"
        padding = under[: under.index("^")]
        assert cells(padding) == cells(before + "{{ ")
        assert padding.count("\t") == before.count("\t")
        assert under.count("^") == len("missing")

    @pytest.mark.parametrize("offset", [0, 3, 50, 99, 100, 101, 150, 500, 4990])
    def test_long_line(self, offset: int) -> None:
        """Of a long line the part around the fault is shown, with the caret under it."""
        text = "".join(chr(97 + number % 26) for number in range(5000))
        error = cuecard.TemplateError(
            "message", source=Source(text, "file"), start=offset, end=offset + 5
        )
        assert error.span is not None
        assert error.span.column == offset + 1
        _, line, carets = error.report().split("\n")
        shown, under = line.split(" | ", 1)[1], carets.split(" | ", 1)[1]
        assert len(line) < 130
        assert shown in text
        assert shown[under.index("^") :].startswith(text[offset : offset + 5])
        assert under.count("^") == 5

    def test_control_characters(self) -> None:
        """What would move a terminal's cursor is not put out as it is."""
        with pytest.raises(cuecard.UndefinedVariableError) as caught:
            cuecard.render("\x1b[2J\x07a\rb\x00 {{ missing }}", name="file\x1b[1m")
        report = caught.value.report()
        assert [character for character in report if character in "\x1b\x07\r\x00"] == []
        assert report.split("\n")[2].rstrip().endswith("^" * len("missing"))

    def test_text(self) -> None:
        """In one line: place, code, message, and the hint in brackets."""
        source = Source("{{ x }}", "file", first_line=5)
        error = cuecard.UndefinedVariableError(
            "undefined variable `x`", source=source, start=3, end=4, hint="Did you mean `y`?"
        )
        assert str(error) == "file:5:4: P201 undefined variable `x` (Did you mean `y`?)"
        assert error.place == "file:5:4"
        assert error.line_text == "{{ x }}"
        assert repr(error) == "UndefinedVariableError('undefined variable `x`')"

    def test_text_without_a_place(self) -> None:
        """What is not known is left out."""
        assert str(cuecard.PromptError("message")) == "P206 message"
        assert cuecard.PromptError("message").report() == "P206 message"
        named = cuecard.TemplateNotFoundError("no such folder", template="dir", hint="make it")
        assert str(named) == "dir: P803 no such folder (make it)"
        assert named.report() == "dir: P803 no such folder\n  hint: make it"
        assert str(cuecard.ContextError("refused", path="$.a[1]")) == "P701 refused - at `$.a[1]`"

    def test_diagnostic(self) -> None:
        """A diagnostic reads like an error in one line."""
        span = Source("a\n{{ x }}").span(5, 6)
        diagnostic = cuecard.Diagnostic("P201", "message", span, "file", hint="hint")
        assert str(diagnostic) == "file:2:4: P201 message"
        assert str(cuecard.Diagnostic("P201", "message")) == "template: P201 message"

    def test_first_line_of_a_body(self) -> None:
        """A body that begins further down its file is reported by the file's lines."""
        template = cuecard.Template(Source("a\n{{ missing }}", "agent.md", first_line=4))
        with pytest.raises(cuecard.UndefinedVariableError) as caught:
            template.render()
        assert caught.value.place == "agent.md:5:4"
        assert "  5 | {{ missing }}" in caught.value.report()


SECRET = "s3cr3t" + "-value"


def leaking(template: str, **context: Any) -> tuple[str, dict[str, Any]]:
    return template, context


class Card:
    """An object that shows itself wherever it can."""

    def __repr__(self) -> str:
        return SECRET

    __str__ = __repr__


LEAKS = [
    # absent names and attributes beside values
    leaking("{{ missing }}", a=SECRET, b={"k": SECRET}),
    leaking("{{ a.missing }}", a={"key": SECRET}),
    leaking("{{ a.missing.b }}", a={"key": SECRET}),
    leaking("{{ a[b] }}", a={}, b=SECRET),
    leaking("{{ a[b].c }}", a={}, b=SECRET),
    leaking("{{ a[b] | upper }}", a={}, b=SECRET),
    leaking("{{ [a[b]] }}", a={}, b=SECRET),
    leaking("{{ missing | length }}", a=SECRET),
    leaking("{% for x in a %}{{ x.missing }}{% endfor %}", a=[{"k": SECRET}]),
    leaking("{% macro m(p) %}{{ p.missing }}{% endmacro %}{{ m(a) }}", a={"k": SECRET}),
    leaking("{% set b = a %}{{ b.missing }}", a={"k": SECRET}),
    leaking("{{ a | first }}", a="", b=SECRET),
    leaking("{{ a | attr(b) }}", a={}, b=SECRET),
    # operations on values of the wrong kind
    leaking("{{ a + 1 }}", a=SECRET),
    leaking("{{ 1 + a }}", a=[SECRET]),
    leaking("{{ a * a }}", a=SECRET),
    leaking("{{ -a }}", a=SECRET),
    leaking("{{ a / 2 }}", a=SECRET),
    leaking("{{ a ** 2 }}", a=SECRET),
    leaking("{{ 'x' in a }}", a=5, b=SECRET),
    leaking("{{ a in 5 }}", a=SECRET),
    leaking("{{ a[1:b] }}", a=[1], b=SECRET),
    leaking("{% for x, y in a %}{% endfor %}", a=[SECRET]),
    leaking("{% for x, y in a %}{% endfor %}", a=[[SECRET]]),
    leaking("{% set x, y = a %}", a=[SECRET]),
    leaking("{% for x in a %}{% endfor %}", a=5, b=SECRET),
    # filters, tests, functions, methods
    leaking("{{ a | int }}", a=SECRET),
    leaking("{{ a | float }}", a=SECRET),
    leaking("{{ a | abs }}", a=SECRET),
    leaking("{{ a | round }}", a=SECRET),
    leaking("{{ a | items }}", a=SECRET),
    leaking("{{ a | dictsort }}", a=SECRET),
    leaking("{{ a | sum }}", a=[SECRET, 1]),
    leaking("{{ a | map(b) | list }}", a=[1], b=SECRET),
    leaking("{{ a | select(b) | list }}", a=[1], b=SECRET),
    leaking("{{ a | map('int') | list }}", a=[SECRET]),
    leaking("{{ a | batch(b) | list }}", a=[1], b=SECRET),
    leaking("{{ a | join(b) | int }}", a=[1, 2], b=SECRET),
    leaking("{{ a | nofilter }}", a=SECRET),
    leaking("{{ a is notest }}", a=SECRET),
    leaking("{{ a is divisibleby(0) }}", a=5, b=SECRET),
    leaking("{{ nofunction(a) }}", a=SECRET),
    leaking("{{ a() }}", a=SECRET),
    leaking("{{ a.nomethod() }}", a=SECRET),
    leaking("{{ a.nomethod() }}", a=[SECRET]),
    leaking("{{ a.append(b) }}", a=[SECRET], b=SECRET),
    leaking("{{ a.index(b) }}", a=[1], b=SECRET),
    leaking("{{ a.get() }}", a={"k": SECRET}),
    leaking("{{ a.split(1) }}", a=SECRET),
    leaking("{{ a | replace(1) }}", a=SECRET),
    leaking("{{ range(a) }}", a=SECRET),
    leaking("{{ dict(a) }}", a=SECRET),
    # filters of our own
    leaking("{{ a | tojson(indent=b) }}", a=SECRET, b=SECRET),
    leaking("{{ a | tojson(separators=b) }}", a=SECRET, b=[SECRET]),
    leaking("{{ a | tojson(nope=b) }}", a=SECRET, b=SECRET),
    leaking("{{ a | indent(b) }}", a=SECRET, b=[SECRET]),
    leaking("{{ a | indent(99999) }}", a=SECRET),
    leaking("{{ a | format(b) }}", a=SECRET + " %d", b=SECRET),
    leaking("{{ a | format(b) }}", a=SECRET + " %9999d", b=1),
    leaking("{{ '%(k)s' | format(**a) }}", a={SECRET: 1}),
    leaking("{{ a.format(b) }}", a=SECRET + " {:d}", b=SECRET),
    leaking("{{ a.format() }}", a="{" + SECRET + "}"),
    leaking("{{ a.format(b) }}", a=SECRET + "{0.x}", b=SECRET),
    leaking("{{ a.format() }}", a=[SECRET]),
    leaking("{{ a | xml_text(1) }}", a=SECRET),
    # limits
    leaking("{% for x in a %}{% for y in range(9999) %}{% endfor %}{% endfor %}", a=[SECRET] * 999),
    leaking("{% for x in range(99) %}{{ a }}{% endfor %}", a=SECRET * 20_000),
    leaking("{{ range(b) }}{{ a }}", a=SECRET, b=10**9),
    leaking("{% macro m() %}{{ a }}{{ m() }}{% endmacro %}{{ m() }}", a=SECRET),
    # the context
    leaking("{{ a }}", a=Card()),
    leaking("{{ a }}", a={"k": [Card()]}),
    leaking("{{ a }}", a=SECRET.encode()),
    leaking("{{ a }}", a=ValueError(SECRET)),
    leaking("{{ a }}", a=SECRET + "\ud800"),
    leaking("{{ a }}", a=[SECRET] * 200_001),
    leaking("{{ a }}", a=(text for text in [SECRET])),
    # templates that do not parse
    leaking("{{ a", a=SECRET),
    leaking("{% if a %}", a=SECRET),
    leaking("{% include a %}", a=SECRET),
    leaking("{{ a._x }}", a=SECRET),
]


def everything_shown(error: BaseException) -> str:
    """All texts of an error, and all that a traceback would show of it and of its causes."""
    texts = [str(error), repr(error), repr(error.args), repr(vars(error))]
    if isinstance(error, cuecard.PromptError):
        texts += [error.report(), error.message, error.hint or "", error.place]
    shown = traceback.TracebackException.from_exception(error)
    while True:
        texts += list(shown.format_exception_only())
        following = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)
        if following is None:
            return "\n".join(texts)
        shown = following


class TestValuesAreNotShown:
    @pytest.mark.parametrize("number", range(len(LEAKS)))
    @pytest.mark.parametrize(
        "profile", [cuecard.STRICT, cuecard.MARKDOWN, cuecard.OPERATOR], ids=lambda p: p.name
    )
    def test_by_an_error(self, number: int, profile: cuecard.Profile) -> None:
        """No value of the context is in any text of an error, nor in what caused it."""
        template, context = LEAKS[number]
        try:
            cuecard.render(template, context, profile=profile)
        except cuecard.PromptError as error:
            assert SECRET not in everything_shown(error)  # noqa: PT017
        else:
            assert profile.undefined == "lenient", "only a lenient profile may render this"

    @pytest.mark.parametrize("number", range(len(LEAKS)))
    def test_by_the_operator_path(self, number: int) -> None:
        """Nor is it in the failure of the operator path, or in its cause."""
        template, context = LEAKS[number]
        with pytest.raises(cuecard.RenderError) as caught:
            cuecard.operator.render_system(template, context)
        assert SECRET not in everything_shown(caught.value)

    @pytest.mark.parametrize("number", range(len(LEAKS)))
    def test_by_a_warning(self, number: int) -> None:
        """Nor is it in the warning of a profile with fallback."""
        template, context = LEAKS[number]
        profile = dataclasses.replace(cuecard.STRICT, fallback=True)
        with pytest.warns(cuecard.FallbackWarning) as caught:
            assert cuecard.render(template, context, profile=profile) == template
        assert SECRET not in "".join(str(warning.message) for warning in caught)

    def test_keys_may_be(self) -> None:
        """What is near a misspelt name is said: names of the context and keys are no values."""
        with pytest.raises(cuecard.UndefinedVariableError) as caught:
            cuecard.render("{{ user.pasword }}", {"user": {"password": SECRET}})
        assert caught.value.hint == "Did you mean `password`?"


ENGINE: dict[str, tuple[str, ...]] = {
    # the engine's kinds of errors, and templates that provoke each
    "SyntaxError": (
        "{{ x",
        "{% if %}",
        "{% nosuchtag %}",
        "{{ a b }}",
        "{% break %}",
        "{% do 5 %}",
    ),
    "UndefinedError": ("{{ x }}", "{{ {}.x }}", "{{ [1][9] }}", "{{ x.y }}", "{{ '' | first }}"),
    "UnknownFilter": ("{{ 1 | nope }}", "{{ [1] | map('nope') | list }}"),
    "UnknownTest": ("{{ 1 is nope }}", "{{ [1] | select('nope') | list }}"),
    "UnknownFunction": ("{{ nope() }}", "{{ caller() }}", "{% do nope() %}"),
    "UnknownMethod": ("{{ 'a'.nope() }}", "{{ [1].append(1) }}", "{{ 5.nope() }}"),
    "TemplateNotFound": ("{% include 'nope' %}", "{% import 'nope' as x %}", "{% extends n %}"),
    "BadInclude": ("{% include 'bad' %}", "{% include 'deep' %}"),
    "InvalidOperation": (
        *("{{ 'a' + 1 }}", "{{ -'a' }}", "{{ 1 // 0 }}", "{{ 1 % 0 }}", "{{ 2 ** 300 }}"),
        *("{{ 'a' | int }}", "{{ 1 | items }}", "{{ [1, 'a'] | sum }}", "{{ 1 in 1 }}"),
        *("{% for x in 5 %}{% endfor %}", "{{ [1] | batch(0) }}", "{{ [1][0:'a'] }}"),
        *("{{ range(10 ** 9) }}", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
    ),
    "MissingArgument": ("{{ 'a' | replace }}", "{{ [1] | groupby }}", "{{ 'a' is startingwith }}"),
    "TooManyArguments": (
        *("{{ 'a' | upper(1) }}", "{{ 'a' | upper(foo=1) }}", "{{ [1] | first(1) }}"),
        "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
    ),
    "CannotUnpack": ("{% for a, b in [1] %}{% endfor %}", "{% set a, b = [1] %}"),
    "UnknownBlock": ("{{ self.nope() }}",),
    "BadEscape": ("{{ '\\ud800' }}", "{{ '\\xzz' }}"),
    "OutOfFuel": ("{% for i in range(9999) %}{% for j in range(999) %}{% endfor %}{% endfor %}",),
}
NEVER_PROVOKED = {"NonPrimitive", "NonKey", "BadSerialization", "CannotDeserialize"}
"""Kinds that need values or callbacks which no template of ours is given."""

FILES = {"bad": "{{ 1 + 'a' }}", "deep": "{% include 'bad' %}"}


def engine_kind(template: str) -> str:
    """What the bare engine, as strict as it gets, calls the failure of a template."""
    engine = minijinja.Environment(undefined_behavior="strict", fuel=1_000_000)
    engine.loader = FILES.get
    with pytest.raises(minijinja.TemplateError) as caught:
        engine.render_str(template, n="nope")
    return caught.value.kind


class TestEngineErrors:
    @pytest.mark.parametrize(
        ("kind", "template"),
        [(kind, template) for kind, templates in ENGINE.items() for template in templates],
    )
    def test_is_one_of_ours(self, kind: str, template: str, tmp_path: Path) -> None:
        """Whatever the engine fails with, an error of ours says why, where, and by which code."""
        for name, text in FILES.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        assert engine_kind(template) == kind
        with pytest.raises(cuecard.PromptError) as caught:
            cuecard.Template(template, partials=cuecard.Folder(tmp_path)).render(n="nope")
        error = caught.value
        assert type(error) in TREE
        assert error.code in CODES
        assert error.code != "P206", "an engine failure that nothing explains"
        assert error.template
        assert error.span is not None or kind == "OutOfFuel"
        assert "minijinja" not in error.report()

    def test_all_kinds_are_provoked(self) -> None:
        """Every kind that the engine's table of words knows is in the catalogue."""
        assert not ENGINE.keys() & NEVER_PROVOKED
        assert {engine_kind(templates[0]) for templates in ENGINE.values()} == ENGINE.keys()

    @pytest.mark.parametrize("template", ["\ud800 {{ x }}", "{{ '\ud800' }}", "{{ x['\udfff'] }}"])
    def test_text_that_is_no_unicode(self, template: str) -> None:
        """A template with a lone surrogate is refused with an error of ours."""
        with pytest.raises(cuecard.PromptError) as caught:
            cuecard.render(template, {"x": {}})
        assert caught.value.code != "P206"
        caught.value.report().encode()

    @pytest.mark.parametrize("template", [None, 5, b"{{ x }}", ["a"], object()])
    def test_template_that_is_no_text(self, template: Any) -> None:
        """A template that is no text is a TypeError, as for every Python function."""
        with pytest.raises(TypeError):
            cuecard.Template(template)
        with pytest.raises(TypeError):
            cuecard.render(template)

    def test_words_fit(self) -> None:
        """A division by zero is not called a wrong type."""
        for template in ("{{ 1 / 0 }}", "{{ 1 // 0 }}", "{{ 1 % 0 }}"):
            with pytest.raises(cuecard.TemplateError) as caught:
                cuecard.render(template)
            assert "type" not in caught.value.message

"""Filters and functions: those of our own exactly, and that the engine's are all there."""

import dataclasses
import json
import math
from typing import Any

import jinja2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cuecard

from .case_files import Case, check_error, parameters, profile_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), FINITE, TEXTS)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)
ANY_FLOATS = st.recursive(
    st.one_of(st.floats(), st.integers(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=8,
)
BLANKS = st.text(" \t", min_size=1, max_size=4)


@pytest.mark.parametrize("case", parameters("filters.jsonl", lambda case: "expected" in case))
def test_text(case: Case) -> None:
    """A filter, a function or a method gives this text."""
    text = cuecard.render(case["template"], case["context"], profile=profile_of(case))
    assert text == case["expected"]


@pytest.mark.parametrize("case", parameters("filters.jsonl", lambda case: "expected" not in case))
def test_error(case: Case) -> None:
    """What a filter, a function or a method refuses is refused with code and place."""
    with pytest.raises(cuecard.PromptError) as caught:
        cuecard.render(case["template"], case["context"], profile=profile_of(case))
    check_error(caught.value, case)


def alone(value: Any) -> Any:
    """A value as a filter gets it: the engine hands over a whole float as an integer."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    return value


class TestJson:
    @given(JSON)
    @example(1.0)
    def test_is_what_python_writes(self, value: Any) -> None:
        """`tojson` gives the bytes of `json.dumps`, non-ASCII text kept."""
        expected = json.dumps(alone(value), ensure_ascii=False)
        assert cuecard.render("{{ x | tojson }}", {"x": value}) == expected
        expected = json.dumps([value], ensure_ascii=False)
        assert cuecard.render("{{ x | json }}", {"x": [value]}) == expected

    @given(
        JSON,
        st.one_of(st.none(), st.integers(0, 8), BLANKS),
        st.booleans(),
        st.booleans(),
        st.one_of(st.none(), st.tuples(TEXTS, TEXTS).filter(lambda pair: max(map(len, pair)) < 17)),
    )
    def test_takes_the_arguments_of_python(
        self,
        value: Any,
        indent: int | str | None,
        sort_keys: bool,
        ensure_ascii: bool,
        separators: tuple[str, str] | None,
    ) -> None:
        """`indent`, `sort_keys`, `ensure_ascii` and `separators` mean what they mean there."""
        arguments: dict[str, Any] = {
            "indent": indent,
            "sort_keys": sort_keys,
            "ensure_ascii": ensure_ascii,
        }
        if separators is not None:
            arguments["separators"] = separators
        written = ", ".join(f"{name}=arguments.{name}" for name in arguments)
        text = cuecard.render(
            "{{ x | tojson(" + written + ") }}", {"x": value, "arguments": arguments}
        )
        assert text == json.dumps(alone(value), **arguments)

    @given(ANY_FLOATS)
    def test_what_is_no_number_is_null(self, value: Any) -> None:
        """NaN and the infinities, which JSON lacks, are null; all else is as Python writes it."""

        def without(item: Any) -> Any:
            if isinstance(item, float) and not math.isfinite(item):
                return None
            if isinstance(item, dict):
                return {key: without(inner) for key, inner in item.items()}
            return [without(inner) for inner in item] if isinstance(item, list) else item

        expected = json.dumps(alone(without(value)), ensure_ascii=False)
        assert cuecard.render("{{ x | tojson }}", {"x": value}) == expected

    @given(st.dictionaries(st.integers(), st.integers(), max_size=5))
    def test_integer_keys(self, value: dict[int, int]) -> None:
        """Integer keys are written as text, in their order."""
        assert cuecard.render("{{ x | tojson }}", {"x": value}) == json.dumps(value)

    @pytest.mark.parametrize("profile", [cuecard.STRICT, cuecard.MARKDOWN], ids=lambda p: p.name)
    def test_keys_of_several_kinds(self, profile: cuecard.Profile) -> None:
        """Keys that do not compare are sorted as text; NaN beside them changes nothing."""
        value = {"b": math.nan, 1: [math.inf], 2.5: "x", "a": None}
        text = cuecard.render("{{ x | tojson(sort_keys=true) }}", {"x": value}, profile=profile)
        assert text.strip() == '{"1": [null], "2.5": "x", "a": null, "b": null}'

    @pytest.mark.parametrize("key", [math.nan, math.inf, -math.inf])
    def test_keys_that_are_no_number(self, key: float) -> None:
        """A key is text in JSON, so it may well be the name of what is no number."""
        text = cuecard.render("{{ x | tojson }}", {"x": {key: 1}})
        assert text == json.dumps({key: 1})

    def test_order_of_keys_is_kept(self) -> None:
        """Keys come in the order of the mapping, not sorted, in every profile but MARKDOWN."""
        value = {"b": {"d": 1, "c": 2}, "a": 3}
        for profile in (cuecard.STRICT, cuecard.OPERATOR, cuecard.LIVE):
            assert cuecard.render("{{ x | tojson }}", {"x": value}, profile=profile) == (
                '{"b": {"d": 1, "c": 2}, "a": 3}'
            )
        assert cuecard.render("{{ x | tojson }}", {"x": value}, profile=cuecard.MARKDOWN) == (
            '{"a": 3, "b": {"c": 2, "d": 1}}\n'
        )

    def test_loop_macro_and_function(self) -> None:
        """What a template has beside data gives no address and no internals as JSON."""
        for template in (
            "{% macro m(a) %}x{% endmacro %}{{ m | tojson }}",
            "{{ range | tojson }}",
            "{{ raise_exception | tojson }}",
            "{{ x.get | tojson }}",
        ):
            try:
                text = cuecard.render(template, {"x": {}})
            except cuecard.PromptError:
                continue
            assert "0x" not in text


class TestIndent:
    LINES = st.text(st.sampled_from("ab \t\né日"), max_size=30)

    @given(LINES, st.integers(0, 6), st.booleans(), st.booleans())
    def test_is_what_jinja_does(self, text: str, width: int, first: bool, blank: bool) -> None:
        """`indent` agrees with Jinja2 where both know only `\\n` as a line break.

        Jinja2 keeps a first line that is blank; ours indents it only if `blank`, and a line
        of blanks alone stays as it is, so those are left out.
        """
        lines = text.split("\n")
        if any(line and not line.strip() for line in lines) or (first and not lines[0]):
            return
        environment = jinja2.Environment(keep_trailing_newline=True)
        template = "{{ x | indent(width, first, blank) }}"
        context = {"x": text, "width": width, "first": first, "blank": blank}
        expected = environment.from_string(template).render(context)
        assert cuecard.render(template, context) == expected

    @given(TEXTS, BLANKS)
    def test_changes_nothing_else(self, text: str, prefix: str) -> None:
        """Without the prefix the lines are what they were, whatever the text holds."""
        indented = cuecard.render("{{ x | indent(p) }}", {"x": text, "p": prefix})
        lines, expected = indented.split("\n"), text.split("\n")
        assert len(lines) == len(expected)
        assert lines[0] == expected[0]
        for line, before in zip(lines[1:], expected[1:], strict=True):
            assert line in (prefix + before, before)
            assert line == prefix + before or not before.strip()


class TestXmlText:
    @given(TEXTS)
    def test_escapes_what_opens_a_tag(self, text: str) -> None:
        """`&`, `<` and `>` are escaped once, and nothing else."""
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        assert cuecard.render("<d>{{ x | xml_text }}</d>", {"x": text}) == f"<d>{escaped}</d>"


class TestFormat:
    @given(st.integers(-(10**25), 10**25), st.integers(1, 30), TEXTS)
    def test_is_what_python_does(self, number: int, width: int, text: str) -> None:
        """`format` gives what `%` gives, and `.format` what `str.format` gives."""
        context = {"n": number, "t": text}
        percent = f"[%{width}d|%-{width}d|%s]"
        assert cuecard.render("{{ '" + percent + "' | format(n, n, t) }}", context) == (
            percent % (number, number, text)
        )
        braces = f"[{{:>{width}}}|{{:^{width}}}|{{}}]"
        assert cuecard.render("{{ '" + braces + "'.format(n, n, t) }}", context) == (
            braces.format(number, number, text)
        )

    @given(TEXTS)
    def test_values_are_not_formats(self, text: str) -> None:
        """A value that looks like a format is text when it is an argument."""
        context = {"t": text}
        assert cuecard.render("{{ '%s' | format(t) }}{{ '{}'.format(t) }}", context) == text + text

    @pytest.mark.parametrize("width", [10, 11])
    def test_bound_is_the_profiles(self, width: int) -> None:
        """`Limits.width` bounds every width that a template can ask for."""
        limits = cuecard.Limits(width=10)
        profile = dataclasses.replace(cuecard.STRICT, limits=limits)
        for expression in (
            f"'{{:{width}}}'.format('x') | length",
            f"'%{width}s' | format('x') | length",
            f"'a\\nb' | indent({width}) | length > 0",
            f"[1] | tojson(indent={width}) | length > 0",
            f"'a\\nb' | indent('{' ' * width}') | length > 0",
            f"[1] | tojson(indent='{' ' * width}') | length > 0",
        ):
            template = "{{ " + expression + " }}"
            if width == 10:
                assert cuecard.render(template, profile=profile) in ("10", "True")
                continue
            with pytest.raises(cuecard.TemplateLimitError) as caught:
                cuecard.render(template, profile=profile)
            assert caught.value.code == "P116"
            assert "10 characters" in caught.value.message


@pytest.mark.parametrize(
    "expression",
    [
        *("-5 | abs", "xs | batch(2) | list", "'a' | capitalize", "xs | chain([1]) | list"),
        *("xs | count", "z | d(1)", "z | default(1)", "m | dictsort", "'<' | e", "'<' | escape"),
        *("1000 | filesizeformat", "xs | first", "'1.5' | float", "'%s' | format(1)"),
        *("ms | groupby('a')", "'a' | indent", "'1' | int", "m | items | list", "xs | join"),
        *("m | json", "xs | last", "xs | length", "'a\\nb' | lines", "'ab' | list", "'A' | lower"),
        *("xs | map('string') | list", "xs | max", "xs | min", "2 | pluralize", "m | pprint"),
        *("'a' | raw", "xs | reject('odd') | list", "ms | rejectattr('a') | list"),
        *("'a' | replace('a', 'b')", "xs | reverse", "1.5 | round", "'<' | safe"),
        *("xs | select('odd') | list", "ms | selectattr('a') | list", "xs | slice(2) | list"),
        *("xs | sort", "'a b' | split", "1 | string", "'<b>a</b>' | striptags", "xs | sum"),
        *("'a b' | title", "m | tojson", "' a ' | trim", "'a b c d e f' | truncate(length=7)"),
        *("xs | unique | list", "'a' | upper", "'a b' | urlencode", "'a b' | wordwrap"),
        *("'<' | xml_text", "xs | zip(xs) | list", "xs | bool", "m | attr('a')"),
    ],
)
def test_filter_exists(expression: str) -> None:
    """Every filter that templates are told of can be used."""
    context = {"xs": [3, 1, 2], "m": {"b": 1, "a": 2}, "ms": [{"a": 1}, {"a": 0}]}
    template = cuecard.Template("{{ " + expression + " }}")
    assert template.render(context) == template.render(context) != ""

"""Faults that were found by trying templates and values at random, each as its smallest input."""

import enum
import json
import math
from collections import namedtuple
from dataclasses import replace
from typing import Any

import msgspec
import pytest

import cuecard


class Renamed(msgspec.Struct, rename="camel"):
    retry_count: int


class Sparse(msgspec.Struct, omit_defaults=True):
    name: str = "search"


class Compact(msgspec.Struct, array_like=True):
    name: str


class Tagged(msgspec.Struct, tag=True):
    name: str


Point = namedtuple("Point", "x y")


class Colour(enum.Enum):
    RED = "red"


REUSED: list[tuple[str, str, Any, Any]] = [
    ("named tuple", "{{ v[0].x }}", [[1, 2]], [Point(1, 2)]),
    ("renamed fields", "{{ v[0].retry_count }}", [{"retryCount": 3}], [Renamed(3)]),
    ("omitted fields", "{{ v[0].name }}", [{}], [Sparse()]),
    ("fields in order", "{{ v[0].name }}", [["search"]], [Compact("search")]),
    ("tag", "{{ v[0] }}", [{"type": "Tagged", "name": "search"}], [Tagged("search")]),
    ("enum", "{{ v[0] }}", ["red"], [Colour.RED]),
    ("truth", "{{ v[0] }}", [1], [True]),
    ("fraction", "{{ v[0] }}", [1], [1.0]),
    ("order of keys", "{{ v }}", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
]
"""Pairs of values that msgspec encodes alike, or that Python takes for equal."""


@pytest.mark.parametrize(
    ("source", "other", "value"), [row[1:] for row in REUSED], ids=[row[0] for row in REUSED]
)
def test_earlier_values_do_not_matter(source: str, other: Any, value: Any) -> None:
    """A render gives what a new template gives, whatever the template was rendered with before."""
    template = cuecard.Template(source, profile=cuecard.MARKDOWN)
    for _ in range(3):
        template.render({"v": other})
    expected = cuecard.Template(source, profile=cuecard.MARKDOWN).render({"v": value})
    assert template.render({"v": value}) == expected


def test_sets_sort_after_a_list() -> None:
    """A set is sorted although the template has seen a list in the order of that set before."""
    names = {f"name-{number}" for number in range(20)}
    template = cuecard.Template("{{ v[0] | join(' ') }}")
    for _ in range(3):
        template.render({"v": [list(names)]})
    assert template.render({"v": [names]}) == " ".join(sorted(names))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{% if (d.get('q')) %}yes{% else %}no{% endif %}", "no"),
        ("{{ (d.get('k')) }}", "1"),
        ("{{ ((d).get('k')) ~ 'x' }}", "1x"),
        ("{{ (d.get('q') or 'none') | upper }}", "NONE"),
        ("{{ (d.get('k', 2)) + 1 }}", "2"),
    ],
)
def test_get_in_parentheses(source: str, expected: str) -> None:
    """`get` gives the value, not a tuple, when parentheses stand around the call."""
    assert cuecard.render(source, {"d": {"k": 1}}) == expected


@pytest.mark.parametrize("test", ["is float if d | reject", "is lower if d is not float else 1"])
def test_syntax_is_that_of_the_engine(test: str) -> None:
    """What the engine does not parse is a syntax error, strict or not."""
    for profile in (cuecard.STRICT, replace(cuecard.MARKDOWN, name="lenient")):
        with pytest.raises(cuecard.TemplateSyntaxError):
            cuecard.render(f"{{{{ g {test} }}}}", {"g": "a", "d": {"k": 1}}, profile=profile)


@pytest.mark.parametrize(("filter_name", "code"), [("map", "P103"), ("select", "P104")])
def test_unknown_name_in_quotes(filter_name: str, code: str) -> None:
    """A filter or test that does not exist is named, not the filter that was to apply it."""
    with pytest.raises(cuecard.UnknownNameError) as caught:
        cuecard.render(f"{{{{ v | {filter_name}('nosuch') | list }}}}", {"v": ["a"]})
    assert caught.value.code == code
    assert "`nosuch`" in caught.value.message


DOUBLE = "{% set a = [1, 2] %}" + "{% set a = [a, a] %}" * 40
NEST = (
    "{% set ns = namespace() %}{% set ns.a = {} %}"
    "{% for i in range(20000) %}{% set ns.a = {'a': ns.a} %}{% endfor %}"
)


@pytest.mark.parametrize("mark", ["{#-#}", "{#+#}", "{#--#}", "{#-+#}", "{##}", "{# -#}"])
@pytest.mark.parametrize("profile", [cuecard.STRICT, cuecard.OPERATOR], ids=lambda p: p.name)
def test_marks_of_short_comments(mark: str, profile: cuecard.Profile) -> None:
    """One sign between the delimiters of a comment is the mark of its start alone."""
    template = cuecard.Template(f"{{{{ a }}}}\n {mark} \n{{{{ a }}}} {mark}\n b", profile=profile)
    assert template.trace(a="x").text == template.render(a="x")


@pytest.mark.parametrize("value", [1, object()], ids=["data", "no data"])
@pytest.mark.parametrize("bits", [8193, 20_000])
def test_integer_keys_that_cannot_be_printed(bits: int, value: object) -> None:
    """Python prints no integer of that size, so that none may be a key, nor part of a path."""
    for template in ("{{ v }}", "{{ v | tojson }}", "{% for k in v %}{{ k }}{% endfor %}"):
        with pytest.raises(cuecard.ContextError, match="more than 8,192 bits") as caught:
            cuecard.render(template, {"v": {1 << bits: value}})
        assert (caught.value.code, caught.value.path) == ("P704", "$.v[?]")


class Unprintable(str):
    """Text of a class whose objects cannot be shown."""

    def __repr__(self) -> str:
        raise ValueError("hunter2-SECRET")

    def __format__(self, form: str) -> str:
        raise ValueError("hunter2-SECRET")


@pytest.mark.parametrize(("key", "path"), [("a", "$.v.a"), ("a b", "$.v['a b']")])
def test_paths_of_keys_that_cannot_be_shown(key: str, path: str) -> None:
    """The path of a value shows the text of its keys, and asks no method of theirs."""
    with pytest.raises(cuecard.ContextError) as caught:
        cuecard.render("{{ v }}", {"v": {Unprintable(key): object()}})
    assert (caught.value.code, caught.value.path) == ("P701", path)


@pytest.mark.parametrize("profile", [cuecard.STRICT, cuecard.MARKDOWN], ids=lambda p: p.name)
@pytest.mark.parametrize("value", [{1: math.nan, "1": 2}, {math.nan: 1, float("nan"): math.inf}])
def test_keys_that_read_the_same(value: dict[Any, Any], profile: cuecard.Profile) -> None:
    """Of two keys whose text is the same none is lost, also beside what is no number."""
    text = cuecard.render("{{ v | tojson }}", {"v": value}, profile=profile)
    pairs = json.loads(text, object_pairs_hook=list)
    key = str(next(iter(value))).replace("nan", "NaN")
    assert [name for name, _ in pairs] == [key, key]

"""The context is plain data: what converts, what is refused, and what a template can reach.

A template sees its first render's values converted one by one, and those of later renders
through a faster way; every check here therefore renders more than once.
"""

import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import types
import uuid
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import attrs
import msgspec
import pydantic
import pytest
from markupsafe import Markup

import cuecard

from .child_process import run_python

RENDERS = 3
GUARD = "{% if false %}{{ x.items() }}{{ x[x] }}{% endif %}"
"""Makes a template one that could ask for methods; such templates get other containers."""


def render(template: str, value: Any) -> str:
    """The text for the context `{"x": value}`: the same at every render, guarded or not."""
    texts = {
        compiled.render({"x": value})
        for compiled in (cuecard.Template(template), cuecard.Template(GUARD + template))
        for _ in range(RENDERS)
    }
    assert len(texts) == 1
    return texts.pop()


def refused(value: Any, template: str = "{{ x }}") -> cuecard.ContextError:
    """The error for the context `{"x": value}`: the same at every render, guarded or not."""
    errors = []
    for text in (template, GUARD + template):
        compiled = cuecard.Template(text)
        for _ in range(RENDERS):
            with pytest.raises(cuecard.ContextError) as caught:
                compiled.render({"x": value})
            errors.append(caught.value)
    assert len({(error.code, error.path, error.message, error.hint) for error in errors}) == 1
    return errors[0]


class Colour(enum.Enum):
    RED = "red"
    NOTHING = None
    PAIR = (1, "two")


class Word(enum.StrEnum):
    A = "a word"


class Number(enum.IntEnum):
    SEVEN = 7


class Bits(enum.Flag):
    ONE = 1
    TWO = 2


class Mixed(str, enum.Enum):  # noqa: UP042 - data in the wild is of this kind
    YES = "yes"


@dataclasses.dataclass
class Person:
    name: str
    age: int = 3
    kind: ClassVar[str] = "person"

    @property
    def secret(self) -> str:
        return "computed"


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted:
    name: str
    inner: Person


@attrs.define
class AttrsPerson:
    name: str
    colour: Colour = Colour.RED


class Record(msgspec.Struct):
    name: str
    day: datetime.date = datetime.date(2026, 1, 2)


class Renamed(msgspec.Struct, rename="camel"):
    user_name: str


class Sparse(msgspec.Struct, omit_defaults=True):
    given: int
    default: int = 2


class Model(pydantic.BaseModel):
    name: str
    alias: int = pydantic.Field(default=1, alias="theAlias")
    inner: Person = Person("inner")

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def loud(self) -> str:
        return self.name.upper()


class RootList(pydantic.RootModel[list[int]]):
    pass


class RootMap(pydantic.RootModel[dict[str, int]]):
    pass


class RootText(pydantic.RootModel[str]):
    pass


class Point(NamedTuple):
    left: int
    top: int


class Entry(NamedTuple):
    index: int  # type: ignore[assignment]
    count: int  # type: ignore[assignment]
    items: str


class LoudInt(int):
    def __str__(self) -> str:
        return "loud"

    __repr__ = __str__


class LoudFloat(float):
    def __str__(self) -> str:
        return "loud"

    __repr__ = __str__


class LoudStr(str):
    def __str__(self) -> str:
        return "loud"

    def __html__(self) -> str:
        return "loud"

    def __format__(self, spec: str) -> str:
        return "loud"


class Moment(datetime.datetime):
    pass


class Day(datetime.date):
    pass


class Span(datetime.timedelta):
    pass


class Money(decimal.Decimal):
    pass


class Row(Mapping[str, int]):
    """A mapping of a class of its own."""

    def __getitem__(self, key: str) -> int:
        return {"a": 1}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


class Rows(Sequence[int]):
    """A sequence of a class of its own."""

    def __getitem__(self, index: Any) -> Any:
        return [1, 2][index]

    def __len__(self) -> int:
        return 2


UTC = datetime.UTC
CONVERSIONS: dict[str, tuple[Any, Any]] = {
    # value, and the JSON data that a template sees
    "null": (None, None),
    "true": (True, True),
    "int": (5, 5),
    "int-64": (2**63 - 1, 2**63 - 1),
    "int-beyond-64": (2**63, 2**63),
    "int-below-64": (-(2**63) - 1, -(2**63) - 1),
    "int-huge": (10**100 + 7, 10**100 + 7),
    "float": (1.5, 1.5),
    "float-large": (1e300, 1e300),
    "text": ("é <&> 日本 😀", "é <&> 日本 😀"),
    "list": ([1, [2, None], {"a": "b"}], [1, [2, None], {"a": "b"}]),
    "tuple": ((1, (2, 3)), [1, [2, 3]]),
    "map": ({"b": 1, "a": {"c": []}}, {"b": 1, "a": {"c": []}}),
    "date": (datetime.date(2026, 11, 29), "2026-11-29"),
    "datetime": (datetime.datetime(2026, 11, 29, 8, 5, 1), "2026-11-29T08:05:01"),
    "datetime-utc": (datetime.datetime(2026, 11, 29, 8, 5, tzinfo=UTC), "2026-11-29T08:05:00Z"),
    "time": (datetime.time(8, 5), "08:05:00"),
    "timedelta": (datetime.timedelta(days=1, seconds=3), "P1DT3S"),
    "datetime-subclass": (Moment(2026, 11, 29, 8, 5), "2026-11-29T08:05:00"),
    "date-subclass": (Day(2026, 11, 29), "2026-11-29"),
    "timedelta-subclass": (Span(days=1), "P1D"),
    "decimal-subclass": (Money("1.10"), "1.10"),
    "path": (pathlib.PurePosixPath("/a/b"), "/a/b"),
    "uuid": (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "decimal": (decimal.Decimal("1.50"), "1.50"),
    "enum": (Colour.RED, "red"),
    "enum-null": (Colour.NOTHING, None),
    "enum-tuple": (Colour.PAIR, [1, "two"]),
    "str-enum": (Word.A, "a word"),
    "int-enum": (Number.SEVEN, 7),
    "flag": (Bits.ONE | Bits.TWO, 3),
    "str-and-enum": (Mixed.YES, "yes"),
    "dataclass": (Person("Ann"), {"name": "Ann", "age": 3}),
    "dataclass-slots": (Slotted("S", Person("P")), {"name": "S", "inner": {"name": "P", "age": 3}}),
    "attrs": (AttrsPerson("Ann"), {"name": "Ann", "colour": "red"}),
    "struct": (Record("Ann"), {"name": "Ann", "day": "2026-01-02"}),
    "struct-renamed": (Renamed("Ann"), {"user_name": "Ann"}),
    "struct-sparse": (Sparse(1), {"given": 1, "default": 2}),
    "model": (
        Model(name="Ann"),
        {"name": "Ann", "alias": 1, "inner": {"name": "inner", "age": 3}, "loud": "ANN"},
    ),
    "root-model-list": (RootList([3, 1]), [3, 1]),
    "root-model-map": (RootMap({"a": 1}), {"a": 1}),
    "root-model-text": (RootText("hi"), "hi"),
    "named-tuple": (Point(1, 2), [1, 2]),
    "set": ({3, 1, 2}, [1, 2, 3]),
    "set-of-text": (frozenset({"b", "a", "c"}), ["a", "b", "c"]),
    "set-with-big": ({2**70, 1, 2**69}, [1, 2**69, 2**70]),
    "ordered-dict": (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    "default-dict": (collections.defaultdict(int, a=1), {"a": 1}),
    "counter": (collections.Counter("aab"), {"a": 2, "b": 1}),
    "chain-map": (collections.ChainMap({"a": 1}), {"a": 1}),
    "user-dict": (collections.UserDict({"a": 1}), {"a": 1}),
    "user-list": (collections.UserList([1]), [1]),
    "user-string": (collections.UserString("u"), "u"),
    "mapping-proxy": (types.MappingProxyType({"a": 1}), {"a": 1}),
    "own-mapping": (Row(), {"a": 1}),
    "own-sequence": (Rows(), [1, 2]),
    "deque": (collections.deque([1, 2]), [1, 2]),
    "range": (range(3), [0, 1, 2]),
    "keys-view": ({"b": 1}.keys(), ["b"]),
    "values-of-dict": (list({"b": 1}.values()), [1]),
    "markup": (Markup("<b>&amp;</b>"), "<b>&amp;</b>"),
    "int-subclass": (LoudInt(5), 5),
    "float-subclass": (LoudFloat(2.5), 2.5),
    "str-subclass": (LoudStr("quiet"), "quiet"),
    "namespace-of-types": ([Person("A"), (Point(1, 2),), {Word.A}], None),
    "keys-of-other-types": (
        {1: "a", 2.5: "b", Word.A: "c", datetime.date(2026, 1, 1): "d", Number.SEVEN: "e"},
        {"1": "a", "2.5": "b", "a word": "c", "2026-01-01": "d", "7": "e"},
    ),
}
CONVERSIONS["namespace-of-types"] = (
    CONVERSIONS["namespace-of-types"][0],
    [{"name": "A", "age": 3}, [[1, 2]], ["a word"]],
)


class TestConversions:
    @pytest.mark.parametrize("name", CONVERSIONS)
    def test_is_plain_data(self, name: str) -> None:
        """A value, alone or within others, is the same as the JSON data it stands for."""
        value, plain = CONVERSIONS[name]
        expected = json.dumps(plain, ensure_ascii=False)
        assert render("{{ x | tojson }}", value) == expected
        assert render("{{ x | tojson }}", [value]) == f"[{expected}]"
        assert render("{{ x | tojson }}", {"k": [value]}) == f'{{"k": [{expected}]}}'

    @pytest.mark.parametrize("name", CONVERSIONS)
    def test_prints_like_plain_data(self, name: str) -> None:
        """Printed, looped over and measured, a value is like the plain data it stands for."""
        value, plain = CONVERSIONS[name]
        if name != "keys-of-other-types":
            assert render("{{ x }}|{{ x ~ '' }}", value) == render("{{ x }}|{{ x ~ '' }}", plain)
            assert render("{{ x }}", [value]) == render("{{ x }}", [plain])
        if isinstance(plain, list):
            loop = "{% for item in x %}{{ loop.index }}{{ item }},{% endfor %}{{ x | length }}"
            assert render(loop, value) == render(loop, plain)

    def test_text_is_as_it_is(self) -> None:
        """A text prints exactly, whatever class it has."""
        for text in ("<b>&amp;</b>", "{{ x }}", "a\0b", "\ufeff", "\u2028"):
            assert render("{{ x }}", text) == text
            assert render("{{ x }}", Markup(text)) == text
            assert render("{{ x }}", LoudStr(text)) == text

    @pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**64, 10**30, -(10**400)])
    def test_large_integers_are_exact(self, number: int) -> None:
        """No digit of an integer is lost, printed or as JSON, in a list or as a key."""
        assert render("{{ x }}", number) == str(number)
        assert render("{{ x ~ '!' }}{{ x | string }}", number) == f"{number}!{number}"
        assert render("{{ x[0] }} {{ x | tojson }}", [number]) == f"{number} [{number}]"
        assert render("{{ x | tojson }}", {number: number}) == f'{{"{number}": {number}}}'
        assert render("{{ x == x }}{{ x != x }}{{ 'a' if x else 'b' }}", number) == "TrueFalsea"

    def test_integer_beyond_what_python_prints(self) -> None:
        """An integer of so many digits that Python refuses to print it is refused."""
        assert refused(10**5000).path == "$.x"

    def test_fields_of_records(self) -> None:
        """Fields are attributes; properties, class variables and methods are not there."""
        person = Person("Ann")
        assert render("{{ x.name }}{{ x['age'] }}", person) == "Ann3"
        for absent in ("kind", "secret"):
            with pytest.raises(cuecard.UndefinedVariableError):
                cuecard.render("{{ x." + absent + " }}", {"x": person})

    def test_named_tuple(self) -> None:
        """A named tuple is read by field, by index, and unpacked in a loop."""
        points = [Point(1, 2), Point(3, 4)]
        assert render("{% for p in x %}{{ p.left }}{{ p[1] }},{% endfor %}", points) == "12,34,"
        assert render("{% for a, b in x %}{{ a }}{{ b }},{% endfor %}", points) == "12,34,"
        assert render("{{ x | length }}{{ x.left + x.top }}", points[0]) == "23"

    def test_named_tuple_with_fields_like_methods(self) -> None:
        """A field wins over a method of the same name."""
        entry = Entry(index=4, count=5, items="i")
        assert render("{{ x.index }}{{ x.count }}{{ x.items }}", entry) == "45i"

    def test_mixed_set_has_one_order(self) -> None:
        """A set of several kinds has some order, and always the same."""
        members = [3, "b", None, 2.5, (1, 2), frozenset({1}), "a", True]
        texts = {render("{{ x | tojson }}", set(order)) for order in (members, members[::-1])}
        assert len(texts) == 1
        assert sorted(json.loads(texts.pop()), key=repr) == sorted(
            [3, "b", None, 2.5, [1, 2], [1], "a", True], key=repr
        )

    def test_missing_key_calls_no_factory(self) -> None:
        """A default factory of the caller's mapping is never called."""
        value = collections.defaultdict(int, a=1)
        with pytest.raises(cuecard.UndefinedVariableError):
            cuecard.render("{{ x.b }}", {"x": value})
        assert dict(value) == {"a": 1}

    def test_same_bytes_are_not_the_same_data(self) -> None:
        """What a later render is given counts, even if its encoding is that of an earlier one."""
        changes: list[tuple[str, Any, Any, str, str]] = [
            ("{{ x[0].user_name is defined }}", {"userName": 1}, Renamed("a"), "False", "True"),
            ("{{ x[0].user_name is defined }}", {"userName": "a"}, Renamed("a"), "False", "True"),
            ("{{ x[0].default is defined }}", {"given": 1}, Sparse(1), "False", "True"),
            ("{{ x[0].left is defined }}", [1, 2], Point(1, 2), "False", "True"),
            ("{{ x[0] }}", [8, 1], {8, 1}, "[8, 1]", "[1, 8]"),
            ("{{ x[0] }}", [1, 0], [True, False], "[1, 0]", "[True, False]"),
            ("{{ x[0] }}", [1], [1.0], "[1]", "[1.0]"),
            ("{{ x[0] }}", "2026-01-01", datetime.date(2026, 1, 1), "2026-01-01", "2026-01-01"),
            ("{{ x[0] is none }}", "", None, "False", "True"),
        ]
        for text, first, second, before, after in changes:
            template = cuecard.Template(text)
            assert [template.render(x=[first]) for _ in range(RENDERS)] == [before] * RENDERS
            assert [template.render(x=[second]) for _ in range(RENDERS)] == [after] * RENDERS
            assert template.render(x=[first]) == before

    def test_changed_data_is_seen(self) -> None:
        """A value that the caller changed between two renders prints as it is now."""
        template = cuecard.Template("{{ x | tojson }}")
        value: dict[str, Any] = {"a": [1, None], "b": {"c": "d"}}
        for number in range(5):
            value["a"].append(number)
            value["b"]["c"] = "d" * number
            assert template.render(x=value) == json.dumps(value)


class TestContext:
    @pytest.mark.parametrize(
        "context",
        [
            {"name": "Ann"},
            collections.OrderedDict(name="Ann"),
            types.MappingProxyType({"name": "Ann"}),
            collections.ChainMap({}, {"name": "Ann"}),
            collections.UserDict({"name": "Ann"}),
            Person("Ann"),
            AttrsPerson("Ann"),
            Record("Ann"),
            Model(name="Ann"),
            {"name": "Ann", 3: "a key that is no name"},
        ],
        ids=lambda context: type(context).__name__,
    )
    def test_what_may_be_a_context(self, context: Any) -> None:
        """A mapping or a record gives the names; keyword arguments override them."""
        template = cuecard.Template("{{ name }}")
        assert [template.render(context) for _ in range(RENDERS)] == ["Ann"] * RENDERS
        assert template.render(context, name="Bob") == "Bob"

    @pytest.mark.parametrize(
        "context", [5, "text", ["a"], object(), [("name", "Ann")], Point(1, 2)]
    )
    def test_what_may_not(self, context: Any) -> None:
        """Anything else is refused, with its type."""
        with pytest.raises(cuecard.ContextError) as caught:
            cuecard.render("{{ name }}", context)
        assert (caught.value.code, caught.value.path) == ("P707", "$")
        assert f"`{type(context).__name__}`" in caught.value.message

    def test_root_model_that_is_no_mapping(self) -> None:
        """A root model of a list gives no names: it is refused like the list."""
        with pytest.raises(cuecard.ContextError) as caught:
            cuecard.render("{{ name }}", RootList([1]))
        assert caught.value.code == "P707"

    def test_none_is_an_empty_context(self) -> None:
        """Without a context there are only the keyword arguments."""
        assert cuecard.Template("{{ a }}").render(None, a=1) == "1"
        assert cuecard.render("{{ a | default('none') }}") == "none"

    def test_parameter_names_are_free(self) -> None:
        """A variable may be called like a parameter of `render`."""
        text = cuecard.Template("{{ context }}{{ self }}{{ name }}").render(
            context=1, self=2, name=3
        )
        assert text == "123"

    def test_record_that_cannot_be_read(self) -> None:
        """A record whose field raises is a context error, not one about the template."""

        @dataclasses.dataclass
        class Broken:
            name: str = "Ann"
            other: int = dataclasses.field(init=False)

        for template in ("{{ name }}", "{{ name }}{{ other }}"):
            with pytest.raises(cuecard.ContextError) as caught:
                cuecard.render(template, Broken())
            assert caught.value.code == "P701"

    def test_mapping_that_cannot_be_read(self) -> None:
        """A mapping whose methods raise is a context error."""

        class Broken(collections.UserDict[str, int]):
            def __getitem__(self, key: str) -> int:
                raise RuntimeError("s3cret")

            def __contains__(self, key: object) -> bool:
                raise RuntimeError("s3cret")

        with pytest.raises(cuecard.ContextError) as caught:
            cuecard.render("{{ name }}", Broken())
        assert caught.value.code == "P701"
        assert "s3cret" not in caught.value.report()

    def test_operator_binds_other_values(self) -> None:
        """Under OPERATOR a value that is no mapping has the name `value`."""
        for value, text in (([1, 2], "2"), ((1, 2), "2"), (Point(1, 2), "2")):
            assert cuecard.render("{{ value[1] }}", value, profile=cuecard.OPERATOR) == text
        assert cuecard.render("{{ value }}", None, profile=cuecard.OPERATOR) == ""


def nested(levels: int, kind: str = "list") -> Any:
    """A value of so many levels of lists or mappings."""
    value: Any = 1
    for _ in range(levels):
        value = {"a": value} if kind == "map" else [value]
    return value


def cycle_of(kind: str) -> Any:
    if kind == "list":
        items: list[Any] = [1]
        items.append(items)
        return items
    if kind == "map":
        mapping: dict[str, Any] = {"a": 1}
        mapping["me"] = mapping
        return mapping
    if kind == "longer":
        inner: list[Any] = []
        outer = {"inner": inner}
        inner.append(outer)
        return outer
    person = Person("Ann")
    person.name = person  # type: ignore[assignment]
    return person


class Raises:
    """An object of which everything raises."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("s3cret")

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("s3cret")

    def __len__(self) -> int:
        raise RuntimeError("s3cret")

    def __str__(self) -> str:
        raise RuntimeError("s3cret")

    __repr__ = __str__


class BadList(list[Any]):
    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError("s3cret")


class BadSequence(Rows):
    def __len__(self) -> int:
        raise RuntimeError("s3cret")

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError("s3cret")


class BadMapping(Row):
    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("s3cret")


class Endless(Rows):
    def __getitem__(self, index: Any) -> Any:
        return 1


class Liar:
    """It says that it is an integer."""

    __class__ = int  # type: ignore[assignment]


def generator() -> Iterator[int]:
    yield 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("make", "kind", "hint"),
        [
            (generator, "generator", "list("),
            (lambda: map(str, [1]), "map", ""),
            (lambda: iter([1]), "list_iterator", ""),
            (lambda: b"bytes", "bytes", "decode"),
            (lambda: bytearray(b"bytes"), "bytearray", "decode"),
            (lambda: memoryview(b"bytes"), "memoryview", ""),
            (object, "object", ""),
            (lambda: Raises(), "Raises", ""),
            (lambda: json, "module", ""),
            (lambda: ValueError("s3cret"), "ValueError", "str(error)"),
            (lambda: len, "builtin_function_or_method", ""),
            (lambda: generator, "function", ""),
            (lambda: Person, "type", ""),
            (lambda: Colour, "EnumType", ""),
            (lambda: 1j, "complex", ""),
            (lambda: Fraction(1, 2), "Fraction", ""),
            (lambda: ..., "ellipsis", ""),
            (lambda: pydantic.SecretStr("s3cret"), "SecretStr", ""),
        ],
    )
    def test_not_plain_data(self, make: Any, kind: str, hint: str) -> None:
        """What is no data is refused with its type and its place, and never with itself."""
        error = refused(make())
        assert (error.code, error.path) == ("P701", "$.x")
        assert f"`{kind}`" in error.message
        assert hint in (error.hint or "")
        deep = refused({"a": [0, {"b c": make()}]})
        assert (deep.code, deep.path) == ("P701", "$.x.a[1]['b c']")
        assert "s3cret" not in deep.report() + repr(deep)

    @pytest.mark.parametrize(
        ("value", "code", "path"),
        [
            ("a\ud800b", "P705", "$.x"),
            (["a", "\udfff"], "P705", "$.x[1]"),
            ({"k": {"\ud800": 1}}, "P705", None),
            ({(1, 2): 1}, "P706", None),
            ({"a": {None: 1}}, "P706", None),
            ({b"a": 1}, "P706", None),
            ({frozenset(): 1}, "P706", None),
            (Liar(), "P701", "$.x"),
            (BadList([1]), "P701", "$.x"),
            ([BadList([1])], "P701", "$.x[0]"),
            (BadSequence(), "P701", "$.x"),
            (BadMapping(), "P701", "$.x"),
            (Person(Raises()), "P701", "$.x.name"),  # type: ignore[arg-type]
            ([Colour.RED, generator], "P701", "$.x[1]"),
            (Endless(), "P704", "$.x"),
            (range(10**12), "P704", "$.x"),
        ],
        ids=lambda value: type(value).__name__ if not isinstance(value, str) else ascii(value),
    )
    def test_codes_and_paths(self, value: Any, code: str, path: str | None) -> None:
        """Each refusal has its code and says where the value is; no text of it is shown."""
        error = refused(value)
        assert error.code == code
        assert error.path.startswith("$.x")
        assert path is None or error.path == path
        assert "s3cret" not in error.report() + repr(error)
        assert error.report().isprintable() or "\n" in error.report()

    @pytest.mark.parametrize("kind", ["list", "map", "longer", "dataclass"])
    def test_cycle(self, kind: str) -> None:
        """A value that contains itself is called that."""
        error = refused(cycle_of(kind))
        assert error.code == "P702"
        assert error.path.startswith("$.x")

    @pytest.mark.parametrize("kind", ["list", "map"])
    def test_depth(self, kind: str) -> None:
        """64 levels are allowed; one more is not, nor are 100,000."""
        assert render("{{ x | length }}", nested(64, kind)) == "1"
        assert refused(nested(65, kind)).code == "P703"
        assert refused(nested(100_000, kind)).code == "P703"

    def test_size(self) -> None:
        """200,000 values are allowed, one more is not; the names of a mapping count."""
        assert render("{{ x | length }}", [0] * 200_000) == "200000"
        assert refused([0] * 200_001).code == "P704"
        assert refused(dict.fromkeys(map(str, range(200_001)))).code == "P704"
        assert refused([[0] * 1000] * 201).code == "P704"

    def test_size_is_for_each_variable(self) -> None:
        """Two variables may have 200,000 values each."""
        text = cuecard.render(
            "{{ a | length }}{{ b | length }}", {"a": [0] * 200_000, "b": [0] * 200_000}
        )
        assert text == "200000200000"

    def test_shared_values_are_counted_each_time(self) -> None:
        """A small value that holds itself often in parts is too large, and known at once.

        2 ** 60 paths lead through it, so nothing may walk them all.
        """
        code = """
value = [1]
for _ in range(60):
    value = [value, value]
template = cuecard.Template("{{ x | length }}")
for _ in range(3):
    try:
        template.render(x=value)
    except cuecard.ContextError as error:
        print(error.code)
"""
        assert run_python(code, timeout=8).split() == ["P704"] * 3

    def test_limits_are_the_profiles(self) -> None:
        """Depth and number of values are bounded as the profile says, at every render."""
        limits = cuecard.Limits(depth=2, nodes=3)
        template = cuecard.Template(
            "{{ x | length }}", profile=dataclasses.replace(cuecard.STRICT, limits=limits)
        )
        for _ in range(RENDERS):
            assert template.render(x=[[1], 2]) == "2"
            for value, code in (([[[1]]], "P703"), ([1, 2, 3, 4], "P704")):
                with pytest.raises(cuecard.ContextError) as caught:
                    template.render(x=value)
                assert caught.value.code == code


class TestReach:
    def test_only_names_that_are_read_are_looked_at(self) -> None:
        """What no tag names is never touched, so it may be anything."""
        context = {"x": 1, "bomb": Raises(), "endless": Endless(), "cycle": cycle_of("list")}
        template = cuecard.Template(
            "bomb {{ x }} {# {{ bomb }} #}{% raw %}{{ endless }}{% endraw %}"
        )
        assert [template.render(context) for _ in range(RENDERS)] == ["bomb 1 {{ endless }}"] * 3

    def test_names_of_a_branch_count_as_read(self) -> None:
        """A name in a branch that is not taken is looked at: it is read by the template."""
        with pytest.raises(cuecard.ContextError):
            cuecard.render("{% if false %}{{ bomb }}{% endif %}", {"bomb": generator()})

    @pytest.mark.parametrize(
        "name",
        sorted(
            {name for kind in (list, dict, str, int) for name in dir(kind) if name[0] != "_"}
            - {"items", "keys", "values", "get", "index", "count"}
            - {"capitalize", "endswith", "find", "format", "islower", "isupper", "join", "lower"}
            - {"lstrip", "replace", "rfind", "rstrip", "split", "splitlines", "startswith", "strip"}
            - {"title", "upper", "isalnum", "isalpha", "isascii", "isdigit", "isnumeric"}
        ),
    )
    @pytest.mark.parametrize("value", [[1, 2], {"a": 1}], ids=["list", "map"])
    def test_other_methods_do_not_exist(self, name: str, value: Any) -> None:
        """No method of Python's containers but the reading ones can be called or printed."""
        before = copy.deepcopy(value)
        template = cuecard.Template("{{ x." + name + "(1) }}")
        for _ in range(RENDERS):
            with pytest.raises(cuecard.UnknownNameError) as caught:
                template.render(x=value)
            assert caught.value.code == "P106"
        for uncalled in (
            "{{ x." + name + " }}",
            "{{ x['" + name + "'] }}",
            "{{ x|attr('" + name + "') }}",
        ):
            with pytest.raises(cuecard.UndefinedVariableError):
                cuecard.render(uncalled, {"x": value})
            lenient = cuecard.render("[" + uncalled + "]", {"x": value}, profile=cuecard.MARKDOWN)
            assert lenient == "[]\n"
        assert value == before

    @pytest.mark.parametrize(
        "expression",
        [
            "[x] | map('attr', 'append') | list",
            "[x] | map('attr', name) | list",
            "[x] | map(attribute='append') | list",
            "[x] | map(attribute=name) | list",
            "[[x]] | map('map', attribute='append') | list",
            "[[x]] | map('groupby', 'append') | list",
            "[[x]] | map('join', ',', 'append') | list",
            "[x] | join(',', attribute='append')",
            "[x] | join(',', 'append')",
            "[x] | groupby('append')",
            "[x] | groupby(attribute=name)",
            "[x] | sum(attribute='append', start='')",
            "[x] | sort(attribute='append') | map(attribute='append') | list",
            "[x] | unique(attribute='append') | list",
            "[x] | selectattr('append') | list",
            "x | attr('app' ~ 'end')",
            "x['app' ~ 'end']",
            "x[name]",
            "x['\\x61ppend']",
            "x | attr('\\u0061ppend')",
            "x.append",
            "x.index",
            "x.count",
            "x",
        ],
    )
    @pytest.mark.parametrize("profile", [cuecard.STRICT, cuecard.MARKDOWN], ids=lambda p: p.name)
    def test_no_object_is_ever_printed(self, expression: str, profile: cuecard.Profile) -> None:
        """However a template asks, it gets no object of Python: none prints an address."""
        template = cuecard.Template("{{ " + expression + " }}", profile=profile)
        for _ in range(RENDERS):
            try:
                text = template.render(x=[[1, 2]], name="append")
            except cuecard.TemplateError:
                continue
            assert "object" not in text
            assert "0x" not in text

    @pytest.mark.parametrize(
        "change",
        [
            "{% set f = [x] | map('attr', 'append') | first %}{{ f(1) }}",
            "{% for g in [[x]] | map('groupby', 'append') %}{{ g[0][0](1) }}{% endfor %}",
            "{% for f in [x] | map('attr', 'clear') %}{{ f() }}{% endfor %}",
            "{{ x.append(1) }}",
            "{{ x.extend([1]) }}",
            "{{ x.clear() }}",
            "{{ x.pop() }}",
            "{{ x.reverse() }}",
            "{{ x.insert(0, 1) }}",
            "{{ (x | attr('append'))(1) }}",
            "{% do x.append(1) %}",
        ],
    )
    def test_nothing_changes_what_another_render_sees(self, change: str) -> None:
        """A template cannot change a value, neither the caller's nor for its later renders."""
        value = [3, 4]
        template = cuecard.Template(change + "{{ x }}", profile=cuecard.LIVE)
        plain = cuecard.Template("{{ x }}" + "{% if go %}" + change + "{% endif %}")
        for _ in range(RENDERS):
            try:
                text = plain.render(x=value, go=True)
            except cuecard.PromptError:
                text = plain.render(x=value, go=False)
            assert text.startswith("[3, 4]")
        with pytest.warns(cuecard.FallbackWarning):
            assert [template.render(x=value) for _ in range(RENDERS)] == [template.source.text] * 3
        assert value == [3, 4]

    def test_reading_methods(self) -> None:
        """`items`, `keys`, `values`, `get`, `index` and `count` work as Python's do."""
        value = {"a": 1, "b": [1, 2, 2]}
        assert render("{% for k, v in x.items() %}{{ k }}={{ v }};{% endfor %}", value) == (
            "a=1;b=[1, 2, 2];"
        )
        assert (
            render("{{ x.keys() | join(',') }} {{ x.values() | list | length }}", value) == "a,b 2"
        )
        assert render("{{ x.get('a') }}{{ x.get('z') }}{{ x.get('z', 5) }}", value) == "15"
        assert render("{{ x.b.index(2) }}{{ x.b.count(2) }}{{ x.b.count(9) }}", value) == "120"
        assert render("{{ x.items() | list }}", value) == "[('a', 1), ('b', [1, 2, 2])]"
        assert render("{{ {'k': 1}.items() | list }}{{ {'k': 1}.get('z') }}", None) == "[('k', 1)]"

    @pytest.mark.parametrize(
        "call",
        [
            "x.get('a',)",
            "(x.get('a'))",
            "((x.get('a')))",
            "x.get(*['a'])",
            "x.get(*['a', 5])",
            "x.get( 'a' )",
            "x.get('a').real if false else x.get('a')",
            "x.get(x.get('b'))",
            "x.get(('a'))",
            "x . get ('a')",
            "x.get('a') | string",
            "[x.get('a')][0]",
            "x.get('z', x.get('a'))",
        ],
    )
    def test_get_however_it_is_written(self, call: str) -> None:
        """`get` means the same with a trailing comma, in brackets and with a spread argument."""
        assert render("{{ " + call + " }}", {"a": 1, "b": "a"}) == "1"

    def test_get_of_what_is_no_mapping(self) -> None:
        """A macro called `get` gets the arguments that it was given."""
        template = "{% macro get(a) %}{{ a }}{% endmacro %}{{ get('b') }}"
        assert cuecard.render(template) == "b"

    def test_wrong_arguments(self) -> None:
        """A reading method with wrong arguments is an error that shows no value."""
        for call in ("x.index('s3cret')", "x.index()", "x.count()", "x.count(1, 2)"):
            with pytest.raises(cuecard.TemplateError) as caught:
                cuecard.render("{{ " + call + " }}", {"x": ["a"]})
            assert caught.value.code == "P204"
            assert "s3cret" not in caught.value.message

    def test_key_wins_over_method(self) -> None:
        """A JSON schema has keys called like methods; the key is meant."""
        schema = {"items": ["a"], "keys": "K", "values": "V", "get": "G", "pop": "P", "copy": "C"}
        assert render("{{ x.items[0] }}{{ x.keys }}{{ x.values }}{{ x.get }}", schema) == "aKVG"
        assert render("{{ x.pop }}{{ x.copy }}{{ x['items'][0] }}", schema) == "PCa"
        assert render("{% for i in x.items %}{{ i }}{% endfor %}", schema) == "a"

    def test_uncalled_method_prints_nothing(self) -> None:
        """A reading method that is not called is empty, false and loops over nothing."""
        text = "[{{ x.items }}{{ x.get ~ '' }}{% for i in x.keys %}{{ i }}{% endfor %}"
        assert render(text + "{% if x.values %}a{% endif %}]", {"a": 1}) == "[]"


class TestCallersData:
    @pytest.mark.parametrize(
        "template",
        [
            "{{ x | sort(attribute='a') }}",
            "{{ x | reverse | list }}{{ x | unique | list }}{{ x | tojson }}",
            "{% for i in x %}{% set i = 5 %}{% endfor %}{% set x = [] %}",
            "{% for i in x %}{{ i.items() | list }}{{ i.get('z') }}{% endfor %}",
            "{{ x + x }}{{ x[0] | dictsort }}{{ x | map(attribute='a') | list }}",
            "{{ x | batch(2) | list }}{{ x | join }}{{ x | first }}{{ x | length }}",
        ],
    )
    def test_is_never_changed(self, template: str) -> None:
        """Rendering leaves the caller's data as it was, and holds on to none of it."""
        value = [{"a": 2, "b": [1, None]}, {"a": 1, "b": {"c": {1, 2}}}]
        before = copy.deepcopy(value)
        compiled = cuecard.Template(template)
        for _ in range(RENDERS):
            compiled.render(x=value)
        assert value == before

    def test_guarded_and_plain_templates_agree(self) -> None:
        """Whether a template could ask for methods makes no difference to anything else."""
        value = {"a": [1, {"b": None}, [True, 2.5]], "t": "text", "big": 2**70, "empty": {}}
        for expression in (
            *("x", "x.a", "x.a[1]", "x.a[1].b", "x.a[2]", "x.big", "x.empty", "x | tojson"),
            *("x | length", "x.a is sequence", "x is mapping", "x.a is mapping", "x | list"),
            *("x | items | list", "x | dictsort", "x == x", "x.a == [1]", "x.empty == {}"),
            *("x.a + [1]", "1 in x.a", "'a' in x", "x.a[:2]", "x.a[-1]", "x.a | first"),
            *("x is iterable", "x.a | join(',')", "x | string", "x ~ x.a", "x.a | reverse"),
            *("x.empty or 'none'", "not x.empty", "x.a | sum(start=0) if false", "x | xml_text"),
            *("[x.a, x.empty]", "{'k': x.a}", "x.a is sameas x.a", "'%s' | format(x.a)"),
            *("'{}'.format(x.a)", "x | indent", "x.a | pprint", "x is string", "x.t | list"),
        ):
            render("{{ " + expression + " }}", value)


NULLS: dict[str, str] = {
    "x": "",
    "none": "",
    "x ~ 'a'": "a",
    "'a' ~ none ~ 'b'": "ab",
    "['a', x, 'b'] | join(',')": "a,,b",
    "x is none": "True",
    "x is not none": "False",
    "1 is none": "False",
    "none is none": "True",
    "x == none": "True",
    "none == x": "True",
    "x != none": "False",
    "1 == none": "False",
    "x in [none]": "True",
    "none in [1, x]": "True",
    "x not in [1]": "True",
    "x is eq none": "True",
    "x is in [none]": "True",
    "x == ''": "False",
    "x == 0": "False",
    "x == false": "False",
    "x is defined": "True",
    "x is string": "False",
    "x is mapping": "False",
    "x is number": "False",
    "x | default('d')": "",
    "x | default('d', true)": "d",
    "x or 'd'": "d",
    "x and 'd'": "",
    "'a' if x else 'b'": "b",
    "not x": "True",
    "x | tojson": "null",
    "[x] | tojson": "[null]",
    "{'k': x} | tojson": '{"k": null}',
    "none | tojson": "null",
    "x | length": "0",
    "x | list": "[]",
    "x | string": "",
    "x | upper": "",
    "x | trim": "",
    "x | replace('a', 'b')": "",
    "x | xml_text": "",
    "x | indent": "",
    "x | raw": "",
    "x | join(',')": "",
    "'%s' | format(x)": "",
    "'{}'.format(x)": "",
    "'{:>3}'.format(x)": "   ",
    "m.get('z')": "",
    "m.get('z') is none": "True",
    "m.get('z') == none": "True",
    "m.get('z') | tojson": "null",
    "m.get('z') | default('d', true)": "d",
    "m.get('n') is none": "True",
    "m.n": "",
    "m.n is none": "True",
    "[m.n, 1] | select('none') | list | length": "1",
    "[m] | selectattr('n', 'none') | list | length": "1",
    "[x, 1] | reject('none') | list": "[1]",
    "[x, x] | unique | list | length": "1",
    "[x] | map('upper') | join('|')": "",
    "[3, x, 1] | length": "3",
}


class TestNull:
    @pytest.mark.parametrize("expression", NULLS)
    def test_expression(self, expression: str) -> None:
        """Null prints nothing, is false, equals null alone, and is `null` in JSON."""
        template = cuecard.Template("{{ " + expression + " }}")
        context = {"x": None, "m": {"n": None}}
        assert [template.render(context) for _ in range(RENDERS)] == [NULLS[expression]] * RENDERS

    @pytest.mark.parametrize(
        "profile", [cuecard.STRICT, cuecard.OPERATOR, cuecard.MARKDOWN, cuecard.LIVE]
    )
    def test_in_every_profile(self, profile: cuecard.Profile) -> None:
        """Null prints nothing, and a loop over it is empty, in every profile."""
        text = "[{{ x }}{% for i in x %}{{ i }}{% else %}-{% endfor %}{{ x ~ '' }}]"
        end = "\n" if profile is cuecard.MARKDOWN else ""
        assert cuecard.render(text, {"x": None}, profile=profile) == "[-]" + end

    def test_of_enum_and_record(self) -> None:
        """Null that comes out of an enum or a record is the same null."""
        assert render("[{{ x }}{{ x is none }}]", Colour.NOTHING) == "[True]"
        assert render("[{{ x.name }}{{ x.name is none }}]", Person(None)) == "[True]"  # type: ignore[arg-type]

    def test_attribute_of_null(self) -> None:
        """An attribute of null is absent: an error that names it under STRICT, empty if lenient."""
        with pytest.raises(cuecard.UndefinedVariableError) as caught:
            cuecard.render("{{ x.a }}", {"x": None})
        assert caught.value.variables == ("x.a",)
        assert cuecard.render("[{{ x.a }}]", {"x": None}, profile=cuecard.MARKDOWN) == "[]\n"
        assert cuecard.render("[{{ x.a.b }}]", {"x": None}, profile=cuecard.LIVE) == "[]"

    def test_arithmetic_with_null(self) -> None:
        """Adding null is an error; its message is about null, not about how null is made."""
        with pytest.raises(cuecard.TemplateError) as caught:
            cuecard.render("{{ x + 1 }}", {"x": None})
        assert caught.value.code == "P203"
        assert "iterator" not in caught.value.message

    def test_words(self) -> None:
        """`None`, `True` and `False` are `none`, `true` and `false`."""
        assert cuecard.render("{{ None }}|{{ True }}{{ False }}{{ true }}{{ None is none }}") == (
            "|TrueFalseTrueTrue"
        )

"""What rendering a table has to give: a loop over its rows; and strategies for tables."""

from __future__ import annotations

import base64
import datetime as dt
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from hypothesis import strategies as st

import cuecard
from tests.generated_templates import CONTEXT, templates

Outcome = tuple[str | None, tuple[str, str] | None]


def plain(scalar: Any) -> Any:
    """The Python value of a cell, as the documentation of `cuecard.batch` has it."""
    if not scalar.is_valid:
        return None
    kind = scalar.type
    if isinstance(scalar, pa.DictionaryScalar):
        return plain(scalar.value)
    if pa.types.is_struct(kind):
        names = [kind.field(index).name for index in range(kind.num_fields)]
        return {name: plain(scalar[index]) for index, name in enumerate(names)}
    if pa.types.is_map(kind):
        return {plain(item["key"]): plain(item["value"]) for item in scalar.values}
    if pa.types.is_nested(kind):
        return [plain(item) for item in scalar.values]
    value = scalar.as_py()
    if isinstance(value, (dt.date, dt.time, dt.timedelta, Decimal)):
        return cuecard.render("{{ value }}", {"value": value})
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def rows_of(table: pa.Table, columns: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
    """The rows of a table, variable by value."""
    named = {name: name for name in table.column_names} | dict(columns or {})
    return [
        {variable: plain(table.column(column)[row]) for variable, column in named.items()}
        for row in range(table.num_rows)
    ]


@lru_cache(maxsize=2)
def _raising(template: cuecard.Template) -> cuecard.Template:
    return template.variant(profile=replace(template.profile, fallback=False))


def outcome(template: cuecard.Template, row: Any) -> Outcome:
    """What the template gives for one row: the text, and the error with code and message."""
    try:
        return _raising(template).render(row), None
    except cuecard.PromptError as error:
        text = None
        if template.profile.fallback:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cuecard.FallbackWarning)
                text = template.render(row)
        return text, (error.code, error.message)


def outcomes(made: Any) -> list[Outcome]:
    """The same of a `RenderedBatch`."""
    errors = [None if e is None else (e["code"], e["message"]) for e in made.error.to_pylist()]
    assert made.failed == sum(error is not None for error in errors)
    return list(zip(made.prompt.to_pylist(), errors, strict=True))


# strategies ---------------------------------------------------------------------------------------

TEXTS = ["", "x", "A {{ x }}\n", " é\n ", "日本", "a < b & c", "%s %", "-0.0"]
INTEGERS = st.integers(-(2**63), 2**63 - 1)
MICROS = st.integers(-62135596800 * 10**6, 253402300799 * 10**6)

LEAVES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (pa.string(), st.sampled_from(TEXTS)),
    (pa.large_string(), st.sampled_from(TEXTS)),
    (pa.string_view(), st.sampled_from(TEXTS)),
    (pa.int64(), st.sampled_from([0, 1, 3, -7]) | INTEGERS),
    (pa.int8(), st.sampled_from([0, 1, -128])),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float64(), st.sampled_from([0.0, -0.0, 1.0, 1e20, 1e-7, float("nan")]) | st.floats()),
    (pa.float32(), st.floats(width=32)),
    (pa.float16(), st.sampled_from([0.0, -0.0, 1.5])),
    (pa.bool_(), st.booleans()),
    (pa.null(), st.none()),
    (pa.timestamp("s"), MICROS.map(lambda n: n // 10**6)),
    (pa.timestamp("ms"), MICROS.map(lambda n: n // 10**3)),
    (pa.timestamp("us"), MICROS | st.just(10**6)),
    (pa.timestamp("us", "UTC"), MICROS | st.just(10**6)),
    (pa.timestamp("ms", "Europe/Oslo"), st.integers(0, 2**40)),
    (pa.date32(), st.dates()),
    (pa.date64(), st.dates()),
    (pa.time32("s"), st.integers(0, 86399)),
    (pa.time32("ms"), st.integers(0, 86399999)),
    (pa.time64("us"), st.times() | st.just(dt.time(1, 2, 3))),
    (pa.duration("us"), st.timedeltas(dt.timedelta(-9999), dt.timedelta(9999))),
    (pa.duration("s"), st.integers(-(10**9), 10**9)),
    (pa.decimal128(20, 3), st.decimals(-10, 10, places=3)),
    (pa.decimal128(20, 10), st.sampled_from([Decimal(0), Decimal("0.0000000001")])),
    (pa.month_day_nano_interval(), st.just((1, 2, 3))),
    (pa.binary(), st.binary(max_size=4)),
]
LEAF = st.sampled_from(LEAVES)


@st.composite
def kinds(draw: st.DrawFn, depth: int = 0) -> tuple[Any, st.SearchStrategy[Any]]:
    """A type of a column, and its values."""
    shapes = ["leaf", "leaf", "leaf", "list", "view", "fixed", "struct", "map"]
    shape = draw(st.sampled_from(shapes))
    if shape == "leaf" or depth > 1:
        return draw(LEAF)  # type: ignore[no-any-return]
    kind, values = draw(kinds(depth + 1))
    values = values | st.none()
    if shape == "list":
        make = draw(st.sampled_from([pa.list_, pa.large_list]))
        return make(kind), st.lists(values, max_size=3)
    if shape == "view":
        return pa.list_view(kind), st.lists(values, max_size=3)
    if shape == "fixed":
        return pa.list_(kind, 2), st.lists(values, min_size=2, max_size=2)
    if shape == "map":
        pairs = st.lists(st.tuples(st.sampled_from("abk"), values), max_size=3)
        return pa.map_(pa.string(), kind), pairs
    other, more = draw(kinds(depth + 1))
    both = st.fixed_dictionaries({"k": values, "name": more | st.none()})
    return pa.struct([("k", kind), ("name", other)]), both


@st.composite
def columns(draw: st.DrawFn, name: str, rows: int) -> Any:
    """A column: often what templates expect of the name, at times anything; few values or many."""
    if name in CONTEXT and draw(st.booleans()):
        usual = pa.array([CONTEXT[name]])
        kind, values = usual.type, st.just(CONTEXT[name])
        if pa.types.is_string(kind):
            values = values | st.sampled_from(TEXTS)
    else:
        kind, values = draw(kinds())
    if draw(st.booleans()):
        values = values | st.none()
    if draw(st.booleans()):
        values = st.sampled_from(draw(st.lists(values, min_size=1, max_size=2)))
    array = pa.array(draw(st.lists(values, min_size=rows, max_size=rows)), kind)
    if pa.types.is_string(kind) and draw(st.booleans()):
        array = array.dictionary_encode()
    return array


@st.composite
def tables(draw: st.DrawFn, names: Sequence[str]) -> pa.Table:
    """A table of most of the names, of several chunks, each of them cut out of a longer one."""
    absent = draw(st.sets(st.sampled_from(names), max_size=1))
    rows = draw(st.integers(0, 6))
    made = {name: draw(columns(name, rows)) for name in names if name not in absent}
    table = pa.table({"row": range(rows), **made})
    start = draw(st.integers(0, 1))
    cut = table.slice(start, draw(st.integers(1, 6)))
    if not draw(st.booleans()):
        return cut
    return pa.concat_tables([cut, table.slice(0, draw(st.integers(0, 2)))])


@st.composite
def cases(draw: st.DrawFn) -> tuple[cuecard.Template, pa.Table]:
    """A template under some profile, and a table with what it reads."""
    text, profile = draw(templates()), draw(profiles())
    try:
        template = cuecard.Template(text, profile=profile)
    except cuecard.TemplateError:
        # It is invalid, under its limits at least.
        template = cuecard.Template(draw(st.sampled_from(["{{ a }}", "{{ a.k }}", "x"])))
    return template, draw(tables(sorted(template.variables) or ["a"]))


@st.composite
def profiles(draw: st.DrawFn) -> cuecard.Profile:
    """One of the four profiles, at times with limits that a render may well exceed."""
    profile = draw(
        st.sampled_from([cuecard.STRICT, cuecard.OPERATOR, cuecard.MARKDOWN, cuecard.LIVE])
    )
    if draw(st.integers(0, 3)):
        return profile
    limits = cuecard.Limits(
        fuel=draw(st.sampled_from([20, 60, 150, 400, 1_000_000])),
        output=draw(st.sampled_from([8, 40, 16_000_000])),
        nodes=draw(st.sampled_from([2, 200_000])),
        depth=draw(st.sampled_from([2, 64])),
    )
    return replace(profile, limits=limits)

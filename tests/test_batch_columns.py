"""Rendering by column: how segments are made, what values become, and what fails."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import cuecard
from cuecard.batch.columns import ROW_ERROR, ColumnRenderer, Summary, render_batches
from cuecard.tokens import TokenCounter, find_counter
from tests.column_tables import outcome, outcomes, rows_of

TASKS = pa.table(
    {
        "role": ["tester", "writer", "tester", None] * 2,
        "task": [f"task {number}" for number in range(8)],
        "notes": ["", None, "short", "lon\u00e9"] * 2,
        "tools": [[{"name": "grep", "n": 1}], [{"name": "ls", "n": None}]] * 4,
    }
)
TOOLS = "{% for tool in tools %}{{ tool | tojson }}{% endfor %}"


def looped(template: cuecard.Template, table: pa.Table) -> list[Any]:
    return [outcome(template, row) for row in rows_of(table)]


def check(text: str, table: pa.Table, **options: Any) -> ColumnRenderer:
    """The outcomes are those of a loop; gives the renderer."""
    template = cuecard.Template(text, **options)
    renderer = ColumnRenderer(template)
    assert outcomes(renderer.render(table)) == looped(template, table)
    return renderer


# how segments are made ----------------------------------------------------------------------------

WAYS = [
    ("only text", ["literal"]),
    ("{{ task }}", ["distinct"]),
    ("a {{ task }} b", ["literal", "column", "literal"]),
    ("a{{ role }}", ["literal", "column"]),
    ("a{{ role | upper }}", ["literal", "distinct"]),
    ("a{{ task | upper }}", ["literal", "rows"]),
    ("a{% if notes %}[{{ notes }}]{% else %}no{% endif %}", ["literal", "column"]),
    ("a{% if notes %}{{ task }}: {{ notes }} 100%{% endif %}", ["literal", "column"]),
    ("a{% if role and notes %}{{ notes }}{{ role }}{% endif %}", ["literal", "column"]),
    ("a{% if role is defined %}{{ role }}{% endif %}", ["literal", "column"]),
    ("a{% if tools %}{{ role }}{% endif %}", ["literal", "distinct"]),
    (f"a{TOOLS}", ["literal", "distinct"]),
    (f"a{TOOLS}{{{{ task }}}}", ["literal", "distinct", "column"]),
    ("a{{ tools[0].n }}{{ role | default('x') }}", ["literal", "distinct", "distinct"]),
]


@pytest.mark.parametrize(("text", "ways"), WAYS, ids=[text for text, _ in WAYS])
def test_each_segment_is_made_in_the_way_that_renders_least(text: str, ways: list[str]) -> None:
    """What Arrow can join is joined, shared values render once, distinct ones by row."""
    template = cuecard.Template(text)
    made = ColumnRenderer(template).render(TASKS)
    assert outcomes(made) == looped(template, TASKS)
    if len(ways) > 1 or "literal" in ways:
        assert [choice.way for choice in made.choices] == ways


def test_choices_say_what_was_rendered() -> None:
    """Each names its place and what it reads, how many combinations there were, and renders."""
    (first, block, task) = ColumnRenderer(f"a\n{TOOLS}{{{{ task }}}}").render(TASKS).choices
    assert first == (1, "text", 1, (), "literal", 8, 0, 0)
    assert block == (2, "block", 2, ("tools",), "distinct", 8, 2, 2)
    assert task == (3, "output", 2, ("task",), "column", 8, 0, 0)


def test_shared_blocks_render_once_a_run() -> None:
    """What an earlier part has rendered is taken from there, and the summary says so."""
    renderer = ColumnRenderer(f"a{TOOLS}")
    for _ in range(3):
        renderer.render(TASKS)
    renderer.render(TASKS.slice(1, 1))
    summary = renderer.summary()
    assert summary.as_dict()["segments"][1] == {
        "number": 2,
        "kind": "block",
        "line": 1,
        "variables": ("tools",),
        "ways": {"distinct": 4},
        "rows": 25,
        "rendered": 2,
    }
    other = pickle.loads(pickle.dumps(summary))
    other.merge(summary)
    assert other.segments[2].rows == 50
    assert other.segments[2].ways == {"distinct": 8}
    empty = Summary()
    empty.merge(summary)
    assert empty.as_dict() == summary.as_dict()


@pytest.mark.parametrize("distinct", [3, 2_500])
def test_many_rows_in_several_parts(distinct: int) -> None:
    """Thousands of rows, few of them alike or many, are those of a loop; the order stays."""
    rows = 5_000
    table = pa.table(
        {
            "n": [number % distinct for number in range(rows)],
            "text": [f"t{number % distinct} \0" for number in range(rows)],
            "items": [[{"k": number % distinct}] for number in range(rows)],
            "x": [[1.0, -0.0, None][number % 3] for number in range(rows)],
        }
    )
    text = "{{ n + 1 }} {{ text | upper }} {% for i in items %}{{ i.k }},{% endfor %}{{ x }}."
    template = cuecard.Template(text)
    renderer = ColumnRenderer(template)
    expected = looped(template, table)
    for table_of in (table, pa.Table.from_batches(table.to_batches(max_chunksize=2_000))):
        made = list(renderer.slices(table_of, max_bytes=50_000))
        assert [one for part in made for one in outcomes(part)] == expected
        assert [part.start for part in made] == np.cumsum([0, *map(len, made)])[:-1].tolist()
        assert max(part.prompt.nbytes for part in made) < 200_000
    ways = renderer.summary().segments[1].ways
    assert set(ways) <= ({"distinct"} if distinct == 3 else {"rows", "distinct"})


def test_failing_rows_among_many() -> None:
    """One row in fifty fails; the others of its dozen do not."""
    table = pa.table(
        {"d": [{"k": i, "z": None if i % 50 == 0 else [i]} for i in range(600)]},
    )
    renderer = check("a{{ d.z[0] + 1 }}{{ d.k }}", table)
    assert sum(one.rows for one in renderer.summary().rows) == 1_800


# what values become -------------------------------------------------------------------------------

DAY = 86_400
VALUES: list[tuple[Any, list[Any], list[str]]] = [
    (pa.string(), ["x", "", None, "\u00e9 {{ y }}"], ["x", "", "", "\u00e9 {{ y }}"]),
    (pa.string_view(), ["x", None], ["x", ""]),
    (pa.int32(), [1, -1, None], ["1", "-1", ""]),
    (pa.uint64(), [2**64 - 1, 2**63], ["18446744073709551615", "9223372036854775808"]),
    (pa.float64(), [1.0, -0.0, 0.0, 1e20], ["1.0", "-0.0", "0.0", "100000000000000000000.0"]),
    (pa.bool_(), [True, False, None], ["True", "False", ""]),
    (pa.null(), [None], [""]),
    (pa.timestamp("us"), [0, 1_500_000], ["1970-01-01T00:00:00", "1970-01-01T00:00:01.500000"]),
    (pa.timestamp("ms", "UTC"), [0, 1], ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.001000Z"]),
    (
        pa.timestamp("ns"),
        [0, 1, 1_000, -1],
        [
            "1970-01-01T00:00:00",
            "1970-01-01T00:00:00.000000001",
            "1970-01-01T00:00:00.000001",
            "1969-12-31T23:59:59.999999999",
        ],
    ),
    (
        pa.timestamp("ns", "Europe/Oslo"),
        [0, 1],
        ["1970-01-01T01:00:00+01:00", "1970-01-01T01:00:00.000000001+01:00"],
    ),
    (pa.timestamp("s", "Africa/Abidjan"), [0], ["1970-01-01T00:00:00Z"]),
    (pa.date32(), [0, -1, None], ["1970-01-01", "1969-12-31", ""]),
    (pa.date64(), [0, DAY * 1000], ["1970-01-01", "1970-01-02"]),
    (pa.time32("s"), [0, DAY - 1], ["00:00:00", "23:59:59"]),
    (pa.time64("ns"), [1, 1_000, 0], ["00:00:00.000000001", "00:00:00.000001", "00:00:00"]),
    (pa.duration("ns"), [1, DAY * 10**9, 0], ["PT0.000000001S", "P1D", "P0D"]),
    (pa.duration("s"), [-1, DAY + 1], ["-PT1S", "P1DT1S"]),
    (pa.binary(), [b"\xff\x00", b""], ["/wA=", ""]),
    (pa.binary(2), [b"ab"], ["YWI="]),
    (pa.list_(pa.int64()), [[1, None], [], None], ["[1, None]", "[]", ""]),
    (pa.list_(pa.timestamp("ns")), [[1]], ["['1970-01-01T00:00:00.000000001']"]),
    (pa.list_view(pa.string()), [["a"], ["a", "b"], None], ["['a']", "['a', 'b']", ""]),
    (pa.list_(pa.int8(), 1), [[1], None], ["[1]", ""]),
    (pa.struct([("a", pa.date32())]), [{"a": 0}, None], ["{'a': '1970-01-01'}", ""]),
    (pa.map_(pa.string(), pa.int8()), [[("a", 1), ("a", 2)], []], ["{'a': 2}", "{}"]),
    (pa.map_(pa.int8(), pa.string()), [[(1, "x")]], ["{1: 'x'}"]),
    (pa.uuid(), [bytes(16)], ["00000000-0000-0000-0000-000000000000"]),
    (
        pa.dictionary(pa.int8(), pa.list_(pa.int8())),
        pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array([[1], None])),
        ["", "[1]", ""],
    ),
]


@pytest.mark.parametrize("way", ["{{ x }}", "a{{ x }}", "{{ x ~ '' }}"])
@pytest.mark.parametrize(("kind", "values", "printed"), VALUES, ids=[str(v[0]) for v in VALUES])
def test_values_print_as_plain_data(kind: Any, values: Any, printed: list[str], way: str) -> None:
    """Whichever way an output is made, it prints the same."""
    array = values if isinstance(values, pa.Array) else pa.array(values, kind)
    expected = [f"a{text}" if way.startswith("a") else text for text in printed]
    for column in (array, pa.concat_arrays([array, array]).slice(len(array))):
        batch = pa.record_batch({"x": column})
        assert ColumnRenderer(way).render(batch).prompt.to_pylist() == expected


def test_dictionaries_are_texts() -> None:
    """A dictionary column of text is joined as such, its nulls print nothing."""
    array = pa.array(["a", "b", None, "a"]).dictionary_encode()
    made = ColumnRenderer("[{{ x }}]{% if x %}{{ x }}!{% endif %}").render(
        pa.record_batch({"x": array})
    )
    assert made.prompt.to_pylist() == ["[a]a!", "[b]b!", "[]", "[a]a!"]
    assert [choice.way for choice in made.choices] == ["literal", "column", "literal", "column"]


# slots --------------------------------------------------------------------------------------------

SLOTS = [
    '{"directive": "go", "n": 1}',
    '{"directive": "go", "n": true}',
    '{"directive": "go", "n": 1.0}',
    '{"directive": "go", "n": 12345678901234567890123}',
    '{"directive": "go", "n": null, "more": [1]}',
    "just text",
    '{"directive": "\\ud800"}',
    "[1]",
    None,
]


@pytest.mark.parametrize("text", ["a{{ directive }}", "{{ directive }}/{{ n | default('-') }}"])
@pytest.mark.parametrize("profile", [cuecard.OPERATOR, cuecard.LIVE], ids=lambda p: p.name)
@pytest.mark.parametrize("times", [1, 400])
def test_slots_are_those_of_each_prompt(text: str, profile: cuecard.Profile, times: int) -> None:
    """A column of tasks gives its keys as variables, as the operator path does."""
    column = pa.array(SLOTS * times)
    template = cuecard.Template(text, profile=profile)
    renderer = ColumnRenderer(template, slots="task")
    rows = [cuecard.slots_from_prompt(prompt) for prompt in SLOTS]
    expected = [outcome(template, row) for row in rows] * times
    assert outcomes(renderer.render(pa.table({"task": column}))) == expected


@pytest.mark.parametrize(
    "column",
    [
        pa.array([{"directive": "a", "n": 1}, None, {"directive": "b", "n": None}]),
        pa.array([[("directive", "a")], None, [("n", "b")]], pa.map_(pa.string(), pa.string())),
        pa.array([1, None, 2]),
        pa.array([{"directive": f"{i}", "n": i} for i in range(3_000)]),
    ],
    ids=["structs", "maps", "numbers", "many"],
)
def test_slots_of_other_types(column: pa.Array) -> None:
    """Structs and maps are mappings of slots, anything else is the directive."""
    table = pa.table({"task": column})
    template = cuecard.Template("{{ directive }} {{ n is defined }} {{ n | default(0) }}.")
    rows = [cuecard.slots_from_prompt(row["task"]) for row in rows_of(table)]
    expected = [outcome(template, row) for row in rows]
    assert outcomes(ColumnRenderer(template, slots="task").render(table)) == expected


def test_columns_override_slots_and_slots_override_the_context() -> None:
    """Only named columns join the slots; the context fills what a row does not give."""
    table = pa.table(
        {"task": ['{"a": "slot", "b": "slot"}', "{}"], "b": ["b", "b"], "c": ["x"] * 2}
    )
    renderer = ColumnRenderer(
        "{{ a }} {{ b }} {{ c }}",
        slots="task",
        columns={"b": "b"},
        context={"a": "all", "b": "all", "c": "all"},
    )
    assert renderer.needed == frozenset({"task", "b"})
    assert renderer.render(table).prompt.to_pylist() == ["slot b all", "all b all"]


# binding ------------------------------------------------------------------------------------------


def test_needed_columns() -> None:
    """A reader of files has to read no other columns."""
    renderer = ColumnRenderer("{{ a }}{{ b }}", columns={"a": "the a", "z": "other"})
    assert renderer.needed == frozenset({"the a", "b"})


REFUSED: list[tuple[str, dict[str, Any], list[str], str, str | None]] = [
    ("{{ directve }}", {}, ["directive"], "P201", "Did you mean `directive`?"),
    ("{{ a }}", {"columns": {"a": "tsk"}}, ["task"], "P710", "Did you mean `task`?"),
    ("{{ a }}", {"slots": "tsk"}, ["task"], "P710", "Did you mean `task`?"),
    ("{{ a }}", {}, ["a", "a"], "P710", None),
    ("{{ a }}", {"columns": {"a": "b"}}, ["b", "b"], "P710", None),
]


@pytest.mark.parametrize(("text", "options", "names", "code", "hint"), REFUSED)
def test_what_fails_in_every_row_is_refused_before(
    text: str, options: dict[str, Any], names: list[str], code: str, hint: str | None
) -> None:
    """A column that is missing is named, with the nearest one, before any row is rendered."""
    schema = pa.schema([(name, pa.string()) for name in names])
    with pytest.raises(cuecard.PromptError) as caught:
        ColumnRenderer(text, **options).check(schema)
    assert (caught.value.code, caught.value.hint) == (code, hint)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("{{ a }}", {"context": {"a": 1}}),
        ("{{ a | default('') }}", {}),
        ("{{ a }}", {"profile": cuecard.MARKDOWN}),
        ("{{ a }}", {"slots": "b"}),
    ],
)
def test_what_may_be_absent_is_no_reason_to_refuse(text: str, options: dict[str, Any]) -> None:
    """Shared values, guarded names and lenient profiles need no column."""
    ColumnRenderer(text, **options).check(pa.schema([("b", pa.string())]))


def test_columns_override_the_context() -> None:
    """A value for all rows gives way to a column of its name."""
    made = ColumnRenderer("{{ a }}{{ b }}", context={"a": 1, "b": [2]}).render(
        pa.record_batch({"a": ["x", None]})
    )
    assert made.prompt.to_pylist() == ["x[2]", "[2]"]


def test_a_context_that_is_no_plain_data_is_refused() -> None:
    """It would fail in every row."""
    with pytest.raises(cuecard.ContextError, match=r"\$\.a"):
        ColumnRenderer("{{ a }}", context={"a": iter(())})


def test_a_bound_template_is_refused() -> None:
    """What was bound is given as the context instead."""
    with pytest.raises(TypeError, match="context"):
        ColumnRenderer(cuecard.Template("{{ a }}").bind({"a": 1}))


# failures -----------------------------------------------------------------------------------------


def test_an_invalid_template_under_a_profile_with_fallback() -> None:
    """Each row has the error, and the template as it stands."""
    made = ColumnRenderer("{% if %}", profile=cuecard.LIVE, front=True, counter="estimate").render(
        pa.record_batch({"a": [1, 2]})
    )
    assert made.prompt.to_pylist() == ["{% if %}"] * 2
    assert [error["code"] for error in made.error.to_pylist()] == ["P101"] * 2
    assert (made.failed, made.choices) == (2, ())
    with pytest.raises(cuecard.TemplateSyntaxError):
        ColumnRenderer("{% if %}")


def broken_texts() -> pa.Array:
    """Text columns of Parquet files are not checked when they are read."""
    raw = pa.array([b"fine", b"\xff", None], pa.binary())
    return pa.Array.from_buffers(pa.string(), 3, raw.buffers())


UNREADABLE = [
    (broken_texts(), "P705"),
    (pa.ListArray.from_arrays(pa.array([0, 1, 2, 3]), broken_texts()), "P705"),
    (pa.array([0, 2**40, None], pa.timestamp("s")), "P701"),
    (pa.array([0, 2**40, None], pa.timestamp("s", "Europe/Oslo")), "P701"),
    (pa.array([0, 2**30, None], pa.date32()), "P701"),
    (pa.array([[0], [2**30], None], pa.list_(pa.date32())), "P701"),
]


@pytest.mark.parametrize("text", ["a{{ x }}", "a{{ x | tojson }}", "a{% if b %}{{ x }}{% endif %}"])
@pytest.mark.parametrize(("array", "code"), UNREADABLE, ids=range(len(UNREADABLE)))
def test_a_value_that_cannot_be_read_fails_its_row_alone(
    array: pa.Array, code: str, text: str
) -> None:
    """Its error says which variable, and never holds the value."""
    table = pa.table({"x": array, "b": [None] * 3})
    made = ColumnRenderer(text).render(table)
    first, second, third = outcomes(made)
    assert first[1] is None
    assert third[1] is None
    assert second[0] is None
    assert second[1] is not None
    assert second[1][0] == code
    assert "$.x" in second[1][1]


def test_the_limit_on_the_output_is_that_of_the_sum() -> None:
    """Characters count, not bytes, and those of all segments together."""
    profile = cuecard.Profile(limits=cuecard.Limits(output=6))
    table = pa.table({"a": ["xx", "xxx", "\u00e9\u00e9", "\u65e5\u65e5\u65e5"], "b": ["yy"] * 4})
    renderer = check("12{{ a }}{{ b }}", table, profile=profile)
    assert renderer.render(table).failed == 2


def test_a_row_that_needs_more_than_its_share_of_fuel_renders_as_a_whole() -> None:
    """Each segment has but a share of the fuel, and the row is rendered again if that fails."""
    block = "{% for i in range(n) %}{{ i }}{% endfor %}"
    profile = cuecard.Profile(limits=cuecard.Limits(fuel=1_000))
    table = pa.table({"n": [1, 60, 90, 400, 60]})
    renderer = check(f"{block} and {{% if n > 0 %}}{block}{{% endif %}}", table, profile=profile)
    errors = renderer.render(table).error.to_pylist()
    assert [error and error["code"] for error in errors][3] == "P114"
    assert renderer.render(table).failed < 4


def test_failures_alike_are_explained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that hold the same fail alike: explaining a failure takes long."""
    from cuecard.batch.columns.failures import WholeRows

    calls = []
    explain = WholeRows.outcome

    def counted(self: Any, row: Any) -> Any:
        calls.append(row)
        return explain(self, row)

    monkeypatch.setattr(WholeRows, "outcome", counted)
    made = ColumnRenderer("{{ d.zz }}").render(pa.table({"d": [{"k": 1}, {"k": 2}] * 50}))
    assert (made.failed, len(calls)) == (100, 2)


# counts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["estimate", "quicktok"])
@pytest.mark.parametrize("profile", [cuecard.STRICT, cuecard.MARKDOWN], ids=lambda p: p.name)
@pytest.mark.parametrize(
    "text",
    [
        "You are {{ role }} of {{ agent }}.\n{{ task | upper }} {{ tools[0].zz }}\n \n",
        "{{ agent }} for all \n",
        "{{ agent }}\n{% if notes %}{{ notes }}{% endif %}",
        "{{ task }}",
        "  \n{{ notes }}",
    ],
)
def test_tokens_and_fronts_are_those_of_each_prompt(
    text: str, profile: cuecard.Profile, name: str
) -> None:
    """They are what a traced render of the row says; a row without a prompt has neither."""
    scopes = {"role": cuecard.Scope.SESSION, "agent": cuecard.Scope.STATIC}
    counter = find_counter(name)
    options: dict[str, Any] = {"profile": profile, "context": {"agent": "Argus"}}
    made = ColumnRenderer(text, scopes=scopes, counter=name, front=True, **options).render(TASKS)
    template = cuecard.Template(text, profile=profile, scopes=scopes)
    expected: list[tuple[int | None, int | None]] = []
    for row in rows_of(TASKS):
        try:
            prompt = template.trace({"agent": "Argus", **row}).with_counter(counter)
        except cuecard.PromptError:
            expected.append((None, None))
            continue
        expected.append((counter(prompt.text), prompt.cacheable_prefix.characters))
    assert made.tokens is not None
    assert made.front is not None
    assert list(zip(made.tokens.to_pylist(), made.front.to_pylist(), strict=True)) == expected


def test_any_counter() -> None:
    """A counter may be an object; nothing is counted unless it is asked for."""
    counter = TokenCounter("words", lambda text: len(text.split()), exact=True)
    made = ColumnRenderer("{{ task }} now", counter=counter).render(TASKS)
    assert made.tokens is not None
    assert made.tokens.to_pylist() == [3] * 8
    assert made.front is None
    assert ColumnRenderer("{{ task }}").render(TASKS).tokens is None


# partials -----------------------------------------------------------------------------------------


def test_a_template_with_partials_renders_once_a_combination(tmp_path: Path) -> None:
    """It is one segment; a partial that changes is seen at the next part."""
    partial = tmp_path / "role.md"
    partial.write_text("[{{ role }}]", encoding="utf-8")
    folder = cuecard.Folder(tmp_path)
    renderer = ColumnRenderer("{% include 'role.md' %}", partials=folder)
    made = renderer.render(TASKS)
    assert made.prompt.to_pylist() == ["[tester]", "[writer]", "[tester]", "[]"] * 2
    assert [(choice.way, choice.rendered) for choice in made.choices] == [("distinct", 3)]
    assert renderer.needed == frozenset({"role"})
    partial.write_text("<{{ role }} {{ task }}>", encoding="utf-8")
    assert renderer.render(TASKS).prompt[0].as_py() == "<tester task 0>"
    again = pickle.loads(pickle.dumps(renderer))
    assert again.render(TASKS).prompt[1].as_py() == "<writer task 1>"


def test_a_computed_partial_may_read_any_column(tmp_path: Path) -> None:
    """Then all columns are read."""
    for name in ("tester", "writer"):
        (tmp_path / name).write_text(f"{name}: {{{{ task }}}}", encoding="utf-8")
    table = TASKS.select(["role", "task"])
    template = cuecard.Template("{% include role %}", partials=cuecard.Folder(tmp_path))
    renderer = ColumnRenderer(template)
    assert renderer.needed is None
    assert outcomes(renderer.render(table)) == looped(template, table)


# tables, streams, processes, threads --------------------------------------------------------------


@pytest.mark.parametrize("table", [TASKS.slice(0, 0), pa.table({"role": []}), TASKS.schema])
@pytest.mark.parametrize("text", ["text", "{{ role }}", "a{{ role | upper }}\n"])
def test_empty_tables(table: Any, text: str) -> None:
    """No rows give no prompts, of the same types."""
    if isinstance(table, pa.Schema):
        table = pa.RecordBatch.from_pylist([], table)
    for profile in (cuecard.STRICT, cuecard.MARKDOWN):
        made = ColumnRenderer(text, profile=profile, front=True, counter="estimate").render(table)
        assert (len(made), made.failed) == (0, 0)
        assert (made.prompt.type, made.error.type) == (pa.large_string(), ROW_ERROR)
        assert made.tokens is not None
        assert made.front is not None
        assert (made.tokens.type, made.front.type) == (pa.int64(), pa.int64())


def test_pickles_by_value() -> None:
    """Another process makes its own from the template's text."""
    renderer = ColumnRenderer(
        "{{ role }} {{ who }} {{ x }}",
        columns={"x": "task"},
        context={"who": "Argus"},
        profile=cuecard.MARKDOWN,
        counter="estimate",
        front=True,
    )
    again = pickle.loads(pickle.dumps(renderer))
    first, second = renderer.render(TASKS), again.render(TASKS)
    assert outcomes(first) == outcomes(second)
    assert (first.tokens, first.front) == (second.tokens, second.front)
    assert again.summary().as_dict() == renderer.summary().as_dict()


def test_threads_share_a_renderer() -> None:
    """Each has its own rows."""
    text = f"{{{{ task | upper }}}} {TOOLS} {{{{ role | default('-') }}}}"
    template = cuecard.Template(text)
    renderer = ColumnRenderer(template)
    tables = [
        pa.table(
            {**{n: TASKS[n] for n in ("role", "tools")}, "task": [f"{i} {j}" for j in range(8)]}
        )
        for i in range(40)
    ]
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(renderer.render, tables))
    assert list(map(outcomes, made)) == [looped(template, table) for table in tables]


def test_a_stream_keeps_every_column() -> None:
    """Batches go in and come out one at a time, with prompts and errors beside their rows."""
    taken: list[int] = []

    def batches() -> Any:
        for number, batch in enumerate(TASKS.to_batches(max_chunksize=3)):
            taken.append(number)
            yield batch

    stream = render_batches(batches(), "{{ tools[0].n + 1 }}", prompt="text", max_bytes=2)
    assert taken == []
    first = next(stream)
    assert taken == [0]
    rest = list(stream)
    table = pa.Table.from_batches([first, *rest])
    assert table.column_names == [*TASKS.column_names, "text", "error"]
    assert table.select(TASKS.column_names).equals(TASKS)
    assert table["text"].to_pylist() == ["2", None] * 4
    assert [error and error["code"] for error in table["error"].to_pylist()] == [None, "P203"] * 4


def test_a_stream_counts_what_its_renderer_counts() -> None:
    """A renderer of one's own may be given, which then says how segments were made."""
    renderer = ColumnRenderer("a{{ task }}", counter="estimate", front=True)
    table = pa.Table.from_batches(render_batches(TASKS.to_batches(), renderer, tokens="n"))
    assert table.column_names[-3:] == ["error", "n", "front"]
    assert table["front"].to_pylist() == [1] * 8
    assert renderer.summary().segments[2].ways == {"column": 1}


@pytest.mark.parametrize(
    ("options", "code"), [({"prompt": "task"}, "P708"), ({"columns": {"role": "rôle"}}, "P710")]
)
def test_a_stream_that_cannot_be_rendered_is_refused(options: dict[str, Any], code: str) -> None:
    """Before any row: a column that would be overwritten, or one that is missing."""
    with pytest.raises(cuecard.ContextError) as caught:
        next(render_batches(TASKS.to_batches(), "{{ role }}", **options))
    assert caught.value.code == code


def test_long_texts_come_in_slices() -> None:
    """Prompts of a megabyte do not all exist at once, whatever the size of the table."""
    table = pa.table({"text": ["x" * 1_000_000] * 20})
    made = list(ColumnRenderer("{{ text }}!").slices(table, max_bytes=3_000_100))
    assert [len(one) for one in made] == [3] * 6 + [2]
    assert max(one.prompt.nbytes for one in made) < 3_001_000


def test_printing_takes_fuel_too() -> None:
    """The engine charges for text by its length, whoever puts it together."""
    profile = cuecard.Profile(limits=cuecard.Limits(fuel=200))
    table = pa.table({"text": ["x" * size for size in (10, 1_000, 4_000, 9_000, 20_000)]})
    renderer = check("a{{ text }}{% if text %}{{ text }}{% endif %}", table, profile=profile)
    assert 0 < renderer.render(table).failed < 4

"""Batches over files: formats, columns, parts, rows that fail, and input that is broken."""

from __future__ import annotations

import datetime
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cuecard
from cuecard.batch.tables.lines import chunks_of

from .batch_tables import batch, codes, prompts, read_rows, write_lines, write_parquet

TASKS = [{"name": f"n{number}", "number": number} for number in range(10)]
TEMPLATE = "{{ name }}: {{ number }}"
PROMPTS = [f"n{number}: {number}" for number in range(10)]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    if path.suffix == ".parquet":
        write_parquet(path, rows)
    elif path.suffix == ".csv":
        names = list(rows[0])
        lines = [",".join(names), *(",".join(str(row[name]) for name in names) for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        write_lines(path, rows)


class TestFormats:
    @pytest.mark.parametrize("source", ["parquet", "jsonl", "csv"])
    @pytest.mark.parametrize("target", ["parquet", "jsonl", "csv"])
    def test_each_to_each(self, source: str, target: str, tmp_path: Path) -> None:
        """Every input column is kept, in order, with the prompt and no error."""
        write(tmp_path / f"tasks.{source}", TASKS)
        output = tmp_path / f"out.{target}"
        result = batch(TEMPLATE, tmp_path / f"tasks.{source}", output)
        assert (result.ok, result.rows, result.written, result.failed) == (True, 10, 10, 0)
        rows = read_rows(output)
        assert [list(row) for row in rows] == [["name", "number", "prompt", "error"]] * 10
        assert [row["name"] for row in rows] == [task["name"] for task in TASKS]
        assert [int(row["number"]) for row in rows] == list(range(10))
        assert [row["prompt"] for row in rows] == PROMPTS
        assert {row["error"] for row in rows} == {None}

    @pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv"])
    def test_a_folder_gives_a_folder(self, ending: str, tmp_path: Path) -> None:
        """Parts are named after the files of the input, and have its format."""
        (tmp_path / "in" / "deep").mkdir(parents=True)
        write(tmp_path / "in" / f"b.{ending}", TASKS[4:])
        write(tmp_path / "in" / "deep" / f"a.{ending}", TASKS[:4])
        (tmp_path / "in" / "notes.txt").write_text("not a table")
        (tmp_path / "in" / f"_hidden.{ending}").write_text("nor this")
        result = batch(TEMPLATE, tmp_path / "in", tmp_path / "out")
        assert (result.ok, result.of) == (True, 2)
        assert prompts(tmp_path / "out" / f"b.{ending}") == PROMPTS[4:]
        assert prompts(tmp_path / "out" / "deep" / f"a.{ending}") == PROMPTS[:4]

    def test_a_glob(self, tmp_path: Path) -> None:
        """Of a glob, the files that match are the input."""
        for name in ("a", "b", "c"):
            write(tmp_path / f"{name}.jsonl", [{"name": name, "number": 1}])
        result = batch(TEMPLATE, tmp_path / "[ab].jsonl", tmp_path / "out")
        assert result.of == 2
        assert prompts(tmp_path / "out") == ["a: 1", "b: 1"]

    def test_several_files_into_one(self, tmp_path: Path) -> None:
        """One output file holds the rows of all parts in the order of the input."""
        for ending in ("parquet", "jsonl", "csv"):
            folder = tmp_path / ending
            folder.mkdir()
            write(folder / f"1.{ending}", TASKS[:3])
            write(folder / f"2.{ending}", TASKS[3:])
            for target in ("parquet", "jsonl", "csv"):
                output = tmp_path / f"{ending}.{target}"
                assert batch(TEMPLATE, folder, output).ok
                assert prompts(output) == PROMPTS

    def test_csv_is_text_as_it_is_written(self, tmp_path: Path) -> None:
        """A cell is text, whatever it looks like; only an empty one without quotes is null."""
        (tmp_path / "t.csv").write_bytes(
            b'\xef\xbb\xbfcode,day,word\r\n007,2024-01-01,"a\r\nb, ""c"""\r\n'
            b'1.50,NA,\r\n"",x,""\r\n'
        )
        template = "{{ code }}|{{ day }}|{{ word }}|{{ word is none }}"
        assert batch(template, tmp_path / "t.csv", tmp_path / "out.jsonl").ok
        assert prompts(tmp_path / "out.jsonl") == [
            '007|2024-01-01|a\r\nb, "c"|False',
            "1.50|NA||True",
            "|x||False",
        ]

    def test_lines_keep_texts_that_look_like_times(self, tmp_path: Path) -> None:
        """JSON has no times: a text is printed as it stands."""
        write_lines(tmp_path / "t.jsonl", [{"day": "2024-01-01 10:00:00"}, {"day": "2024-1-1"}])
        assert batch("{{ day }}", tmp_path / "t.jsonl", tmp_path / "out.parquet").ok
        assert prompts(tmp_path / "out.parquet") == ["2024-01-01 10:00:00", "2024-1-1"]

    def test_columns_that_appear_late(self, tmp_path: Path) -> None:
        """Every line of JSON Lines is looked at for its columns; absent values are null."""
        rows: list[dict[str, Any]] = [{"a": 1}] * 1000
        rows.append({"a": 2.5, "b": {"c": ["x"]}})
        write_lines(tmp_path / "t.jsonl", rows)
        result = batch(
            "{{ a }}{{ b.c[0] if b else '' }}",
            tmp_path / "t.jsonl",
            tmp_path / "o.parquet",
            part_rows=300,
        )
        assert (result.ok, result.of) == (True, 1)
        assert prompts(tmp_path / "o.parquet")[-2:] == ["1.0", "2.5x"]
        assert read_rows(tmp_path / "o.parquet")[0]["b"] is None

    def test_values_of_each_type(self, tmp_path: Path) -> None:
        """Lists, structs and maps are lists and mappings, times are ISO text, null is null."""
        when = datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.UTC)
        kinds = {
            "tags": pa.list_(pa.string()),
            "user": pa.struct([("name", pa.string()), ("age", pa.int8())]),
            "extra": pa.map_(pa.string(), pa.int64()),
            "when": pa.timestamp("ns", "UTC"),
            "day": pa.date32(),
            "price": pa.decimal128(6, 2),
            "word": pa.dictionary(pa.int32(), pa.string()),
            "nothing": pa.null(),
        }
        row = {
            "tags": ["a", None],
            "user": {"name": "Ann", "age": 7},
            "extra": [("k", 1)],
            "when": when,
            "day": when.date(),
            "price": Decimal("1.50"),
            "word": "w",
            "nothing": None,
        }
        write_parquet(tmp_path / "t.parquet", [row, dict.fromkeys(row)], pa.schema(kinds.items()))
        template = (
            "{{ tags | tojson }} {{ user | tojson }} {{ extra | tojson }} {{ when }} {{ day }} "
            "{{ price }} {{ word }} {{ nothing is none }}"
        )
        for ending in ("parquet", "jsonl", "csv"):
            output = tmp_path / f"out.{ending}"
            assert batch(template, tmp_path / "t.parquet", output).ok
            first, second = prompts(output)
            assert first == (
                '["a", null] {"name": "Ann", "age": 7} {"k": 1} 2024-02-29T12:30:00Z 2024-02-29 '
                "1.50 w True"
            )
            assert second == "null null null     True"
        told = read_rows(tmp_path / "out.jsonl")[0]
        assert (told["extra"], told["user"]) == ({"k": 1}, row["user"])
        assert json.loads(read_rows(tmp_path / "out.csv")[0]["user"]) == row["user"]

    def test_structs_without_fields(self, tmp_path: Path) -> None:
        """An empty JSON object, for which Parquet has no form, is kept as JSON."""
        write_lines(tmp_path / "t.jsonl", [{"a": {}, "b": [{}]}, {"a": None, "b": None}])
        assert batch("{{ a }}", tmp_path / "t.jsonl", tmp_path / "o.parquet").ok
        assert [(row["a"], row["b"]) for row in read_rows(tmp_path / "o.parquet")] == [
            ("{}", "[{}]"),
            (None, None),
        ]


class TestParts:
    def test_one_file_is_divided(self, tmp_path: Path) -> None:
        """Row groups are put together up to the size of a part, or divided; rows keep order."""
        write_parquet(tmp_path / "t.parquet", TASKS, group=3)
        for part_rows, parts in ((1, 12), (2, 7), (3, 4), (6, 2), (100, 1)):
            output = tmp_path / f"out-{part_rows}"
            result = batch(TEMPLATE, tmp_path / "t.parquet", output, part_rows=part_rows)
            assert prompts(output) == PROMPTS
            assert result.of <= parts

    @pytest.mark.parametrize(
        ("files", "parts"),
        [([1024], 1), ([5000], 5), ([30_000], 8), ([1500] * 20, 20), ([9000, 10], 6)],
        ids=["few rows", "one file", "more rows", "many files", "one large file"],
    )
    def test_few_rows_are_divided(self, files: list[int], parts: int, tmp_path: Path) -> None:
        """There is work for several processors, and no file is divided without need."""
        for number, rows in enumerate(files):
            table = pa.table({"x": range(rows)})
            (tmp_path / "in").mkdir(exist_ok=True)
            pq.write_table(table, tmp_path / "in" / f"{number:02}.parquet")
        result = batch("{{ x }}", tmp_path / "in", tmp_path / "out")
        assert (result.rows, result.of) == (sum(files), parts)
        expected = [str(row) for rows in files for row in range(rows)]
        assert prompts(tmp_path / "out") == expected

    @given(st.lists(st.integers(1, 7), min_size=1, max_size=5), st.integers(1, 8))
    @settings(max_examples=15)
    def test_division_loses_no_row(
        self, tmp_path_factory: pytest.TempPathFactory, groups: list[int], part_rows: int
    ) -> None:
        """However long row groups and parts are, each row is rendered once, and in order."""
        folder = tmp_path_factory.mktemp("parts")
        schema = pa.schema([("x", pa.int64())])
        with pq.ParquetWriter(folder / "t.parquet", schema) as writer:
            first = 0
            for rows in groups:
                writer.write_table(pa.table({"x": range(first, first + rows)}, schema))
                first += rows
        result = batch("{{ x }}", folder / "t.parquet", folder / "out", part_rows=part_rows)
        assert prompts(folder / "out") == [str(row) for row in range(first)]
        assert result.rows == first

    def test_lines_are_divided(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file of lines is cut between lines; blank ones are no rows."""
        monkeypatch.setattr("cuecard.batch.tables.lines._CHUNK", 64)
        text = "\n\n".join(map(json.dumps, TASKS))
        (tmp_path / "t.jsonl").write_text(text.rstrip("\n"))
        result = batch(TEMPLATE, tmp_path / "t.jsonl", tmp_path / "out", part_rows=3)
        assert result.of > 1
        assert prompts(tmp_path / "out") == PROMPTS

    @given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line)))
    def test_chunks_hold_each_line_once(self, lines: list[bytes]) -> None:
        """The lines of all chunks are those of the file that are not blank."""
        import io

        data = b"\n".join(lines)
        found = [line for chunk in chunks_of(io.BytesIO(data)) for line in chunk.lines]
        bare = data.removeprefix(b"\xef\xbb\xbf")
        assert found == [x for x in bare.split(b"\n") if x and not x.isspace()]

    @pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv"])
    def test_limit(self, ending: str, tmp_path: Path) -> None:
        """The first rows of the input are rendered, whatever parts they are in."""
        (tmp_path / "in").mkdir()
        write(tmp_path / "in" / f"1.{ending}", TASKS[:4])
        write(tmp_path / "in" / f"2.{ending}", TASKS[4:8])
        write(tmp_path / "in" / f"3.{ending}", TASKS[8:])
        result = batch(TEMPLATE, tmp_path / "in", tmp_path / "out", limit=6)
        assert (result.rows, result.of) == (6, 2)
        assert prompts(tmp_path / "out") == PROMPTS[:6]

    def test_names_that_would_be_one(self, tmp_path: Path) -> None:
        """Files whose names differ by their ending alone have parts of their own."""
        write(tmp_path / "in" / "a.jsonl", TASKS[:1])
        write(tmp_path / "in" / "a.ndjson", TASKS[1:2])
        assert batch(TEMPLATE, tmp_path / "in", tmp_path / "out").of == 2
        assert sorted(map(str, prompts(tmp_path / "out"))) == PROMPTS[:2]


class TestOptions:
    def test_columns_slots_and_counts(self, tmp_path: Path) -> None:
        """Columns are mapped, tasks are unpacked, tokens and fronts are counted."""
        write_lines(tmp_path / "t.jsonl", [{"who": "Ann"}, {"who": "Bob and more"}])
        batch(
            "Hello {{ name }}",
            tmp_path / "t.jsonl",
            tmp_path / "a.jsonl",
            columns={"name": "who"},
            column="system",
            tokens="estimate",
        )
        rows = read_rows(tmp_path / "a.jsonl")
        assert [(r["system"], r["tokens"], r["front"]) for r in rows] == [
            ("Hello Ann", 3, 6),
            ("Hello Bob and more", 5, 6),
        ]
        write_lines(tmp_path / "s.jsonl", [{"task": '{"directive": "go", "n": 1}'}, {"task": "x"}])
        template = "{{ directive }}{{ n if n is defined }}"
        batch(template, tmp_path / "s.jsonl", tmp_path / "b.jsonl", slots="task")
        assert prompts(tmp_path / "b.jsonl") == ["go1", "x"]

    def test_context_of_all_rows(self, tmp_path: Path) -> None:
        """A value may be given for all rows; a column of its name overrides it."""
        write_lines(tmp_path / "t.jsonl", TASKS[:2])
        given = {"name": "none", "place": "here"}
        batch("{{ name }} {{ place }}", tmp_path / "t.jsonl", tmp_path / "o.jsonl", context=given)
        assert prompts(tmp_path / "o.jsonl") == ["n0 here", "n1 here"]

    def test_keep_drop_and_stop(self, tmp_path: Path) -> None:
        """A row that fails is kept without a prompt, left out, or leaves its part unwritten."""
        write_parquet(tmp_path / "t.parquet", TASKS, group=5)
        template = "{{ name }}{% if number in (2, 3) %}{{ 1 / 0 }}{% endif %}"
        for on_error, rows in (("keep", 10), ("drop", 8), ("stop", 0)):
            output = tmp_path / f"{on_error}"
            result = batch(template, tmp_path / "t.parquet", output, on_error=on_error, part_rows=5)
            assert (result.failed, result.written) == (2, rows)
            assert result.ok == (on_error != "stop")
            assert result.stopped == (on_error == "stop")
            assert len(read_rows(output)) == rows
        assert codes(tmp_path / "keep")[:5] == [None, None, "P203", "P203", None]
        assert prompts(tmp_path / "keep")[1:4] == ["n1", None, None]
        assert prompts(tmp_path / "drop") == [f"n{n}" for n in range(10) if n not in (2, 3)]

    def test_summary_of_failures(self, tmp_path: Path) -> None:
        """Failures are counted by code, and the first three rows of each are named."""
        rows = [{"x": "secret" if number % 2 else 1, "n": number} for number in range(20)]
        for row in rows:
            row["x"] = str(row["x"])
        write_parquet(tmp_path / "t.parquet", rows, group=6)
        result = batch(
            "{% if x == 'secret' %}{{ x + 1 }}{% endif %}",
            tmp_path / "t.parquet",
            tmp_path / "out",
            part_rows=6,
        )
        assert result.codes == {"P203": 10}
        assert [(s.file, s.row) for s in result.samples["P203"]] == [
            ("t.parquet", 2),
            ("t.parquet", 4),
            ("t.parquet", 6),
        ]
        assert "secret" not in str(result)
        assert "secret" not in str([row["error"] for row in read_rows(tmp_path / "out")])

    def test_choices_are_told(self, tmp_path: Path) -> None:
        """For each segment the result says in which way it was rendered, over all parts."""
        write_parquet(tmp_path / "t.parquet", [{**task, "same": "s"} for task in TASKS], group=5)
        result = batch(
            "a {{ name }} {% for c in same %}{{ c }}{% endfor %}",
            tmp_path / "t.parquet",
            tmp_path / "out",
            part_rows=5,
        )
        ways = {s.number: (s.kind, sorted(s.ways), s.rows, s.variables) for s in result.segments}
        assert ways[1] == ("text", ["literal"], 10, ())
        assert ways[2] == ("output", ["column"], 10, ("name",))
        assert ways[4] == ("block", ["distinct"], 10, ("same",))

    def test_all_rows_failed(self, tmp_path: Path) -> None:
        """A batch of which nothing is left is no success."""
        write_lines(tmp_path / "t.jsonl", TASKS[:2])
        result = batch("{{ 1 / 0 }}", tmp_path / "t.jsonl", tmp_path / "o.jsonl")
        assert (result.ok, result.failed) == (False, 2)
        assert prompts(tmp_path / "o.jsonl") == [None, None]

    def test_a_lenient_profile(self, tmp_path: Path) -> None:
        """Under the profile `live` a row that fails has its error, and the template's text."""
        write_lines(tmp_path / "t.jsonl", TASKS[:2])
        template = cuecard.Template("{{ number / number }}", profile=cuecard.LIVE)
        batch(template, tmp_path / "t.jsonl", tmp_path / "o.jsonl")
        assert prompts(tmp_path / "o.jsonl") == ["{{ number / number }}", "1.0"]
        assert codes(tmp_path / "o.jsonl") == ["P203", None]


def parquet_without_its_end(path: Path) -> None:
    write_parquet(path, TASKS)
    os.truncate(path, path.stat().st_size - 20)


def parquet_with_a_broken_page(path: Path) -> None:
    write_parquet(path, [{"name": os.urandom(40).hex(), "number": n} for n in range(1000)])
    data = bytearray(path.read_bytes())
    data[len(data) // 4 : len(data) // 2] = b"\0" * (len(data) // 2 - len(data) // 4)
    path.write_bytes(data)


BROKEN: dict[str, tuple[str, Any, str, str]] = {
    # the ending of the file, how it is made, and the code and words of its fault
    "no end": ("parquet", parquet_without_its_end, "P823", "no Parquet, or is damaged"),
    "a page": ("parquet", parquet_with_a_broken_page, "P823", "the file is damaged"),
    "no table": ("parquet", b"hello", "P823", "no Parquet"),
    "empty": ("parquet", b"", "P823", "no Parquet"),
    "another type": ("parquet", [{"name": 1, "number": 1}], "P822", "column `name` is `int64`"),
    "no column": ("parquet", [{"name": "x"}], "P201", "number"),
    "twice": ("csv", b"name,number,name\n1,2,3\n", "P823", "column `name` is there twice"),
    "header": ("csv", b"na\xffme,number\n1,2\n", "P802", "header is not UTF-8"),
    "csv without": ("csv", b"name\n1\n", "P201", "number"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files(case: str, tmp_path: Path) -> None:
    """A file that is broken is told, and the others are rendered all the same."""
    ending, content, code, words = BROKEN[case]
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / f"1.{ending}", TASKS[:5])
    broken = tmp_path / "in" / f"2.{ending}"
    if callable(content):
        content(broken)
    elif isinstance(content, bytes):
        broken.write_bytes(content)
    else:
        write(broken, content)
    write(tmp_path / "in" / f"3.{ending}", TASKS[5:])
    result = batch(TEMPLATE, tmp_path / "in", tmp_path / "out")
    assert not result.ok
    ((name, found),) = [(fault.name, fault) for fault in result.faults]
    assert name == f"2.{ending}"
    assert found.code == code
    assert words in found.message
    assert prompts(tmp_path / "out") == PROMPTS


BAD_ROWS: dict[str, tuple[str, bytes, list[str | None], dict[str, int]]] = {
    # the ending of the file, its bytes, the prompts, and how often each code
    "csv: not UTF-8": ("csv", b"a,b\n1,2\n\xff,3\n4,5\n", ["12", None, "45"], {"P802": 1}),
    "csv: cells": (
        "csv",
        b"a,b\n1\n1,2\n3,4,5\n6\n7,8\n9\n",
        [None, "12", None, None, "78", None],
        {"P827": 4},
    ),
    "csv: both": ("csv", b"a,b\n1\n\xff,2\n3,4\n", [None, None, "34"], {"P802": 1, "P827": 1}),
    "csv: only bad": ("csv", b"a,b\n1\n2\n", [None, None], {"P827": 2}),
    "lines: no JSON": (
        "jsonl",
        b'{"a":1,"b":2}\n{"a":\n{"a":3,"b":4}\n',
        ["12", None, "34"],
        {"P806": 1},
    ),
    "lines: two in one": (
        "jsonl",
        b'{"a":1,"b":2}{"a":1,"b":2}\n{"a":3,"b":4}\n',
        [None, "34"],
        {"P806": 1},
    ),
    "lines: no object": ("jsonl", b'[1]\n{"a":3,"b":4}\n5\n', [None, "34", None], {"P806": 2}),
    "lines: not UTF-8": (
        "jsonl",
        b'{"a":"x","b":2}\n{"a":"\xff","b":2}\n',
        ["x2", None],
        {"P802": 1},
    ),
    "lines: type": (
        "jsonl",
        b'{"a":1,"b":2}\n{"a":"x","b":2}\n{"a":2,"b":2}\n',
        ["12", None, "22"],
        {"P822": 1},
    ),
    "lines: end": ("jsonl", b'{"a":1,"b":2}\n\n{"a":3,', ["12", None], {"P806": 1}),
}


@pytest.mark.parametrize("case", BAD_ROWS)
@pytest.mark.parametrize("target", ["parquet", "jsonl"])
def test_broken_rows(case: str, target: str, tmp_path: Path) -> None:
    """A row that cannot be read is one failed row at its place, with its number."""
    ending, data, expected, counts = BAD_ROWS[case]
    (tmp_path / f"t.{ending}").write_bytes(data)
    output = tmp_path / f"out.{target}"
    result = batch("{{ a }}{{ b }}", tmp_path / f"t.{ending}", output)
    assert prompts(output) == expected
    assert result.codes == counts
    assert result.rows == len(expected)
    failed = [row + 1 for row, prompt in enumerate(expected) if prompt is None]
    told = [sample.row for samples in result.samples.values() for sample in samples]
    assert sorted(told) == failed[:3] if len(counts) == 1 else sorted(told) == failed


@given(
    st.lists(
        st.one_of(
            st.dictionaries(st.sampled_from("ab"), st.one_of(st.integers(-9, 9), st.text()))
            .map(json.dumps)
            .map(str.encode),
            st.binary(max_size=9).filter(lambda b: b"\n" not in b and not b.isspace() and b),
        ),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=40)
def test_any_lines_are_as_many_rows(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    """Whatever a file of lines holds, each line that is not blank is one row of the output."""
    folder = tmp_path_factory.mktemp("lines")
    (folder / "t.jsonl").write_bytes(b'{"a": 1, "b": "x"}\n' + b"\n".join(lines))
    kept = [line for line in lines if line.strip()]
    result = batch("hello", folder / "t.jsonl", folder / "out.parquet")
    assert result.rows == result.written == 1 + len(kept)


REFUSED: dict[str, tuple[str, dict[str, bytes], dict[str, Any], str, str]] = {
    # template, files, options, code, words
    "syntax": ("{{ name", {"in.csv": b"name\nx\n"}, {}, "P101", "closed"),
    "no file": ("x", {}, {}, "P801", "no such file"),
    "no rows": ("x", {"in.csv": b"name\n"}, {}, "P820", "no rows"),
    "nothing": ("x", {"in.csv": b""}, {}, "P820", "no rows"),
    "no lines": ("x", {"in.csv": b"\n\n"}, {}, "P820", "no rows"),
    "missing": ("{{ nmae }}", {"in.csv": b"name\nx\n"}, {}, "P201", "nmae"),
    "mapped": ("{{ x }}", {"in.csv": b"name\nx\n"}, {"columns": {"x": "nmae"}}, "P710", "nmae"),
    "slots": ("x", {"in.csv": b"name\nx\n"}, {"slots": "task"}, "P710", "task"),
    "counter": ("x", {"in.csv": b"name\nx\n"}, {"tokens": "abacus"}, "P809", "abacus"),
    "taken": ("x", {"in.csv": b"prompt\nx\n"}, {}, "P708", "`prompt`"),
    "error": ("x", {"in.csv": b"error\nx\n"}, {}, "P708", "`error`"),
    "twice": ("x", {"in.csv": b"a\nx\n"}, {"column": "error"}, "P708", "`error`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_before_any_row(case: str, tmp_path: Path) -> None:
    """What is wrong with all rows is told before one is rendered, and nothing is written."""
    template, files, options, code, words = REFUSED[case]
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(cuecard.PromptError, match=words) as caught:
        batch(template, tmp_path / "in.csv", tmp_path / "out", **options)
    assert caught.value.code.startswith(code)
    assert not (tmp_path / "out").exists()


def test_nearest_name(tmp_path: Path) -> None:
    """A column that is missing is told with the one that was meant."""
    write_lines(tmp_path / "t.jsonl", TASKS)
    with pytest.raises(cuecard.PromptError) as caught:
        batch("{{ nmae }}", tmp_path / "t.jsonl", tmp_path / "out")
    assert "`name`" in str(caught.value.hint)


def test_unknown_and_mixed_formats(tmp_path: Path) -> None:
    """A format that nothing tells, and several formats at once, are refused."""
    (tmp_path / "t.txt").write_text("x")
    with pytest.raises(cuecard.PromptError) as caught:
        batch("x", tmp_path / "t.txt", tmp_path / "out")
    assert caught.value.code == "P821"
    write(tmp_path / "in" / "a.jsonl", TASKS)
    write_parquet(tmp_path / "in" / "b.parquet", TASKS)
    with pytest.raises(cuecard.PromptError, match=r"several formats: `a\.jsonl`") as caught:
        batch("x", tmp_path / "in", tmp_path / "out")
    assert caught.value.code == "P822"


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_row_of_100_megabytes(ending: str, tmp_path: Path) -> None:
    """It fails by its own code, as it exceeds what a prompt may have; the others are rendered."""
    rows = [{"name": name} for name in ("a", "x" * 100_000_000, "b")]
    write(tmp_path / f"t.{ending}", rows)
    output = tmp_path / "out.parquet"
    result = batch("{{ name }}", tmp_path / f"t.{ending}", output)
    assert prompts(output) == ["a", None, "b"]
    assert result.codes == {"P114": 1}


def test_widened_types(tmp_path: Path) -> None:
    """Files whose numbers differ in kind have the kind that holds both, in prompts too."""
    write_parquet(tmp_path / "in" / "1.parquet", [{"x": 1}], pa.schema([("x", pa.int32())]))
    write_parquet(tmp_path / "in" / "2.parquet", [{"x": 2.5}], pa.schema([("x", pa.float64())]))
    write_parquet(
        tmp_path / "in" / "3.parquet",
        [{"x": 3, "y": "z"}],
        pa.schema([("x", pa.int64()), ("y", pa.string())]),
    )
    assert batch("{{ x }}", tmp_path / "in", tmp_path / "out").ok
    assert prompts(tmp_path / "out") == ["1.0", "2.5", "3.0"]
    assert [row["y"] for row in read_rows(tmp_path / "out")] == [None, None, "z"]


def test_prompts_are_those_of_single_renders(tmp_path: Path) -> None:
    """What a batch writes is what `Template.render` gives for each row."""
    template = "{% for x in xs %}{{ loop.index }}{{ x }}{% endfor %}{{ y or 'none' }}"
    rows = [{"xs": list(range(n % 4)), "y": None if n % 3 else f"<{n}>"} for n in range(50)]
    write_parquet(tmp_path / "t.parquet", rows, group=7)
    batch(template, tmp_path / "t.parquet", tmp_path / "out", part_rows=10)
    one = cuecard.Template(template)
    assert prompts(tmp_path / "out") == [one.render(row) for row in rows]

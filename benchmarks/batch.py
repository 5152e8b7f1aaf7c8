"""Measure how long a table of prompts takes: Parquet to Parquet, beside a loop over its rows.

Each way runs in a process of its own, over the same file, and writes all columns and the
prompts. Before anything is compared, the prompts of every way are held against cuecard's.
README.md says what the rows are.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from agent_prompt import TEMPLATE, notes, plan, stable_context
from charts import bars
from report import Goal, machine, number, table, versions, write_into

SHORT = """\
You are a {{ role }}.

Task: {{ task }}
{% if context -%}

Context: {{ context }}
{% endif -%}
Answer in one paragraph."""
"""White space is spelt out, so that it does not matter whether an engine trims blocks, and no
line break ends it, which Jinja2 would drop."""

QUIET = {"HAYSTACK_TELEMETRY_ENABLED": "False", "HF_HUB_OFFLINE": "1", "LANGSMITH_TRACING": "false"}
ROLES = ("reviewer", "tester", "technical writer", "release manager", "support engineer")
GROUP = 65_536
GIB = 1 << 30
MOST_BYTES = 2e9

KINDS = {"cuecard": "cuecard", "engine": "the engine's loop", "peer": "libraries"}


# tables -------------------------------------------------------------------------------------------


def short_rows(start: int, stop: int) -> pa.Table:
    """Few roles, a task that is always another, and a context for two rows in three."""
    rows = range(start, stop)
    return pa.table(
        {
            "role": [ROLES[row % len(ROLES)] for row in rows],
            "task": [f"Explain why build {row} of module {row * 7 % 1013} failed" for row in rows],
            "context": [
                f"It is attempt {row}, after {row % 9} days" if row % 3 else None for row in rows
            ],
        }
    )


def distinct_rows(start: int, stop: int) -> pa.Table:
    """The same, with no two values alike."""
    rows = range(start, stop)
    return (
        short_rows(start, stop)
        .set_column(
            0, "role", pa.array([f"{ROLES[row % len(ROLES)]} of team {row}" for row in rows])
        )
        .set_column(2, "context", pa.array([f"It is attempt {row}" for row in rows]))
    )


def realistic_rows(start: int, stop: int) -> pa.Table:
    """Rules, 10 skills and 15 tools that rows share, in three sets; the rest is always another."""
    sets = [stable_context(), stable_context(tools=14), stable_context(skills=9)]
    rows = [
        {
            **sets[row % len(sets)],
            "current_time": f"2026-11-30 {row // 3600 % 24:02}:{row // 60 % 60:02}:{row % 60:02}",
            "notes": f"{notes(row % 40)} Number {row}." if row % 20 else "",
            "plan": f"{plan(row % 90)}\n{row}" if row % 4 else "",
        }
        for row in range(start, stop)
    ]
    return pa.Table.from_pylist(rows)


TABLES: dict[str, tuple[str, Callable[[int, int], pa.Table]]] = {
    "short": (SHORT, short_rows),
    "distinct": (SHORT, distinct_rows),
    "realistic": (TEMPLATE, realistic_rows),
}


def write_table(path: Path, name: str, rows: int) -> None:
    step = GROUP if name != "realistic" else 1_000
    make = TABLES[name][1]
    first = make(0, min(step, rows))
    with pq.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for start in range(step, rows, step):
            writer.write_table(make(start, min(start + step, rows)).cast(first.schema))


# ways ---------------------------------------------------------------------------------------------


def batches(source: str, limit: int | None) -> Iterator[pa.RecordBatch]:
    left = limit if limit is not None else sys.maxsize
    for batch in pq.ParquetFile(source).iter_batches(GROUP if limit is None else min(limit, GROUP)):
        yield batch.slice(0, left)
        left -= len(batch)
        if left <= 0:
            return


def row_by_row(render: Callable[..., str], source: str, target: str, limit: int | None) -> None:
    """The loop that a script has: rows as dictionaries, a list of texts, a column."""
    writer = None
    for batch in batches(source, limit):
        texts = [render(**row) for row in batch.to_pylist()]
        made = batch.append_column("prompt", pa.array(texts, pa.large_string()))
        writer = writer or pq.ParquetWriter(target, made.schema)
        writer.write_batch(made)
    if writer is not None:
        writer.close()


def bare(text: str) -> Callable[..., str]:
    from minijinja import Environment

    environment = Environment(
        templates={"prompt": text},
        keep_trailing_newline=True,
        auto_escape_callback=lambda name: False,
        undefined_behavior="strict",
        fuel=1_000_000,
    )
    render = environment.render_template
    return lambda **row: render("prompt", **row)


def langchain(text: str) -> Callable[..., str]:
    from langchain_core.prompts import PromptTemplate

    return PromptTemplate.from_template(text, template_format="jinja2").format


def haystack(text: str) -> Callable[..., str]:
    from haystack.components.builders import PromptBuilder

    run = PromptBuilder(template=text, required_variables=[]).run
    return lambda **row: run(**row)["prompt"]


LOOPS = {"bare": bare, "langchain": langchain, "haystack": haystack}


def columns(text: str, source: str, target: str) -> None:
    """cuecard in the loop of a script."""
    from cuecard.batch import render_batches

    writer = None
    for made in render_batches(batches(source, None), text):
        made = made.drop_columns(["error"])
        writer = writer or pq.ParquetWriter(target, made.schema)
        writer.write_batch(made)
    if writer is not None:
        writer.close()


def memory_only(way: str, text: str, source: str) -> None:
    """Prompts as Arrow columns, and no file."""
    if way == "columns in memory":
        from cuecard.batch import ColumnRenderer

        renderer = ColumnRenderer(text)
        for batch in batches(source, None):
            for _ in renderer.slices(batch):
                pass
        return
    render = bare(text)
    for batch in batches(source, None):
        pa.array([render(**row) for row in batch.to_pylist()], pa.large_string())


def way_of(options: argparse.Namespace) -> Callable[[], Any]:
    """What one process does, ready to be timed; packages are imported before."""
    text, source, target = TABLES[options.table][0], options.source, options.target
    if options.way.endswith("in memory"):
        import cuecard.batch.columns

        return lambda: memory_only(options.way, text, source)
    if options.way in LOOPS:
        render = LOOPS[options.way](text)
        return lambda: row_by_row(render, source, target, options.limit)
    if options.way == "columns":
        import cuecard.batch.columns  # noqa: F401

        return lambda: columns(text, source, target)
    import daft  # noqa: F401

    from cuecard.batch import BatchOptions, render_files

    workers = int(options.way.rpartition(" ")[2])
    return lambda: render_files(text, source, target, BatchOptions(workers=workers))


# measuring ----------------------------------------------------------------------------------------


def descendants(pid: int) -> Iterator[int]:
    """A process and those that it started, as Linux tells."""
    yield pid
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in listed.read_text().split():
            yield from descendants(int(child))


def resident(pid: int) -> int:
    """Bytes of memory of a process and those that it started; what they share counts twice."""
    total = 0
    try:
        for one in descendants(pid):
            pages = int(Path(f"/proc/{one}/statm").read_text().split()[1])
            total += pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        pass  # One has just ended.
    return total


def run(table_name: str, way: str, source: Path, folder: Path, limit: int | None = None) -> Any:
    """One way in a process of its own: seconds, most memory, and where the prompts are."""
    ending = ".parquet" if way in LOOPS or way == "columns" else ""
    target = folder / f"prompts {len(list(folder.iterdir()))}{ending}"
    command = [sys.executable, __file__, "--way", way, "--table", table_name]
    command += ["--source", str(source), "--target", str(target)]
    command += [] if limit is None else ["--limit", str(limit)]
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **QUIET}) as child:
        done = threading.Event()

        def watch() -> None:
            nonlocal peak
            while not done.wait(0.02):
                peak = max(peak, resident(child.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        output, _ = child.communicate()
        done.set()
        watcher.join()
    if child.returncode:
        sys.exit(f"{way} failed over the table `{table_name}`")
    last = output.decode().splitlines()[-1]
    return {**json.loads(last), "peak": peak, "target": target}


def prompts(target: Path) -> pa.ChunkedArray:
    found = pq.read_table(target, columns=["prompt"])["prompt"]
    return found.cast(pa.large_string())


def compare(first: Path, second: Path, what: str) -> None:
    """Refuse to compare the times of different prompts."""
    one, other = prompts(first), prompts(second)
    if not len(other) or not one.slice(0, len(other)).equals(other):
        sys.exit(f"{what} gives other prompts than cuecard")


def measure(
    name: str, ways: dict[str, int | None], rows: int, rounds: int, folder: Path
) -> dict[str, Any]:
    """The best of some rounds of each way over a table; they take turns."""
    source = folder / f"{name}.parquet"
    write_table(source, name, rows)
    found: dict[str, Any] = {}
    targets: dict[str, Path] = {}
    for number_of_round in range(rounds):
        for way, limit in ways.items():
            if number_of_round and limit is not None:
                continue
            made = run(name, way, source, folder, limit)
            seconds = made["seconds"] / (limit or rows)
            if way not in found or seconds < found[way]["microseconds"] / 1e6:
                found[way] = {"microseconds": seconds * 1e6, "peak": made["peak"]}
            if number_of_round == 0 and made["target"].exists():
                targets[way] = made["target"]
            else:
                remove(made["target"])
    for way, target in targets.items():
        compare(targets["cuecard 2"], target, f"{way}, over the table `{name}`,")
    for path in (*targets.values(), source):
        remove(path)
    return found


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# results ------------------------------------------------------------------------------------------


def goals(found: dict[str, dict[str, Any]]) -> list[Goal]:
    def ratio(name: str, way: str, of: str) -> float | None:
        ways = found.get(name, {})
        if way not in ways or of not in ways:
            return None
        return ways[way]["microseconds"] / ways[of]["microseconds"]

    def peak(name: str) -> float | None:
        return found[name]["cuecard 2"]["peak"] or None if name in found else None

    small, large = peak("short"), peak("short, long")
    grown = large / small if small and large else None
    return [
        Goal(
            "short prompt, two cores: faster than the bare loop",
            ratio("short", "bare", "cuecard 2"),
            8,
            True,
        ),
        Goal(
            "short prompt, two cores: faster than LangChain",
            ratio("short", "langchain", "cuecard 2"),
            500,
            True,
        ),
        Goal(
            "short prompt, two cores: faster than Haystack",
            ratio("short", "haystack", "cuecard 2"),
            40,
            True,
        ),
        Goal(
            "short prompt: two cores faster than one",
            ratio("short", "cuecard 1", "cuecard 2"),
            1.6,
            True,
        ),
        Goal(
            "   beside it: `render_batches`, one thread, than the bare loop",
            ratio("short", "bare", "columns"),
        ),
        Goal(
            "   beside it: the same in memory",
            ratio("short", "bare in memory", "columns in memory"),
        ),
        Goal(
            "every value distinct, two cores: faster than the bare loop",
            ratio("distinct", "bare", "cuecard 2"),
            1.5,
            True,
        ),
        Goal("   beside it: `render_batches`, one thread", ratio("distinct", "bare", "columns")),
        Goal(
            "realistic prompt, two cores: faster than the bare loop",
            ratio("realistic", "bare", "cuecard 2"),
            50,
            True,
        ),
        Goal(
            "   beside it: in memory, one process",
            ratio("realistic", "bare in memory", "columns in memory"),
        ),
        Goal("memory of ten times as many rows", grown, 1.3),
        Goal("memory of ten times as many rows, of 2 GB", large / MOST_BYTES if large else None, 1),
    ]


def rows_of(found: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (
            name if index == 0 else "",
            way,
            number(one["microseconds"]),
            f"{1e6 / one['microseconds']:,.0f}",
            f"{one['peak'] / GIB:.2f}" if one["peak"] else "-",
        )
        for name, ways in found.items()
        for index, (way, one) in enumerate(ways.items())
    ]


def kind_of(way: str) -> str:
    if way.startswith(("cuecard", "columns")):
        return "cuecard"
    return "engine" if way.startswith("bare") else "peer"


def chart(found: dict[str, dict[str, Any]]) -> str:
    shown = [
        (f"{name}: {way}", one["microseconds"], kind_of(way))
        for name, ways in found.items()
        for way, one in ways.items()
        if not way.endswith("in memory") and name != "short, long"
    ]
    return bars(
        "A prompt of a table",
        "microseconds a row; each line is ten times the one before",
        shown,
        KINDS,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how long a table of prompts takes.")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures there too")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="draw them there")
    parser.add_argument("--page", metavar="FILE", type=Path, help="put the tables into that page")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of a short prompt (1000000)")
    parser.add_argument("--realistic", type=int, default=6_000, help="rows of the long one (6000)")
    parser.add_argument("--sample", type=int, default=2_000, help="rows for libraries (2000)")
    parser.add_argument("--rounds", type=int, default=3, help="of which the best counts (3)")
    parser.add_argument("--only", action="append", choices=TABLES, help="measure only this table")
    parser.add_argument("--no-memory", action="store_true", help="leave ten times the rows out")
    for name in ("--way", "--table", "--source", "--target"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        call = way_of(options)
        start = time.perf_counter()
        call()
        print(json.dumps({"seconds": time.perf_counter() - start}))
        return

    from importlib.util import find_spec

    ours: dict[str, int | None] = {
        "cuecard 2": None,
        "cuecard 1": None,
        "columns": None,
        "bare": None,
    }
    memory: dict[str, int | None] = {"columns in memory": None, "bare in memory": None}
    peers: dict[str, int | None] = {
        name: options.sample
        for name, module in (("haystack", "haystack"), ("langchain", "langchain_core"))
        if find_spec(module) is not None
    }
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        long = {**ours, **memory}
        asked = {
            "short": ({**long, **peers}, options.rows, options.rounds),
            "distinct": (ours, options.rows, options.rounds),
            "realistic": (long, options.realistic, options.rounds),
        }
        found = {
            name: measure(name, *how, folder)
            for name, how in asked.items()
            if not options.only or name in options.only
        }
        if not options.no_memory:
            many = measure("short", {"cuecard 2": None}, 10 * options.rows, 1, folder)
            found["short, long"] = many

    facts = (
        ", ".join(f"{name} {version}" for name, version in sorted(versions(PACKAGES).items()))
        + f"; {machine()}; {options.rows:,} rows, {options.realistic:,} of the realistic prompt, "
        + f"{options.sample:,} for libraries; all prompts were equal"
    )
    report = [
        table(("table", "way", "us a row", "rows/s", "GiB"), rows_of(found), left=(0, 1)),
        table(("goal", "measured", "goal", ""), [goal.cells() for goal in goals(found)]),
    ]
    print(facts, *report, sep="\n\n")
    if options.page:
        write_into(options.page, "batch", facts, report)
    if options.json:
        data = {
            "date": date.today().isoformat(),
            "machine": machine(),
            "versions": versions(PACKAGES),
            "rows": options.rows,
            "tables": found,
            "goals": [goal.data() for goal in goals(found)],
        }
        options.json.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    if options.svg:
        options.svg.write_text(chart(found), encoding="utf-8")


PACKAGES = ("cuecard", "daft", "haystack-ai", "langchain-core", "minijinja", "pyarrow")

if __name__ == "__main__":
    main()

"""Daft: prompts as columns of a dataframe, its native engine, and its URLs.

Daft runs here in processes of its own: it can be set up once in a process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .batch_tables import prompts, read_rows, write_lines, write_parquet, write_table

PRELUDE = """
import json, os, sys
from pathlib import Path
os.environ["DAFT_ANALYTICS_ENABLED"] = "0"
import cuecard
from cuecard import batch
"""


def run_code(code: str, folder: Path) -> Any:
    """What the code prints as JSON, run in a folder."""
    return run_told(code, folder)[0]


def run_told(code: str, folder: Path) -> tuple[Any, str]:
    """What the code prints as JSON, run in a folder, and what it tells besides."""
    (folder / "program.py").write_text(PRELUDE + code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:cuecard", "program.py"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout), done.stderr


def test_a_dataframe(tmp_path: Path) -> None:
    """Prompts, errors and counts are columns after the dataframe's own; nothing runs before."""
    code = """
import daft
from daft import col
rows = {"name": ["a", None, "c"], "n": [0, 1, 2], "tags": [["x", "y"], [], None],
        "user": [{"age": 1}, None, {"age": 3}]}
df = daft.from_pydict(rows).where(col("n") >= 0)
template = "{{ name }}{{ 1 // n }}{{ tags | tojson }}{{ user.age if user }}"
made = batch.render(df, template, tokens="estimate")
two = batch.render(df, "{{ word }}!", columns={"word": "name"}, prompt="p", error="e", workers=2)
fixed = batch.render(df, "the same")
print(json.dumps([
    made.column_names, made.to_pydict(), two.to_pydict()["p"], fixed.to_pydict()["prompt"],
    made.where(col("error").is_null()).count_rows(),
]))
"""
    names, data, mapped, fixed, good = run_code(code, tmp_path)
    assert names == ["name", "n", "tags", "user", "prompt", "error", "tokens", "front"]
    assert data["prompt"] == [None, "1[]", "c0null3"]
    assert [error and error["code"] for error in data["error"]] == ["P203", None, None]
    assert data["tokens"] == [None, 1, 2]
    assert (mapped, fixed) == (["a!", "!", "c!"], ["the same"] * 3)
    assert good == 2


def test_a_dataframe_that_lacks_a_column(tmp_path: Path) -> None:
    """It is refused when the query is made, before any row."""
    code = """
import daft
df = daft.from_pydict({"name": ["a"], "prompt": ["b"]})
found = []
for frame, template in ((df, "x"), (df.exclude("prompt"), "{{ nmae }}"), (df, "{{ x")):
    try:
        batch.render(frame, template)
    except cuecard.PromptError as error:
        found.append([error.code, str(error.hint)])
print(json.dumps(found))
"""
    taken, missing, broken = run_code(code, tmp_path)
    assert taken[0] == "P708"
    assert missing[0] == "P201"
    assert "name" in missing[1]
    assert broken[0] == "P101"


LOCAL = """
if __name__ == "__main__":
    import threading

    started = set()
    own = threading.Thread.start

    def start(thread):
        started.add(thread.name.rpartition("_")[0])
        own(thread)

    threading.Thread.start = start
    result = batch.render_files(
        {template!r}, "in", "out", batch.BatchOptions(workers=2, part_rows=100)
    )
    print(json.dumps([result.ok, result.rows, "cuecard-batch" in started, "daft" in sys.modules]))
"""


@pytest.mark.parametrize(
    ("template", "daft"),
    [
        ("Hello {{ a }}", False),
        ("Hello {% for n in range(20000) %}{% if not n %}{{ a }}{% endif %}{% endfor %}", True),
    ],
    ids=["what Arrow does", "what the interpreter does"],
)
def test_this_machine(template: str, daft: bool, tmp_path: Path) -> None:
    """Threads render in this process, and processes what keeps the interpreter busy for long."""
    rows = [{"a": f"<{row}>"} for row in range(2_000)]
    write_parquet(tmp_path / "in" / "rows.parquet", rows)
    assert run_code(LOCAL.format(template=template), tmp_path) == [True, 2_000, True, daft]
    assert prompts(tmp_path / "out") == [f"Hello {row['a']}" for row in rows]


KILLING = """
import threading, time
import psutil

def kill_once(folder, least):
    while len(list(Path(folder, "_cuecard", "parts").glob("*.json"))) < least:
        time.sleep(0.01)
    for child in psutil.Process().children(recursive=True):
        if any("udf_worker" in part for part in child.cmdline()):
            child.kill()
            return

if __name__ == "__main__":
    threading.Thread(target=kill_once, args=("out", 1), daemon=True).start()
    result = batch.render_files(
        "{% for n in range(300) %}{{ a }}{% endfor %}", "in", "out",
        batch.BatchOptions(workers=2), engine="processes",
    )
    print(json.dumps([result.ok, result.rows, result.parts, len(result.faults)]))
"""


def test_a_worker_that_is_killed(tmp_path: Path) -> None:
    """The parts that were lost with a process are rendered again, and each row is there once."""
    for part in range(8):
        rows = [{"a": f"{part}-{row}"} for row in range(300)]
        write_parquet(tmp_path / "in" / f"{part}.parquet", rows)
    assert run_code(KILLING, tmp_path) == [True, 2400, 8, 0]
    assert [row["a"] for row in read_rows(tmp_path / "out")] == [
        f"{part}-{row}" for part in range(8) for row in range(300)
    ]
    assert not list((tmp_path / "out").glob(".*"))


def test_a_part_that_ends_its_worker(tmp_path: Path) -> None:
    """A part whose process is lost every time is told, and the others are done."""
    for part in range(4):
        write_lines(tmp_path / "in" / f"{part}.jsonl", [{"a": part}])
    code = """
from cuecard.batch.engines import workers

class Deadly(workers.PartWorker):
    def _render(self, part, key):
        if part["name"] == "2.jsonl":
            os.kill(os.getpid(), 9)
        return super()._render(part, key)

if __name__ == "__main__":
    workers.PartWorker = Deadly
    options = batch.BatchOptions(workers=2)
    result = batch.render_files("{{ a }}", "in", "out", options, engine="processes")
    print(json.dumps([result.ok, result.rows, [[f.name, f.code] for f in result.faults]]))
"""
    ok, rows, faults = run_code(code, tmp_path)
    assert (ok, rows, faults) == (False, 3, [["2.jsonl", "P826"]])
    assert prompts(tmp_path / "out") == ["0", "1", "3"]


def test_a_worker_that_ends_between_parts(tmp_path: Path) -> None:
    """Its next part, which it never read, is rendered by another."""
    for part in range(4):
        write_lines(tmp_path / "in" / f"{part}.jsonl", [{"a": part}])
    code = """
from cuecard.batch.engines import workers

class Tired(workers.PartWorker):
    def _render(self, part, key):
        if part["name"] == "2.jsonl":
            import multiprocessing.connection, time

            def leave(connection):
                time.sleep(0.3)
                os._exit(9)

            multiprocessing.connection.Connection.recv = leave
        return super()._render(part, key)

if __name__ == "__main__":
    workers.PartWorker = Tired
    options = batch.BatchOptions(workers=1)
    result = batch.render_files("{{ a }}", "in", "out", options, engine="processes")
    print(json.dumps([result.ok, result.rows, len(result.faults)]))
"""
    assert run_code(code, tmp_path) == [True, 4, 0]
    assert prompts(tmp_path / "out") == ["0", "1", "2", "3"]


def test_no_thread_is_left_in_python_at_the_end(tmp_path: Path) -> None:
    """An interpreter that ends while one of Daft's threads runs Python code is aborted."""
    code = """
import asyncio.selector_events, atexit, sys, threading, time

def tell():
    own = {thread.ident for thread in threading.enumerate() if type(thread) in kinds}
    print(len(set(sys._current_frames()) - own), file=sys.stderr)

kinds = threading.Thread, type(threading.main_thread())
atexit.register(tell)  # the first that is registered is the last that is called
loops = asyncio.selector_events.BaseSelectorEventLoop
wake = loops._write_to_self

def wake_slowly(self):
    wake(self)
    if threading.get_ident() != threading.main_thread().ident:
        threading.current_thread()  # as a logger asks; Python then makes up a thread
        time.sleep(0.4)

loops._write_to_self = wake_slowly

if __name__ == "__main__":
    import daft
    found = batch.render(daft.from_pydict({"a": ["b"]}), "{{ a }}!").to_pydict()
    print(json.dumps(found["prompt"]))
"""
    found, told = run_told(code, tmp_path)
    assert (found, told.split()) == (["b!"], ["0"])


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv"])
def test_urls(ending: str, tmp_path: Path) -> None:
    """What Daft reads and writes by URL is rendered as files are, and resumed."""
    (tmp_path / "in").mkdir()
    for part in range(3):
        rows = [{"a": f"{part}-{row}", "b": "x"} for row in range(4)]
        write_table(tmp_path / "in" / f"{part}.{ending}", rows)
    code = """
if __name__ == "__main__":
    place, told = Path.cwd().as_uri(), []
    for resume in (False, True):
        result = batch.render_files(
            "{{ a }}", place + "/in", place + "/out", batch.BatchOptions(resume=resume)
        )
        told.append([result.rows, result.resumed, [fault.code for fault in result.faults]])
    print(json.dumps(told))
"""
    assert run_code(code, tmp_path) == [[12, 0, []], [12, 3, []]]
    assert prompts(tmp_path / "out") == [f"{part}-{row}" for part in range(3) for row in range(4)]


def test_parts_at_a_url(tmp_path: Path) -> None:
    """A glob and a file are found; parts of other files, which cannot be removed, are refused."""
    for part in range(3):
        write_lines(tmp_path / "in" / f"{part}.jsonl", [{"a": part}])
    code = """
from cuecard.batch.engines import in_process

def run(source, resume):
    options = batch.BatchOptions(resume=resume)
    place = Path.cwd().as_uri()
    try:
        result = batch.render_files(
            "{{ a }}", f"{place}/{source}", f"{place}/out", options, engine=in_process
        )
    except cuecard.PromptError as error:
        return error.code
    return [result.rows, result.resumed]

print(json.dumps([
    run("in/[01].jsonl", False), run("in/[01].jsonl", False), run("in", True),
    run("in/2.jsonl", True), run("none.csv", False), run("none", False),
]))
"""
    told = run_code(code, tmp_path)
    assert told == [[2, 0], "P824", [3, 2], "P824", "P801", "P801"]
    assert prompts(tmp_path / "out") == ["0", "1", "2"]


def test_nothing_is_reported_to_others(tmp_path: Path) -> None:
    """Daft's and Ray's reports of their use are off, unless the environment has them on."""
    code = """
del os.environ["DAFT_ANALYTICS_ENABLED"]
from cuecard.batch.packages import load_daft
load_daft()
from daft.scarf_telemetry import opted_out
print(json.dumps([opted_out(), os.environ["RAY_USAGE_STATS_ENABLED"]]))
"""
    assert run_code(code, tmp_path) == [True, "0"]


def test_without_the_package(tmp_path: Path) -> None:
    """Without Daft tables render too, and what needs it says which extra brings it."""
    code = """
sys.modules["daft"] = None
import pyarrow as pa
(made,) = batch.render_batches([pa.record_batch({"a": ["x"]})], "{{ a }}")
told = [batch.render_files("{{ a }}", "in.jsonl", "out").rows]
for place, engine in (("in.jsonl", "processes"), ("s3://bucket/in.jsonl", "local")):
    try:
        batch.render_files("{{ a }}", place, "other", engine=engine)
    except cuecard.MissingExtraError as error:
        told += [[error.code, error.hint]]
print(json.dumps([made.to_pydict()["prompt"], *told]))
"""
    write_lines(tmp_path / "in.jsonl", [{"a": 1}])
    missing = ["P807", "pip install 'cuecard[batch]'"]
    assert run_code(code, tmp_path) == [["x"], 1, missing, missing]

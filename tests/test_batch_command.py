"""The command `batch`: what it prints, its exit codes, and that it is the library's batch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cuecard.batch import BatchProgress
from cuecard.cli.batch_progress import shown_progress
from cuecard.errors import CODES

from .batch_tables import codes, prompts, read_rows, write_lines, write_parquet
from .running import Result, Run, run_at_terminal, write

ROWS = [{"name": f"n{row}", "who": f"w{row}", "n": row} for row in range(7)]
AGENT = "---\nname: a\ninputs:\n  tone: {default: kind}\n---\nHi {{ name }}, be {{ tone }}.\n"


def run_alone(*arguments: str) -> Result:
    """The command in a process of its own, as its engine starts others."""
    done = subprocess.run(
        [sys.executable, "-m", "cuecard", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    # A machine that is slow sees lines that tell how far it is.
    told = [line for line in done.stderr.splitlines(True) if not line.startswith("batch: ")]
    return Result(done.returncode, done.stdout, "".join(told))


@pytest.fixture
def table(run: Run) -> Path:
    """A table of seven rows in the current folder, and an agent's file."""
    write("agent.md", AGENT)
    write_parquet(Path("t.parquet"), ROWS)
    return Path("t.parquet")


def test_summary(table: Path, run: Run) -> None:
    """Counts, the first rows of each code, and the way of each segment; no value is shown."""
    write("t.md", "{{ name }}{% if n > 2 and n < 5 %}{{ 1 / 0 }}{% endif %} {{ who | upper }}")
    done = run_alone("batch", "t.md", "t.parquet", "out.parquet", "--tokens", "estimate")
    assert (done.status, done.err) == (0, "")
    text = re.sub(r"time .*", "time", done.out)
    assert text.splitlines()[:7] == [
        "output   out.parquet (1 of 1 part)",
        "rows     7 read, 7 written, 2 failed",
        "time",
        "",
        "code  rows  such as          message",
        "P203     2  t.parquet row 4  the operation is not possible with these values",
        "            t.parquet row 5  the operation is not possible with these values",
    ]
    assert "segment  line  kind    rendered by" in text
    assert re.search(r"1 +1 +output +column +0 +name", text)
    assert codes(Path("out.parquet")) == [None, None, None, "P203", "P203", None, None]
    assert list(read_rows(Path("out.parquet"))[0]) == [
        *("name", "who", "n", "prompt", "error", "tokens", "front")
    ]


def test_as_json(table: Path, run: Run) -> None:
    """With --json the summary is data; defaults of the header hold for all rows."""
    done = run_alone("batch", "agent.md", "t.parquet", "o.jsonl", "--map", "name=who", "--json")
    assert (done.status, done.err) == (0, "")
    data = json.loads(done.out)
    assert (data["ok"], data["rows"], data["failed"], data["parts"]) == (True, 7, 0, 1)
    assert prompts(Path("o.jsonl"))[:2] == ["Hi w0, be kind.\n", "Hi w1, be kind.\n"]
    again = run_alone("batch", "agent.md", "t.parquet", "o.jsonl", "--map", "name=who", "--resume")
    assert again.status == 0
    assert "(1 of 1 part, 1 from an earlier run)" in again.out


def test_slots_limit_and_column(run: Run) -> None:
    """A column of tasks gives the variables; the first rows are rendered, into a named column."""
    tasks = [{"task": {"directive": f"do {row}", "intent": None}} for row in range(5)]
    write_lines(Path("tasks.jsonl"), tasks)
    write("t.md", "Task: {{ directive }}\n")
    done = run_alone(
        *("batch", "t.md", "tasks.jsonl", "out", "--slots", "task", "--limit", "2"),
        *("--column", "system"),
    )
    assert (done.status, done.err) == (0, "")
    assert prompts(Path("out"), "system") == ["Task: do 0", "Task: do 1"]


def test_broken_files_and_drop(run: Run) -> None:
    """A broken file is told with its name, the rest is done, and the exit code is 1."""
    write("t.md", "{{ a }}")
    Path("in").mkdir()
    write("in/1.csv", "a\nx\n")
    write("in/2.csv", "a,b,a\nx,y,z\n")
    write("in/3.csv", b"a\n\xff\ny\n")
    done = run_alone("batch", "t.md", "in", "out", "--on-error", "drop")
    assert done.status == 1
    assert done.err == "2.csv: P823 column `a` is there twice\n"
    assert "rows     3 read, 2 written, 1 failed" in done.out
    assert prompts(Path("out")) == ["x", "y"]


def test_all_rows_fail(run: Run) -> None:
    """A batch that gives no prompt at all exits with 1."""
    write("t.md", "{{ a / 0 }}")
    write_lines(Path("t.jsonl"), [{"a": 1}])
    done = run_alone("batch", "t.md", "t.jsonl", "o.jsonl")
    assert (done.status, done.err) == (1, "")
    assert "1 failed" in done.out


def test_stop(run: Run) -> None:
    """The run ends at the first part that fails, says what is left, and exits by itself."""
    for part in range(6):
        write_parquet(Path("in", f"{part}.parquet"), [{"a": f"{part}-{row}"} for row in range(50)])
    write(
        "t.md",
        "{% for n in range(300) %}{{ a }}{% endfor %}{% if a == '2-9' %}{{ 1 / 0 }}{% endif %}",
    )
    done = run_alone("batch", "t.md", "in", "out", "--on-error", "stop", "--workers", "2")
    assert done.status == 1
    assert "left: add --resume to do the rest" in done.err
    assert "P203     1  2.parquet row 10" in done.out
    assert not Path("out", "2.parquet").exists()


REFUSED = {
    # arguments, the exit code and what is said
    "template": (["broken.md", "t.parquet", "o"], 1, "broken.md:1:1: P101"),
    "column": (["agent.md", "t.parquet", "o", "--map", "name=wo"], 1, "Did you mean `who`?"),
    "input": (["agent.md", "none.parquet", "o"], 1, "none.parquet: P801"),
    "format": (["agent.md", "agent.md", "o"], 1, "agent.md: P821"),
    "engine": (["agent.md", "t.parquet", "o", "--engine", "spark"], 1, "P829"),
    "unread": (["agent.md", "t.parquet", "o", "--map", "nme=who"], 1, "Did you mean `name`?"),
    "map": (["agent.md", "t.parquet", "o", "--map", "name"], 2, "--map takes VARIABLE=COLUMN"),
    "limit": (["agent.md", "t.parquet", "o", "--limit", "0"], 2, "number above 0"),
    "output": (["agent.md", "t.parquet", "taken"], 1, "taken: P825"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, table: Path, run: Run) -> None:
    """What is wrong is said with its place, code and remedy, before a row is rendered."""
    arguments, status, words = REFUSED[case]
    write("broken.md", "{{ name")
    Path("taken").mkdir()
    write("taken/file", "mine")
    done = run("batch", *arguments)
    assert (done.status, done.out) == (status, "")
    assert words in done.err
    assert "Traceback" not in done.err
    assert not Path("o").exists()


def test_error_as_json(table: Path, run: Run) -> None:
    """With --json an error that ends the batch is data too."""
    done = run("batch", "agent.md", "none.csv", "o", "--json")
    assert done.status == 1
    assert json.loads(done.out)["error"]["code"] == "P801"


def test_bar(table: Path, run: Run) -> None:
    """A terminal shows a bar with rows, rows a second, errors and the time left."""
    status, printed = run_at_terminal("batch", "agent.md", "t.parquet", "out")
    assert status == 0
    assert re.search(r"rendering .*100%.* 7 rows, [\d,]+ rows/s, 0 errors, 0 s left", printed)
    assert "rows     7 read, 7 written, 0 failed" in printed


def test_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Elsewhere a line now and then tells the same."""
    monkeypatch.setattr("cuecard.cli.batch_progress._PAUSE", 0.0)
    with shown_progress(sys.stderr) as progress:
        progress(BatchProgress(0, 0, 0, 4, 0.0, 0.5))
        progress(BatchProgress(3000, 2, 1, 4, 0.25, 2.0))
        progress(BatchProgress(12000, 9, 4, 4, 1.0, 600.0))
    assert capsys.readouterr().err.splitlines() == [
        "batch: 0%, 0 rows, 0 rows/s, 0 errors, ? left",
        "batch: 25%, 3,000 rows, 1,500 rows/s, 2 errors, 6 s left",
        "batch: 100%, 12,000 rows, 20 rows/s, 9 errors, 0 s left",
    ]


def test_example(run: Run) -> None:
    """The example's prompts are those that its folder holds."""
    folder = Path(__file__).parent.parent / "examples" / "batch"
    files = (str(folder / "agent.md"), str(folder / "tasks.jsonl"))
    done = run_alone("batch", *files, "prompts.jsonl")
    assert (done.status, done.err) == (0, "")
    expected = (folder / "expected.txt").read_text(encoding="utf-8")
    assert Path("prompts.jsonl").read_text(encoding="utf-8") == expected


def test_codes_of_batches() -> None:
    """Each code of batches has its line on the page."""
    page = (Path(__file__).parent.parent / "docs" / "batch.md").read_text(encoding="utf-8")
    ours = [code for code in CODES if code.startswith("P82")]
    assert len(ours) == 10
    for code in ours:
        assert re.search(rf"^\| `{code}` \|", page, re.MULTILINE), code

"""Batches that were ended in the middle: what is there is trusted only when it is whole."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import cuecard
from cuecard.batch import BatchOptions, BatchProgress, render_files
from cuecard.batch.engines import Task, in_process
from cuecard.batch.work import Job, PartReport

from .batch_tables import batch, prompts, read_rows, write_lines, write_parquet

TEMPLATES = ("{{ a }}", "{{ a }}!", "{{ a }}{% if b == 3 %}{{ 1 / 0 }}{% endif %}")
ENDINGS = ("parquet", "jsonl")


class _EndedError(Exception):
    """Stands for whatever ends a process."""


class Resuming(RuleBasedStateMachine):
    """Inputs, templates and options change, runs are ended, outputs are damaged.

    Whatever happened before, a run with `resume` ends with the output that a fresh one has.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="cuecard-resume-"))
        self.template = TEMPLATES[0]
        self.options: dict[str, Any] = {"part_rows": 3}

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @property
    def output(self) -> Path:
        return self.folder / self.target

    @initialize(ending=st.sampled_from(ENDINGS), single=st.booleans())
    def begin(self, ending: str, single: bool) -> None:
        self.ending = ending
        self.target = f"out.{ending}" if single else "out"
        self.write("one", 7)
        self.write("two", 2)

    @rule(name=st.sampled_from(["one", "two", "three"]), rows=st.integers(1, 8))
    def write(self, name: str, rows: int) -> None:
        values = [{"a": f"{name}{row}", "b": row, "c": rows} for row in range(rows)]
        path = self.folder / "in" / f"{name}.{self.ending}"
        if self.ending == "parquet":
            write_parquet(path, values, group=2)
        else:
            write_lines(path, values)

    @rule()
    def remove_input(self) -> None:
        (self.folder / "in" / f"two.{self.ending}").unlink(missing_ok=True)

    @rule(template=st.sampled_from(TEMPLATES))
    def change_template(self, template: str) -> None:
        self.template = template

    @rule(
        column=st.sampled_from(["prompt", "system"]),
        on_error=st.sampled_from(["keep", "drop"]),
        part_rows=st.sampled_from([2, 3, 100]),
        limit=st.sampled_from([None, 5]),
    )
    def change_options(self, **options: Any) -> None:
        self.options = options

    def files(self) -> list[Path]:
        """The files of the output, of which those of records are few."""
        hidden = self.folder / f".{self.target}.cuecard"
        places = [self.output, *self.output.rglob("*"), *hidden.rglob("*")]
        return sorted(path for path in places if path.is_file() and path.name != "batch.json")

    @rule(data=st.data(), how=st.sampled_from(["delete", "cut", "change", "swap", "grow"]))
    def damage(self, data: st.DataObject, how: str) -> None:
        files = self.files()
        if not files:
            return
        path = data.draw(st.sampled_from(files))
        content = bytearray(path.read_bytes())
        if how == "delete":
            path.unlink()
        elif how == "cut":
            path.write_bytes(content[: len(content) // 2])
        elif how == "grow":
            path.write_bytes(content + b"\n")
        elif how == "swap":
            path.write_bytes(data.draw(st.sampled_from(files)).read_bytes())
        elif content:
            content[len(content) // 2] ^= 1
            path.write_bytes(content)

    @rule(text=st.sampled_from([".one.parquet.tmp-0123456789abcdef"]))
    def leave_a_half_part(self, text: str) -> None:
        if self.output.is_dir():
            (self.output / text).write_bytes(b"half")

    def render(self, target: Path, engine: Any = in_process) -> None:
        options = BatchOptions(**{**self.options, "resume": True})
        source = self.folder / "in"
        render_files(self.template, str(source), str(target), options, engine=engine)

    @rule(parts=st.integers(0, 3), at=st.sampled_from(["before", "writing", "record", "publish"]))
    def is_ended(self, parts: int, at: str) -> None:
        """A run ends after some parts, at any place within the next."""

        def ending(job: Job, tasks: Sequence[Task]) -> Iterator[PartReport]:
            for number, task in enumerate(tasks):
                if number < parts:
                    yield from in_process(job, [task])
                    continue
                with pytest.MonkeyPatch.context() as patch:
                    if at == "before":
                        raise _EndedError
                    patch.setattr(*_ENDS[at])
                    yield from in_process(job, [task])

        with contextlib.suppress(_EndedError):
            self.render(self.output, ending)

    @rule()
    def resumes(self) -> None:
        """A run that ends by itself leaves what a fresh one would."""
        self.render(self.output)
        fresh = self.folder / "fresh" / self.target
        self.render(fresh)
        assert read_rows(self.output) == read_rows(fresh)
        assert self.visible(self.output) == self.visible(fresh)
        shutil.rmtree(fresh.parent)

    @staticmethod
    def visible(output: Path) -> list[str]:
        if output.is_file():
            return [output.name]
        names = (path.relative_to(output).as_posix() for path in output.rglob("*"))
        return sorted(n for n in names if not n.startswith("_cuecard"))

    @rule()
    def resumes_twice(self) -> None:
        """When all is there, nothing is rendered."""
        self.render(self.output)

        def none(job: Job, tasks: Sequence[Task]) -> Iterator[PartReport]:
            raise AssertionError(tasks)

        self.render(self.output, none)

    @invariant()
    def no_half_part_is_visible(self) -> None:
        """Hidden files alone may be half written."""
        if hasattr(self, "target") and self.output.is_dir():
            for path in self.output.glob(".*"):
                assert ".tmp-" in path.name


def _ends(*arguments: Any, **options: Any) -> Any:
    raise _EndedError


_ENDS: dict[str, tuple[str, Any]] = {
    "writing": ("cuecard.batch.work.file_digest", _ends),
    "record": ("cuecard.batch.records.put", _ends),
    "publish": ("cuecard.batch.records.publish", _ends),
}

TestResuming = Resuming.TestCase
TestResuming.settings = settings(max_examples=30, stateful_step_count=12)


# what may be there already ------------------------------------------------------------------

ROWS = [{"a": f"x{row}", "b": row} for row in range(6)]


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    write_parquet(tmp_path / "t.parquet", ROWS, group=2)
    return tmp_path / "t.parquet"


OCCUPIED: dict[str, tuple[str, str, bool, str]] = {
    # what is there, the output, whether --resume was given, and the code
    "others' file in a folder": ("out/notes.txt", "out", False, "P825"),
    "others' file, resumed": ("out/notes.txt", "out", True, "P825"),
    "a file for a folder": ("out", "out", True, "P825"),
    "others' output file": ("out.parquet", "out.parquet", True, "P825"),
    "an output file": ("out.parquet", "out.parquet", False, "P824"),
}


@pytest.mark.parametrize("case", OCCUPIED)
def test_what_is_not_ours_stays(case: str, tasks: Path, tmp_path: Path) -> None:
    """An output that holds something of others is refused, and left as it is."""
    there, output, resume, code = OCCUPIED[case]
    path = tmp_path / there
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    with pytest.raises(cuecard.PromptError) as caught:
        batch("{{ a }}", tasks, tmp_path / output, resume=resume)
    assert caught.value.code == code
    assert caught.value.hint
    assert path.read_text() == "mine"
    assert len(list(path.parent.iterdir())) == (1 if path.parent.name == "out" else 2)


@pytest.mark.parametrize("output", ["out", "out.parquet"])
def test_a_second_run_says_resume(output: str, tasks: Path, tmp_path: Path) -> None:
    """An output of ours is not written again unless that is asked for."""
    batch("{{ a }}", tasks, tmp_path / output)
    with pytest.raises(cuecard.PromptError) as caught:
        batch("{{ a }}", tasks, tmp_path / output)
    assert caught.value.code == "P824"
    assert "--resume" in str(caught.value.hint)
    result = batch("{{ a }}", tasks, tmp_path / output, resume=True)
    assert (result.resumed, result.rows) == (1, 6)


def test_what_is_resumed_is_counted(tmp_path: Path) -> None:
    """The summary of a run that resumes tells of all rows, whichever run rendered them."""
    write_parquet(tmp_path / "t.parquet", ROWS, group=2)
    template = "{{ a }}{% if b in (1, 4) %}{{ 1 / 0 }}{% endif %}"
    first = batch(template, tmp_path / "t.parquet", tmp_path / "out", part_rows=2)
    (tmp_path / "out" / "t.part-00001.parquet").unlink()
    second = batch(template, tmp_path / "t.parquet", tmp_path / "out", part_rows=2, resume=True)
    assert (second.resumed, second.of) == (2, 3)
    assert (second.codes, second.samples) == (first.codes, first.samples) != ({}, {})
    assert [(s.number, s.rows) for s in second.segments] == [(1, 6), (2, 6)]


def test_stop_leaves_what_is_done(tmp_path: Path) -> None:
    """After `stop` the parts before the failure are there, and another template finishes them."""
    write_parquet(tmp_path / "t.parquet", ROWS, group=2)
    template = "{{ a }}{% if b == 4 %}{{ 1 / 0 }}{% endif %}"
    options = {"part_rows": 2, "on_error": "stop"}
    result = batch(template, tmp_path / "t.parquet", tmp_path / "out", **options)
    assert (result.ok, result.parts, result.of) == (False, 2, 3)
    options = {"part_rows": 2, "resume": True}
    result = batch(template, tmp_path / "t.parquet", tmp_path / "out", **options)
    assert (result.ok, result.resumed) == (True, 2)
    assert prompts(tmp_path / "out") == ["x0", "x1", "x2", "x3", None, "x5"]


# processes that are ended -------------------------------------------------------------------


def said(errors: str) -> list[str]:
    """What was told, without the lines that tell how far it is."""
    return [line for line in errors.splitlines() if not line.startswith("batch: ")]


def start(tmp_path: Path, *more: str, prelude: str = "") -> subprocess.Popen[str]:
    """The command over a table whose rows take long enough to end it in the middle."""
    code = f"{prelude}\nfrom cuecard.cli import main\nmain()"
    (tmp_path / "t.md").write_text("{% for n in range(300) %}{{ a }}{{ n }}{% endfor %}\n")
    arguments = ["batch", "t.md", "t.parquet", "out", "--workers", "2", *more]
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.fixture(scope="module")
def slow_tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of sixteen parts, each of a part of a second."""
    folder = tmp_path_factory.mktemp("slow")
    for part in range(16):
        rows = [{"a": f"{part}-{row}"} for row in range(600)]
        write_parquet(folder / "t.parquet" / f"{part:02d}.parquet", rows)
    return folder / "t.parquet"


@pytest.mark.parametrize("engine", ["local", "processes"])
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL], ids=lambda kind: kind.name)
def test_a_run_that_is_ended(
    kind: signal.Signals, engine: str, slow_tasks: Path, tmp_path: Path
) -> None:
    """What a signal leaves is finished by a second run, which has what one run would have."""
    shutil.copytree(slow_tasks, tmp_path / "t.parquet")
    process = start(tmp_path, "--engine", engine)
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "out").glob("[0-9]*.parquet"))) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, kind)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (130 if kind == signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in errors
    if kind == signal.SIGINT:
        assert said(errors) == ["interrupted: what is done stays, add --resume to do the rest"]
    whole = {path.name for path in (tmp_path / "out").glob("[0-9]*.parquet")}
    assert 2 <= len(whole) < 16
    for name in whole:
        assert len(read_rows(tmp_path / "out" / name)) == 600
    again = start(tmp_path, "--resume", "--json")
    told, errors = again.communicate(timeout=120)
    assert (again.returncode, said(errors)) == (0, [])
    result = json.loads(told)
    assert result["resumed"] >= 2
    assert (result["rows"], result["parts"]) == (9600, 16)
    assert [row["a"] for row in read_rows(tmp_path / "out")] == [
        f"{part}-{row}" for part in range(16) for row in range(600)
    ]
    assert not list((tmp_path / "out").glob(".*"))


def test_a_full_disk(tmp_path: Path) -> None:
    """Where no more can be written, that is told, no half part is left, and a rerun finishes."""
    rows = [{"a": os.urandom(400).hex()} for _ in range(1000)]
    write_parquet(tmp_path / "t.parquet", rows[:10])
    shutil.move(tmp_path / "t.parquet", tmp_path / "small")
    (tmp_path / "t.parquet").mkdir()
    shutil.move(tmp_path / "small", tmp_path / "t.parquet" / "1.parquet")
    write_parquet(tmp_path / "t.parquet" / "2.parquet", rows)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))"
    process = start(tmp_path, "--workers", "1", prelude=limit)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "P828 cannot write the output: File too large" in errors
    assert "--resume" in errors
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names in (["1.parquet", "_cuecard"], ["_cuecard"])
    again = start(tmp_path, "--resume")
    _, errors = again.communicate(timeout=60)
    assert (again.returncode, said(errors)) == (0, [])
    assert len(read_rows(tmp_path / "out")) == 1010


def test_progress(tmp_path: Path) -> None:
    """After each part the caller is told how far the batch is."""
    write_parquet(tmp_path / "t.parquet", ROWS, group=2)
    seen: list[BatchProgress] = []
    template = "{{ a }}{% if b == 3 %}{{ 1 / 0 }}{% endif %}"
    options = BatchOptions(part_rows=2)
    source, target = str(tmp_path / "t.parquet"), str(tmp_path / "out")
    render_files(template, source, target, options, engine=in_process, progress=seen.append)
    told = [(p.rows, p.failed, p.parts, p.of, round(p.fraction, 2)) for p in seen]
    assert told == [(0, 0, 0, 3, 0.0), (2, 0, 1, 3, 0.33), (4, 1, 2, 3, 0.67), (6, 1, 3, 3, 1.0)]

"""Work: one part of a batch from its input to its output, in whatever process it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from .arrow import pa, pc
from .columns import ROW_ERROR, ColumnRenderer, Summary
from .records import Records, file_digest
from .tables.formats import Format
from .tables.lines import Row, Table
from .tables.parts import Part, PartError
from .tables.places import join, remove, temporary
from .tables.reading import read_part
from .tables.schemas import padded
from .tables.writing import Writer, make_writer

__all__ = ["SAMPLES", "Job", "OnError", "PartReport", "Sample", "UnwantedError", "render_part"]

OnError = Literal["keep", "drop", "stop"]

SAMPLES = 3
"""How many rows are named for each code."""


@dataclass(frozen=True)
class Sample:
    """A row that failed: its file, its number in the file from 1, and why."""

    file: str
    row: int
    message: str


@dataclass(frozen=True)
class Job:
    """What is done with each part. It pickles.

    Attributes:
        renderer: renders a batch of rows.
        folder: where parts are written to, local or a URL.
        format: the format of the output.
        schema: the columns of the input, in the order of the output.
        schemas: the columns of each file, with the types of `schema`.
        column: the name of the column of prompts.
        counted: whether tokens and fronts are columns too.
        on_error: what becomes of rows that fail.
        header: whether parts of CSV have a header.
    """

    renderer: ColumnRenderer
    folder: str
    format: Format
    schema: Any
    schemas: Mapping[str, Any]
    column: str
    counted: bool
    on_error: OnError
    header: bool = True

    @property
    def output_schema(self) -> Any:
        """The columns of the output."""
        return pa.schema([*self.schema, *self.added])

    @property
    def added(self) -> list[Any]:
        """The columns that are added to the input's."""
        fields = [pa.field(self.column, pa.large_string()), pa.field("error", ROW_ERROR)]
        counts = [pa.field("tokens", pa.int64()), pa.field("front", pa.int64())]
        return fields + (counts if self.counted else [])


@dataclass
class PartReport:
    """What became of a part.

    Attributes:
        output: the part's name in the output.
        file: the name of its file below the input.
        rows: how many it has.
        written: how many its output has.
        failed: how many failed.
        codes: how many failed by code.
        samples: the first that failed of each code.
        choices: how the segments were rendered, as `Summary.as_dict`.
        seconds: how long it took.
        bytes: size of its output.
        sha256: hash of its output.
        fault: code, message and hint when the whole part failed.
        stopped: whether it was left unwritten since rows failed.
    """

    output: str
    file: str
    rows: int = 0
    written: int = 0
    failed: int = 0
    codes: dict[str, int] = field(default_factory=dict)
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    choices: Any = None
    seconds: float = 0.0
    bytes: int = 0
    sha256: str = ""
    fault: tuple[str, str, str | None] | None = None
    stopped: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PartReport:
        """The report that `as_dict` gave."""
        known = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        known["samples"] = {
            code: [Sample(**sample) for sample in samples]
            for code, samples in data["samples"].items()
        }
        if known.get("fault") is not None:
            known["fault"] = tuple(known["fault"])
        return cls(**known)

    def note(self, row: int, code: str, message: str) -> None:
        """Count a row that failed."""
        self.failed += 1
        self.codes[code] = self.codes.get(code, 0) + 1
        samples = self.samples.setdefault(code, [])
        if len(samples) < SAMPLES:
            samples.append(Sample(self.file, row, message))


class _WriteError(Exception):
    """The output cannot be written."""


class UnwantedError(Exception):
    """The batch that the work was for has ended."""


def render_part(
    job: Job, part: Part, key: str, *, wanted: Callable[[], bool] | None = None
) -> PartReport:
    """Render a part and have it appear, whole or not at all.

    Args:
        job: what to do.
        part: the part.
        key: what the part is made of, for its record.
        wanted: is asked from time to time whether to go on.

    Returns:
        What became of it: a part that failed is a report too.

    Raises:
        UnwantedError: the work is not wanted any more; nothing is left of it.
    """
    report = PartReport(part.output, part.name)
    started = time.perf_counter()
    written = temporary(join(job.folder, part.output))
    try:
        _render(job, part, report, written, wanted)
        report.seconds = round(time.perf_counter() - started, 6)
        if job.on_error == "stop" and report.failed:
            report.stopped = True
        else:
            _publish(job, report, written, key)
    except PartError as error:
        report.fault = (error.code, error.message, error.hint)
    except _WriteError as error:
        report.fault = ("P828", str(error), None)
    finally:
        remove(written)
    return report


def _publish(job: Job, report: PartReport, written: str, key: str) -> None:
    try:
        report.bytes = os.path.getsize(written)
        report.sha256 = file_digest(written)
        Records(job.folder).publish(report.output, written, {"key": key, **report.as_dict()})
    except OSError as error:
        raise _WriteError(_why(error)) from error


def _why(error: OSError) -> str:
    # Arrow's errors of files have the number of the system's error in their text only.
    known = error.strerror or (os.strerror(error.errno) if error.errno else "")
    return f"cannot write the output: {known or 'the disk or store refuses it'}"


def _render(
    job: Job,
    part: Part,
    report: PartReport,
    path: str,
    wanted: Callable[[], bool] | None,
) -> None:
    choices = Summary()
    with _writing():
        file = open(path, "wb")  # noqa: SIM115 - it is closed below
    with file:
        with _writing():
            writer = make_writer(
                job.format, file, job.output_schema, long=job.column, header=job.header
            )
        try:
            _render_tables(job, part, report, writer, choices, wanted)
        except BaseException:
            writer.abandon()
            raise
        with _writing():
            file.flush()
    report.choices = choices.as_dict()


def _render_tables(
    job: Job,
    part: Part,
    report: PartReport,
    writer: Writer,
    choices: Summary,
    wanted: Callable[[], bool] | None,
) -> None:
    for table in read_part(part, job.schemas[part.name]):
        if wanted is not None and not wanted():
            raise UnwantedError
        for batch in _outputs(job, table, part.first_row + report.rows, report, choices):
            with _writing():
                writer.write(batch)
            report.written += batch.num_rows
        report.rows += table.batch.num_rows
    with _writing():
        writer.close()


@contextmanager
def _writing() -> Iterator[None]:
    """What fails within is the output's fault, and not the input's."""
    try:
        yield
    except OSError as error:
        raise _WriteError(_why(error)) from error


def _outputs(
    job: Job, table: Table, before: int, report: PartReport, choices: Summary
) -> Iterator[Any]:
    """The output's rows for a batch of the input's, with `before` rows of the file before it."""
    for first, stop, fault in _runs(table):
        batch = table.batch.slice(first, stop - first)
        if fault is not None:
            report.note(before + first + 1, *fault)
            yield from _kept(job, batch, _nothing(job, fault))
            continue
        for rendered in job.renderer.slices(batch):
            choices.add(rendered.choices)
            if rendered.failed:
                _note(report, rendered.error, before + first + rendered.start + 1)
            counts = [rendered.tokens, rendered.front] if job.counted else []
            piece = batch.slice(rendered.start, len(rendered))
            yield from _kept(job, piece, [rendered.prompt, rendered.error, *counts])


def _runs(table: Table) -> Iterator[tuple[int, int, Row | None]]:
    """Ranges of rows that can be rendered, and single rows that cannot."""
    start = 0
    for row in sorted(table.faults):
        if row > start:
            yield start, row, None
        yield row, row + 1, table.faults[row]
        start = row + 1
    if start < table.batch.num_rows:
        yield start, table.batch.num_rows, None


def _note(report: PartReport, errors: Any, first: int) -> None:
    places = pc.indices_nonzero(errors.is_valid()).to_pylist()
    for place in places:
        error = errors[place].as_py()
        report.note(first + place, error["code"], error["message"])


def _nothing(job: Job, fault: Row) -> list[Any]:
    """The added columns of a row that cannot be rendered."""
    code, message = fault
    error = pa.array([{"code": code, "message": message}], ROW_ERROR)
    return [error if added.name == "error" else pa.nulls(1, added.type) for added in job.added]


def _kept(job: Job, batch: Any, added: list[Any]) -> Iterator[Any]:
    """The rows with all columns of the output; none that failed when those are dropped."""
    full = padded(batch, job.schema)
    rows = pa.RecordBatch.from_arrays([*full.columns, *added], schema=job.output_schema)
    if job.on_error == "drop":
        failed = rows.column("error").is_valid()
        rows = rows.filter(pc.invert(failed))
    if rows.num_rows:
        yield rows

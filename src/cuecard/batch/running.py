"""Running a batch: survey, parts that are left, the engine, and the outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import PromptError
from ..files import Folder
from ..prompt import Scope
from ..template import Template
from .columns import ColumnRenderer
from .engines import Engine, Task, find_engine, retried
from .outcome import BatchProgress, BatchResult, collect
from .records import Records, digest_of
from .tables.parts import PART_ROWS, Fault, named
from .tables.places import absolute
from .tables.survey import Survey, survey
from .targets import Target, find_target
from .work import Job, OnError, PartReport

__all__ = ["BatchOptions", "render_files"]

_ENDINGS = {"parquet": ".parquet", "jsonl": ".jsonl", "csv": ".csv"}


@dataclass(frozen=True)
class BatchOptions:
    """What a batch does beside rendering.

    Attributes:
        column: the name of the column of prompts.
        columns: the column of a variable, for those whose column has another name.
        slots: a column whose keys are the variables.
        context: values that all rows share; a column of the name overrides one.
        tokens: the name of a counter: then there are the columns `tokens` and `front`
            (characters of the cacheable front) too.
        scopes: how long the values of variables hold, for `front`.
        on_error: `"keep"` (a row that fails has no prompt), `"drop"` (it is left out) or
            `"stop"` (the batch ends, and the part is not written).
        limit: how many rows are rendered, the first ones; None for all.
        resume: whether an output that an earlier run began is finished.
        workers: how many parts are rendered at a time; None for one a processor.
        part_rows: the most rows of a part, where a file can be divided.
    """

    column: str = "prompt"
    columns: Mapping[str, str] = field(default_factory=dict)
    slots: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    tokens: str | None = None
    scopes: Mapping[str, Scope] = field(default_factory=dict)
    on_error: OnError = "keep"
    limit: int | None = None
    resume: bool = False
    workers: int | None = None
    part_rows: int = PART_ROWS


def render_files(
    template: Template | str,
    source: str,
    target: str,
    options: BatchOptions | None = None,
    *,
    engine: str | Engine = "local",
    progress: Callable[[BatchProgress], None] | None = None,
) -> BatchResult:
    """Render a template over the rows of tables in files, into files.

    Args:
        template: the template.
        source: Parquet, JSON Lines or CSV: a file, a folder or a glob, local or a URL.
        target: a folder of parts, local or a URL, or one local file.
        options: everything else.
        engine: as for `find_engine`: `local`, `processes`, `ray` or `ray:ADDRESS`.
        progress: is called after each part.

    Raises:
        PromptError: nothing was rendered: the template is invalid, the input cannot be read
            or lacks a column, the output is not to be written, ... What fails later is in the
            result.
    """
    chosen = options or BatchOptions()
    renderer = ColumnRenderer(
        template,
        columns=chosen.columns,
        slots=chosen.slots,
        context=chosen.context,
        scopes=chosen.scopes,
        counter=chosen.tokens,
        front=chosen.tokens is not None,
    )
    started = time.monotonic()
    run = find_engine(engine, chosen.workers) if isinstance(engine, str) else engine
    seen = survey(source, limit=chosen.limit, part_rows=chosen.part_rows)
    seen = _checked(renderer, seen, source)
    output = find_target(target, seen.format)
    job = _job(renderer, seen, output, chosen)
    _check_names(seen.schema, job)
    return _Batch(job, seen, output, chosen, started, progress).run(retried(run))


def _checked(renderer: ColumnRenderer, seen: Survey, source: str) -> Survey:
    """The survey without the files that lack a column that the template cannot do without.

    Raises:
        PromptError: all of them do, or there is no file that can be read.
    """
    if not seen.schemas:
        first = seen.faults[0]
        raise PromptError(first.message, code=first.code, template=first.name, hint=first.hint)
    faults = list(seen.faults)
    schemas = {}
    refusal: PromptError | None = None
    for name, schema in seen.schemas.items():
        try:
            renderer.check(schema)
            schemas[name] = schema
        except PromptError as error:
            refusal = refusal or error
            faults.append(Fault(name, error.code, error.message, error.hint))
    if refusal is not None and not schemas:
        raise refusal
    parts = [part for part in seen.parts if part.name in schemas]
    return Survey(seen.format, seen.schema, schemas, parts, faults)


def _check_names(schema: Any, job: Job) -> None:
    for added in job.added:
        if added.name in schema.names:
            raise PromptError(
                f"the input has a column `{added.name}` already",
                code="P708",
                hint="name the column of prompts with --column"
                if added.name == job.column
                else "rename it in the input",
            )
    names = [added.name for added in job.added]
    if len(set(names)) < len(names):
        raise PromptError(
            f"`{job.column}` is the name of another column that is added", code="P708"
        )


def _job(renderer: ColumnRenderer, seen: Survey, output: Target, chosen: BatchOptions) -> Job:
    import pyarrow as pa  # type: ignore[import-untyped]

    typed = {
        name: pa.schema([seen.schema.field(column) for column in schema.names])
        for name, schema in seen.schemas.items()
    }
    return Job(
        renderer=renderer,
        folder=absolute(output.folder),
        format=output.format,
        schema=seen.schema,
        schemas=typed,
        column=chosen.column,
        counted=chosen.tokens is not None,
        on_error=chosen.on_error,
        header=output.header,
    )


def _identity(job: Job, chosen: BatchOptions) -> str:
    """A hash of all that a part is made of beside its rows."""
    template = job.renderer.template
    partials = template.partials
    return digest_of(
        {
            "version": __version__,
            "template": template.source.text,
            "line": template.source.first_line,
            "name": template.name,
            "profile": asdict(template.profile),
            "partials": _contents(partials) if isinstance(partials, Folder) else None,
            "column": chosen.column,
            "columns": dict(chosen.columns),
            "slots": chosen.slots,
            "context": repr(sorted(chosen.context.items())),
            "tokens": chosen.tokens,
            "scopes": {name: scope.name for name, scope in sorted(chosen.scopes.items())},
            # A part that is kept has the rows that `stop` would write.
            "dropped": chosen.on_error == "drop",
            "format": job.format,
            "header": job.header,
            "schema": str(job.schema),
        }
    )


def _contents(folder: Folder) -> dict[str, str]:
    found = sorted(path for path in Path(folder.path).rglob("*") if path.is_file())
    return {
        path.relative_to(folder.path).as_posix(): digest_of(path.read_bytes().hex())
        for path in found
    }


class _Batch:
    """A batch that runs.

    Args:
        job: what is done with each part.
        seen: the input.
        output: the output.
        chosen: the options.
        started: when it began, of `time.monotonic`.
        progress: is called after each part.
    """

    def __init__(
        self,
        job: Job,
        seen: Survey,
        output: Target,
        chosen: BatchOptions,
        started: float,
        progress: Callable[[BatchProgress], None] | None,
    ) -> None:
        self._job = job
        self._seen = seen
        self._output = output
        self._chosen = chosen
        self._started = started
        self._progress = progress
        self._parts = named(seen.parts, _ENDINGS[output.format])
        self._reports: dict[str, PartReport] = {}
        self._stopped = False

    def run(self, engine: Engine) -> BatchResult:
        """Render what is left, and finish the output."""
        self._output.open(resume=self._chosen.resume)
        identity = _identity(self._job, self._chosen)
        keys = {
            part.output: digest_of([identity, part.made_of, str(self._job.schemas[part.name])])
            for part in self._parts
        }
        records = self._output.finished(keys)
        resumed = {name: PartReport.from_dict(record) for name, record in records.items()}
        self._reports.update(resumed)
        tasks = [Task(p, keys[p.output]) for p in self._parts if p.output not in resumed]
        self._tell(resumed)
        if tasks:
            self._render(engine, tasks, resumed)
        faults = list(self._seen.faults) + self._finish(keys)
        return collect(
            self._output.place,
            [self._reports[p.output] for p in self._parts if p.output in self._reports],
            of=len(self._parts),
            resumed=resumed,
            faults=faults,
            stopped=self._stopped,
            seconds=round(time.monotonic() - self._started, 3),
            on_error=self._chosen.on_error,
        )

    def _render(
        self, engine: Engine, tasks: Sequence[Task], resumed: Mapping[str, PartReport]
    ) -> None:
        with closing(engine(self._job, tasks)) as reports:
            for report in reports:
                self._reports[report.output] = report
                self._tell(resumed)
                if self._ends_with(report):
                    self._stopped = True
                    break
        Records(self._job.folder).sweep()

    def _ends_with(self, report: PartReport) -> bool:
        # Where one part cannot be written, the next cannot either.
        unwritten = report.fault is not None and report.fault[0] == "P828"
        failed = report.stopped or report.fault is not None
        return unwritten or (failed and self._chosen.on_error == "stop")

    def _finish(self, keys: Mapping[str, str]) -> list[Fault]:
        done = [p.output for p in self._parts if self._is_done(p.output)]
        whole = len(done) == len(self._parts)
        if self._stopped or not done:
            return []
        try:
            self._output.close(done, keys, self._job.output_schema, whole=whole)
        except OSError as error:
            why = error.strerror or type(error).__name__
            self._stopped = True
            return [Fault(self._output.place, "P828", f"cannot write the output: {why}")]
        return []

    def _is_done(self, name: str) -> bool:
        report = self._reports.get(name)
        return report is not None and report.fault is None and not report.stopped

    def _tell(self, resumed: Mapping[str, PartReport]) -> None:
        if self._progress is None:
            return
        fresh = [r for name, r in self._reports.items() if name not in resumed]
        total = sum(part.weight for part in self._parts)
        done = sum(part.weight for part in self._parts if part.output in self._reports)
        self._progress(
            BatchProgress(
                rows=sum(report.rows for report in fresh),
                failed=sum(report.failed for report in fresh),
                parts=len(self._reports),
                of=len(self._parts),
                fraction=done / total if total else 1.0,
                seconds=time.monotonic() - self._started,
            )
        )

"""Workers: the parts of a batch are spread over processes or machines, by Daft.

A part is a row of a Daft dataframe, and rendering it a Daft class method over that row: on one
machine in processes of Daft's native runner, on a cluster in actors that Ray starts again when
one is lost. What comes back are reports; the parts themselves never pass through the driver.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ...errors import PromptError
from ..packages import load_daft, load_ray, quiet
from ..tables.parts import Part
from ..work import Job, PartReport
from .contract import Engine, LostError, Task, attempt

__all__ = ["PartWorker", "processes", "ray_cluster"]


def processes(workers: int) -> Engine:
    """An engine in processes of this machine, which Daft's native runner starts.

    Args:
        workers: how many.

    Raises:
        MissingExtraError: Daft is not installed (P807).
        PromptError: Daft runs in this process already, on a cluster (P829).
    """
    daft = load_daft()
    _choose_runner("native", daft.set_runner_native)

    def run(job: Job, tasks: Sequence[Task]) -> Generator[PartReport, None, None]:
        count = min(workers, len(tasks))
        options = {"use_process": True, "max_concurrency": count}
        yield from _query(daft, job, tasks, options, parent=os.getpid())

    return run


def ray_cluster(address: str, workers: int | None) -> Engine:
    """An engine on a Ray cluster.

    Args:
        address: where it is; empty for the one of this machine or of `RAY_ADDRESS`, or else
            one that is started here.
        workers: how many parts are rendered at a time; by default as many as it has
            processors.

    Raises:
        MissingExtraError: Daft or Ray is not installed (P807).
        PromptError: there is no cluster, or Daft runs in this process already (P829).
    """
    daft, ray = load_daft(), load_ray()

    def start() -> None:
        if not ray.is_initialized():
            _connect(ray, address or None)
        daft.set_runner_ray(noop_if_initialized=True)

    _choose_runner("ray", start)

    def run(job: Job, tasks: Sequence[Task]) -> Generator[PartReport, None, None]:
        processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
        count = min(workers or processors, processors, len(tasks))
        yield from _query(daft, job, tasks, {"max_concurrency": count}, parent=None)

    return run


def _connect(ray: Any, address: str | None) -> None:
    options: dict[str, Any] = {
        "log_to_driver": False,
        "logging_level": "ERROR",
        "runtime_env": {"env_vars": quiet()},
    }
    try:
        ray.init(address=address or os.environ.get("RAY_ADDRESS"), **options)
    except ConnectionError as error:
        raise PromptError(
            "there is no Ray cluster at this address",
            code="P829",
            hint="name it as `ray start` told it, such as ray:10.0.0.1:6379; where it asks for "
            "a token, set RAY_AUTH_MODE=token",
        ) from error


def _choose_runner(name: str, choose: Callable[[], Any]) -> None:
    """Have Daft use a runner; in one process that can be chosen once."""
    try:
        choose()
    except PromptError:
        raise
    except Exception as error:
        from daft.runners import get_or_infer_runner_type

        if get_or_infer_runner_type() == name:
            return
        raise PromptError(
            f"Daft runs in this process already, and not as `{name}`",
            code="P829",
            hint="run the batch in a process of its own",
        ) from error


def _query(
    daft: Any, job: Job, tasks: Sequence[Task], options: dict[str, Any], parent: int | None
) -> Generator[PartReport, None, None]:
    """Render parts in a query over a table of them."""
    described = [json.dumps([task.part.as_dict(), task.key]) for task in tasks]
    # Each part its own partition: a cluster gives partitions to its workers one by one.
    table = daft.from_pydict({"part": described})
    if parent is None:
        table = table.into_partitions(len(tasks))
    method = daft.method.batch(return_dtype=daft.DataType.string(), batch_size=1)
    method(PartWorker.render)
    with _flag(local=parent is not None) as flag, daft.execution_config_ctx(maintain_order=False):
        worker = daft.cls(PartWorker, **options)(job, parent, flag)
        reports = table.select(worker.render(daft.col("part")).alias("report"))
        rows = _rows(reports.iter_rows(results_buffer_size=1))
        try:
            for row in rows:
                if row["report"] is not None:
                    yield PartReport.from_dict(json.loads(row["report"]))
        except GeneratorExit:
            _end(flag, rows)
            raise


def _rows(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows of a query; what a worker does on purpose is a row, and all else its loss."""
    try:
        yield from rows
    except (RuntimeError, ConnectionError, EOFError) as error:
        raise LostError from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] == "ray":
            raise LostError from error
        raise


@contextmanager
def _flag(*, local: bool) -> Iterator[str | None]:
    """A file of this machine that tells workers to end, once it is there."""
    if not local:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="cuecard-") as folder:
        yield os.path.join(folder, "end")


def _end(flag: str | None, rows: Iterator[Any]) -> None:
    """End a query that is not wanted any more.

    On one machine its workers are waited for: Daft's threads must not outlive the interpreter.
    """
    if flag is None:
        return
    with open(flag, "wb"):
        pass
    with suppress(LostError):
        for _ in rows:
            pass


class PartWorker:
    """Renders parts in a process that Daft or Ray starts.

    Args:
        job: what to do with each part.
        parent: the process that it works for, None when that is on another machine.
        flag: a file that says, once it is there, that there is nothing more to do.
    """

    def __init__(self, job: Job, parent: int | None, flag: str | None) -> None:
        self._job = job
        self._parent = parent
        self._flag = flag

    def render(self, parts: Any) -> list[str | None]:
        """The reports of parts, both as JSON; null for a part that was left."""
        return [self._render(*json.loads(text)) for text in parts.to_pylist()]

    def _render(self, part: dict[str, Any], key: str) -> str | None:
        report = attempt(self._job, Task(Part(**part), key), self._is_wanted)
        return None if report is None else json.dumps(report.as_dict())

    def _is_wanted(self) -> bool:
        if self._parent is not None and os.getppid() != self._parent:
            return False
        return self._flag is None or not os.path.exists(self._flag)

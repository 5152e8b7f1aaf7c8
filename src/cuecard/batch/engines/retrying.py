"""Retrying: what was lost with a worker is rendered again."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

from ..work import Job, PartReport
from .contract import Engine, LostError, Task

__all__ = ["retried"]

_LOSSES = 2


def retried(engine: Engine) -> Engine:
    """An engine that renders again what was lost with a worker.

    After a second loss the parts that are left are rendered one by one, so that one which ends
    its worker every time is told from the others.
    """

    def run(job: Job, tasks: Sequence[Task]) -> Generator[PartReport, None, None]:
        left = {task.part.output: task for task in tasks}
        for _ in range(_LOSSES):
            try:
                with closing(engine(job, list(left.values()))) as reports:
                    for report in reports:
                        del left[report.output]
                        yield report
                return
            except LostError:
                continue
        for task in list(left.values()):
            yield _alone(engine, job, task)

    return run


def _alone(engine: Engine, job: Job, task: Task) -> PartReport:
    try:
        (report,) = engine(job, [task])
    except LostError:
        report = PartReport(task.part.output, task.part.name)
        report.fault = (
            "P826",
            "the process that rendered it was ended from outside, three times",
            "it may take more memory than there is",
        )
    return report

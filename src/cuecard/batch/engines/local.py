"""This machine: threads, and processes where those are worth their start.

What the interpreter itself does (segments that are rendered row by row, reading and writing
JSON Lines) is done by one thread at a time. Whether there is much of it is measured on the
first parts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Sequence
from contextlib import closing

from ...errors import PromptError
from ..work import Job, PartReport
from .contract import Engine, Task
from .threads import in_threads
from .workers import processes

__all__ = ["local", "processors"]

_WORTH = 1.0
"""Seconds that processes have to save; about as long as it takes to start them."""


def local(workers: int | None) -> Engine:
    """An engine on this machine.

    Args:
        workers: how many parts are rendered at a time; by default as many as there are
            processors.
    """
    most = workers or processors()
    apart: Engine | None = None

    def run(job: Job, tasks: Sequence[Task]) -> Generator[PartReport, None, None]:
        nonlocal apart
        count = min(most, len(tasks))
        left = {task.part.output: task for task in tasks}
        if apart is None:
            gain = _Gain(tasks, count)
            threads = in_threads(job, tasks, count, lambda: not gain.of_processes(left))
            with closing(threads) as reports:
                for report in reports:
                    del left[report.output]
                    yield report
            if not left:
                return
            apart = _processes(most)
        yield from apart(job, list(left.values()))

    return run


def _processes(most: int) -> Engine:
    try:
        return processes(most)
    except PromptError:
        # Daft is not there, or runs in another way in this process: so be it.
        return lambda job, tasks: in_threads(job, tasks, min(most, len(tasks)))


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux knows
        return os.cpu_count() or 1


class _Gain:
    """What processes would be worth, by how busy threads keep the processors.

    Args:
        tasks: the parts.
        count: how many threads there are, or processes there would be.
    """

    def __init__(self, tasks: Sequence[Task], count: int) -> None:
        self._weight = sum(task.part.weight for task in tasks)
        self._count = count
        self._began = time.perf_counter()
        self._used = time.process_time()

    def of_processes(self, left: dict[str, Task]) -> bool:
        """Whether they would be done sooner with the parts that are left."""
        weight = sum(task.part.weight for task in left.values())
        done = self._weight - weight
        if not done:
            return False
        seconds = time.perf_counter() - self._began
        busy = (time.process_time() - self._used) / seconds
        return seconds * weight / done * (1 - busy / self._count) > _WORTH

"""Threads: parts are rendered in this process, which needs no start.

Arrow does most of the work, and lets go of the interpreter meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from threading import Event

from ..work import Job, PartReport, render_part
from .contract import Task, attempt

__all__ = ["in_process", "in_threads"]


def in_process(job: Job, tasks: Sequence[Task]) -> Generator[PartReport, None, None]:
    """Render parts one after the other, in the thread that asks for them."""
    for task in tasks:
        yield render_part(job, task.part, task.key)


def in_threads(
    job: Job, tasks: Iterable[Task], count: int, goes_on: Callable[[], bool] = lambda: True
) -> Generator[PartReport, None, None]:
    """Render parts in threads of this process.

    Args:
        job: what to do.
        tasks: the parts; each is taken when a thread is free for it.
        count: how many threads.
        goes_on: is asked before each part but the first ones whether to take it.
    """
    left = iter(tasks)
    ended = Event()
    with ThreadPoolExecutor(count, "cuecard-batch") as pool:

        def submit(task: Task) -> Future[PartReport | None]:
            return pool.submit(attempt, job, task, lambda: not ended.is_set())

        try:
            running = set(map(submit, islice(left, count)))
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    report = future.result()
                    if report is not None:
                        yield report
                    if goes_on():
                        running.update(map(submit, islice(left, 1)))
        finally:
            ended.set()

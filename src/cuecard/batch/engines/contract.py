"""What an engine is: it renders parts, wherever it likes, and gives a report of each."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

from ..tables.parts import Part
from ..work import Job, PartReport, UnwantedError, render_part

__all__ = ["Engine", "LostError", "Task", "attempt"]


class Task(NamedTuple):
    """A part to render, and the key for its record."""

    part: Part
    key: str


Engine = Callable[[Job, Sequence[Task]], Generator[PartReport, None, None]]
"""Renders parts, and gives the report of each when it is done, in any order."""


class LostError(Exception):
    """A worker ended in the middle of its work."""


def attempt(job: Job, task: Task, wanted: Callable[[], bool]) -> PartReport | None:
    """The report of a part, whatever happens; None when it is not wanted any more.

    Args:
        job: what to do.
        task: the part.
        wanted: is asked from time to time whether to go on.
    """
    part, key = task
    try:
        return render_part(job, part, key, wanted=wanted) if wanted() else None
    except UnwantedError:
        return None
    except Exception as error:
        # One part that meets a mistake of ours must not cost the others.
        report = PartReport(part.output, part.name)
        report.fault = ("P206", f"internal error: {type(error).__name__}", None)
        return report

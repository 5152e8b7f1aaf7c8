"""How far a batch is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import MissingExtraError
from .output import print_line

if TYPE_CHECKING:
    from ..batch import BatchProgress

__all__ = ["shown_progress"]

_PAUSE = 15.0
"""Seconds between two lines."""


@contextmanager
def shown_progress(stream: TextIO) -> Iterator[Callable[[BatchProgress], None]]:
    """What to call with each progress; the bar ends with the block.

    Raises:
        MissingExtraError: it is a terminal, and `rich` is not installed (P807).
    """
    if not stream.isatty():
        yield _Lines()
        return
    bar = _make_bar(stream)
    with bar:
        yield _Bar(bar)


class _Lines:
    def __init__(self) -> None:
        self._next = time.monotonic() + _PAUSE

    def __call__(self, progress: BatchProgress) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _PAUSE
            print_line(
                f"batch: {progress.fraction:.0%}, {progress.rows:,} rows, "
                f"{progress.rate:,.0f} rows/s, {progress.failed:,} errors, {_left(progress)} left"
            )


class _Bar:
    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self._task = bar.add_task("rendering", total=1.0, rows="0", rate="0", errors="0", left="?")

    def __call__(self, progress: BatchProgress) -> None:
        self._bar.update(
            self._task,
            completed=progress.fraction,
            rows=f"{progress.rows:,}",
            rate=f"{progress.rate:,.0f}",
            errors=f"{progress.failed:,}",
            left=_left(progress),
        )


def _left(progress: BatchProgress) -> str:
    """The time that is left, when the rest is as fast."""
    if not progress.rows or not progress.fraction:
        return "?"
    seconds = round(progress.seconds * (1 - progress.fraction) / progress.fraction)
    return f"{seconds} s" if seconds < 100 else f"{seconds // 60} min"


def _make_bar(stream: TextIO) -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    except ModuleNotFoundError:
        raise MissingExtraError(
            "the progress bar needs the package `rich`", hint="pip install 'cuecard[batch]'"
        ) from None
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn("{task.fields[rows]} rows, {task.fields[rate]} rows/s,"),
        TextColumn("{task.fields[errors]} errors, {task.fields[left]} left"),
        console=Console(file=stream),
    )

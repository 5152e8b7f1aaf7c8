"""What the benchmarks share: the clock, tables and goals."""

from __future__ import annotations

import gc
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any


@dataclass(frozen=True)
class Goal:
    """A ratio that is to be reached, or not to be exceeded; without a limit it is only shown."""

    what: str
    value: float | None
    limit: float | None = None
    at_least: bool = False

    @property
    def met(self) -> bool | None:
        if self.value is None or self.limit is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def cells(self) -> tuple[str, str, str, str]:
        value = "not measured" if self.value is None else f"{number(self.value)} x"
        goal = "" if self.limit is None else f"{'>=' if self.at_least else '<='} {self.limit:g} x"
        return self.what, value, goal, {None: "", True: "met", False: "NOT MET"}[self.met]

    def data(self) -> dict[str, Any]:
        return {**asdict(self), "met": self.met}


def settle() -> None:
    """Clear garbage, and keep what stays out of later collections."""
    gc.collect()
    gc.freeze()


def time_batch(run: Callable[[], None]) -> float:
    """Seconds of one run, in which nobody collects garbage."""
    gc.disable()
    try:
        start = perf_counter()
        run()
        return perf_counter() - start
    finally:
        gc.enable()


def number(value: float) -> str:
    """Three digits that count."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Columns of text; those that are not `left` are flush right."""
    lines = [tuple(head), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [
        "  ".join(
            cell.ljust(width) if index in left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join((text[0], "-" * max(map(len, text)), *text[1:]))


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The installed ones of these packages, and Python."""
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def write_into(page: Path, name: str, facts: str, tables: Sequence[str]) -> None:
    """Put the result of a run between the marks of its name in a Markdown page."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, rest = page.read_text(encoding="utf-8").split(start)
    after = rest.split(end)[1]
    blocks = "\n\n".join(f"```text\n{table}\n```" for table in tables)
    stated = f"{date.today():%Y-%m-%d}; {facts}."
    page.write_text(f"{before}{start}\n{stated}\n\n{blocks}\n{end}{after}", encoding="utf-8")

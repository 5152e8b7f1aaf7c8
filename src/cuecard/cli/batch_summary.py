"""The summary of a batch: rows, failures by code, and how each segment was rendered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..layout import names_of, number, plural, table, visible

if TYPE_CHECKING:
    from ..batch import BatchResult

__all__ = ["summary_lines"]


def summary_lines(result: BatchResult) -> Iterator[str]:
    """The lines of the summary."""
    parts = f"{number(result.parts)} of {plural(result.of, 'part')}"
    if result.resumed:
        parts += f", {number(result.resumed)} from an earlier run"
    yield f"output   {visible(result.output)} ({parts})"
    yield f"rows     {number(result.rows)} read, {number(result.written)} written, " + (
        f"{number(result.failed)} failed"
    )
    yield f"time     {result.seconds:.1f} s, {number(round(result.rate))} rows a second"
    if result.codes:
        yield ""
        yield from _failures(result)
    if result.segments:
        yield ""
        yield from _segments(result)


def _failures(result: BatchResult) -> Iterator[str]:
    rows = [
        (
            code if index == 0 else "",
            number(count) if index == 0 else "",
            visible(f"{sample.file} row {sample.row:,}"),
            visible(sample.message),
        )
        for code, count in result.codes.items()
        for index, sample in enumerate(result.samples[code])
    ]
    yield from table(("code", "rows", "such as", "message"), rows, right={1})


def _segments(result: BatchResult) -> Iterator[str]:
    rows = [
        (
            str(segment.number),
            str(segment.line),
            segment.kind,
            " ".join(sorted(segment.ways)),
            number(segment.rendered),
            names_of(segment.variables),
        )
        for segment in result.segments
    ]
    header = ("segment", "line", "kind", "rendered by", "renders", "reads")
    yield from table(header, rows, right={0, 1, 4})

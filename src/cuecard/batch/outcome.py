"""The outcome of a batch: counts, rows that failed, and how each segment was rendered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .columns import SegmentSummary, Summary
from .tables.parts import Fault
from .work import SAMPLES, OnError, PartReport, Sample

__all__ = ["BatchProgress", "BatchResult", "collect"]


@dataclass(frozen=True)
class BatchProgress:
    """How far a batch is.

    Attributes:
        rows: rows that were read, in this run.
        failed: rows that failed, in this run.
        parts: parts that are done, those of earlier runs too.
        of: how many parts there are.
        fraction: how much of the work is done, from 0 to 1.
        seconds: how long this run has taken.
    """

    rows: int
    failed: int
    parts: int
    of: int
    fraction: float
    seconds: float

    @property
    def rate(self) -> float:
        """Rows a second."""
        return self.rows / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class BatchResult:
    """What came of a batch.

    Attributes:
        output: where the prompts are.
        rows: rows of all parts that were read.
        written: rows of the output.
        failed: rows that failed.
        codes: how many failed by code.
        samples: the first rows that failed, by code.
        parts: how many parts are done.
        of: how many parts there are.
        resumed: parts that an earlier run had done.
        faults: the files and parts that failed as a whole.
        stopped: whether the batch ended at a failure, with parts left to do.
        seconds: how long this run took.
        rate: rows that this run rendered a second.
        segments: how the segments were rendered.
        on_error: what was asked for rows that fail.
    """

    output: str
    rows: int = 0
    written: int = 0
    failed: int = 0
    codes: dict[str, int] = field(default_factory=dict)
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    parts: int = 0
    of: int = 0
    resumed: int = 0
    faults: list[Fault] = field(default_factory=list)
    stopped: bool = False
    seconds: float = 0.0
    rate: float = 0.0
    segments: list[SegmentSummary] = field(default_factory=list)
    on_error: OnError = "keep"

    @property
    def ok(self) -> bool:
        """Whether no part failed, not all rows did, and none did where that ends the batch."""
        bearable = self.on_error != "stop" and self.failed < self.rows
        return not (self.faults or self.stopped) and (not self.failed or bearable)

    def as_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {**asdict(self), "ok": self.ok}


def collect(
    output: str,
    reports: Iterable[PartReport],
    *,
    of: int,
    resumed: Mapping[str, Any],
    faults: Iterable[Fault],
    stopped: bool,
    seconds: float,
    on_error: OnError,
) -> BatchResult:
    """The outcome of parts, given in the order of the input.

    Args:
        output: where the prompts are.
        reports: what became of the parts that were reached.
        of: how many parts there are.
        resumed: the parts that an earlier run had done.
        faults: the files that could not be rendered at all.
        stopped: whether parts were left.
        seconds: how long it took.
        on_error: what was asked for rows that fail.
    """
    told = list(reports)
    summary = Summary()
    codes: dict[str, int] = {}
    samples: dict[str, list[Sample]] = {}
    failed_parts = list(faults)
    for report in told:
        for code, count in sorted(report.codes.items()):
            codes[code] = codes.get(code, 0) + count
            named = samples.setdefault(code, [])
            named.extend(report.samples[code][: SAMPLES - len(named)])
        if report.choices is not None:
            summary.merge(_summary(report.choices))
        if report.fault is not None:
            failed_parts.append(Fault(report.output, *report.fault))
    done = [report for report in told if report.fault is None and not report.stopped]
    fresh = sum(report.rows for report in told if report.output not in resumed)
    return BatchResult(
        output=output,
        rows=sum(report.rows for report in told),
        written=sum(report.written for report in done),
        failed=sum(report.failed for report in told),
        codes=dict(sorted(codes.items())),
        samples=dict(sorted(samples.items())),
        parts=len(done),
        of=of,
        resumed=len(resumed),
        faults=failed_parts,
        stopped=stopped,
        seconds=seconds,
        rate=fresh / seconds if seconds > 0 else 0.0,
        segments=summary.rows,
        on_error=on_error,
    )


def _summary(data: Mapping[str, Any]) -> Summary:
    summary = Summary()
    for segment in data["segments"]:
        known = SegmentSummary(**{**segment, "variables": tuple(segment["variables"])})
        summary.segments[known.number] = known
    return summary

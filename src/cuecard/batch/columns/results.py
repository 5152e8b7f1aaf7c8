"""Results: the prompts and errors of a part of a table, and how its segments were made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from ..arrow import Array, pa

__all__ = ["ROW_ERROR", "RenderedBatch", "SegmentChoice", "SegmentSummary", "Summary", "Way"]

ROW_ERROR = pa.struct([("code", pa.string()), ("message", pa.string())])
"""What a row's error is in a table: the code and the message of a `PromptError`."""

Way = Literal["literal", "column", "distinct", "rows"]


class SegmentChoice(NamedTuple):
    """How a segment was made for a part of a table.

    Attributes:
        number: its place in the template, from 1.
        kind: `"text"`, `"output"` or `"block"`.
        line: the line of the template on which it begins, from 1.
        variables: what it reads; empty also when it may read anything.
        way: `"literal"` (the same text for all rows), `"column"` (by Arrow, without the
            engine), `"distinct"` (rendered once for each combination of what it reads) or
            `"rows"` (rendered for each row).
        rows: how many rows there were.
        distinct: combinations among them that the engine's texts are of.
        rendered: how often the engine rendered it; what it had rendered for an earlier part
            is taken from there.
    """

    number: int
    kind: str
    line: int
    variables: tuple[str, ...]
    way: Way
    rows: int
    distinct: int
    rendered: int


@dataclass
class SegmentSummary:
    """How a segment was made over many parts: see `SegmentChoice`.

    Attributes:
        ways: how many parts were made in each way.
    """

    number: int
    kind: str
    line: int
    variables: tuple[str, ...]
    ways: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    rendered: int = 0


class Summary:
    """How the segments of a template were made, over all parts; it pickles.

    Attributes:
        segments: by number, in order.
    """

    def __init__(self) -> None:
        self.segments: dict[int, SegmentSummary] = {}

    def add(self, choices: Iterable[SegmentChoice]) -> None:
        """Count one part more."""
        for choice in choices:
            found = self._of(choice.number, choice.kind, choice.line, choice.variables)
            found.ways[choice.way] = found.ways.get(choice.way, 0) + 1
            found.rows += choice.rows
            found.rendered += choice.rendered

    def merge(self, other: Summary) -> None:
        """Count what another process has counted."""
        for one in other.segments.values():
            found = self._of(one.number, one.kind, one.line, one.variables)
            for way, parts in one.ways.items():
                found.ways[way] = found.ways.get(way, 0) + parts
            found.rows += one.rows
            found.rendered += one.rendered

    def _of(self, number: int, kind: str, line: int, variables: tuple[str, ...]) -> SegmentSummary:
        if number not in self.segments:
            self.segments[number] = SegmentSummary(number, kind, line, variables)
        return self.segments[number]

    @property
    def rows(self) -> list[SegmentSummary]:
        """The segments in order."""
        return [self.segments[number] for number in sorted(self.segments)]

    def as_dict(self) -> dict[str, Any]:
        """Plain data, as JSON takes it."""
        return {"segments": [asdict(segment) for segment in self.rows]}


@dataclass(frozen=True)
class RenderedBatch:
    """The prompts of some rows of a table, in their order.

    Attributes:
        start: the first row of the table that these are of, from 0.
        prompt: the prompts, of type `large_string`; null where one failed. A profile with
            `fallback` gives the template as it stands there.
        error: of type `ROW_ERROR`; null where nothing failed.
        failed: how many rows have an error.
        choices: how each segment was made.
        tokens: the tokens of each prompt, when they are counted; null where there is none.
        front: the characters in front of the first text that may change at a turn, likewise.
    """

    start: int
    prompt: Array
    error: Array
    failed: int
    choices: tuple[SegmentChoice, ...]
    tokens: Array | None = None
    front: Array | None = None

    def __len__(self) -> int:
        return len(self.prompt)

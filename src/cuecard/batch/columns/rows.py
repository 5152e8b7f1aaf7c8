"""Rows: segments that are rendered row by row, neighbours together as one.

A call of the engine and the values that it is given cost more than most segments, so that what
stands between two of them - literal text, a plain output - is rendered along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...compiler import SegmentPlan
from ...template.pieces import Pieces
from ..arrow import texts_of
from .engine import EngineTexts
from .segments import Made, Segment, missing_in, read_by
from .values import Column, Texts

__all__ = ["RowRuns"]

_MAX_BETWEEN = 4096
"""Longer texts are not rendered along: the engine would copy them for every row."""


class RowRuns:
    """Renders runs of segments row by row.

    Args:
        segments: all segments of a template.
        pieces: renders them; None for a template that has none to render.
        apart: the number of a segment that is not rendered with those before it.
    """

    def __init__(
        self, segments: Sequence[Segment], pieces: Pieces | None, apart: int | None
    ) -> None:
        self._segments = segments
        self._pieces = pieces
        self._apart = apart
        self._engines: dict[tuple[int, int], tuple[SegmentPlan, EngineTexts]] = {}

    def complete(
        self, made: Sequence[Made | None], columns: Mapping[str, Column], rows: int
    ) -> list[Made]:
        """Render the segments that were not made otherwise.

        Args:
            made: the other segments, in order, and None for each of these.
            columns: the values of each variable that is given at all.
            rows: how many rows there are.
        """
        complete = list(made)
        for start, stop in self._runs(made):
            plan, engine = self._engine(start, stop)
            given = read_by(plan, columns)
            values = [column.frozen() for column in given.values()]
            texts = engine.texts(given, zip(*values, strict=True))
            pieces, failed = (Texts(texts_of(texts)),), missing_in(texts)
            for number in range(start, stop):
                segment, before = self._segments[number], complete[number]
                if segment.plan.literal is not None:
                    assert before is not None
                    complete[number] = before._replace(pieces=())
                else:
                    complete[number] = segment.made_by_row((), None, rows)
            complete[start] = self._segments[start].made_by_row(pieces, failed, rows)
        return [one for one in complete if one is not None]

    def _runs(self, made: Sequence[Made | None]) -> Iterator[tuple[int, int]]:
        """From which to before which segment they are rendered together."""
        start = stop = None
        for number, one in enumerate(made):
            if start is not None and (number == self._apart or not self._goes_along(number, one)):
                assert stop is not None
                yield start, stop
                start = None
            if one is None:
                start = number if start is None else start
                stop = number + 1
        if start is not None and stop is not None:
            yield start, stop

    def _goes_along(self, number: int, one: Made | None) -> bool:
        if one is None:
            return True
        literal = self._segments[number].plan.literal
        if literal is not None:
            return len(literal) <= _MAX_BETWEEN
        return one.choice.way == "column"

    def _engine(self, start: int, stop: int) -> tuple[SegmentPlan, EngineTexts]:
        if (start, stop) not in self._engines:
            assert self._pieces is not None
            run = [
                segment.plan if segment.plan.literal is None else segment.plan.literal
                for segment in self._segments[start:stop]
            ]
            plan, pieces = self._segments[start].plan, self._pieces
            if len(run) > 1:
                pieces = pieces.joined(run)
                plan = pieces.plans[0]
            self._engines[start, stop] = plan, EngineTexts(plan, pieces)
        return self._engines[start, stop]

"""Parts: some rows of a table, with the texts of all segments and the rows that are in doubt."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from ...compiler import SegmentPlan
from ...engine import MAIN
from ...prompt import Scope
from ...template import Template
from ...template.pieces import Pieces
from ...template.tracing import forms_of
from ..arrow import Array, np
from .binding import Binding
from .codes import combined
from .failures import Outcome, WholeRows
from .joining import Joining, characters
from .plain import Unreadable
from .results import SegmentChoice
from .rows import RowRuns
from .segments import Made, Segment
from .slots import Slots
from .values import ABSENT, Column, column_of, shared

__all__ = ["Part", "Parts"]


class Part:
    """Some rows of a table, rendered but for those in doubt.

    Attributes:
        rows: how many.
        trims: whether the end of the texts is trimmed.
        lengths: the bytes of each row, before its end is trimmed.
        joining: the texts, which make the prompts.
        doubt: the rows that have to be rendered as a whole, in order.
        choices: how each segment was made.
        front: the characters of the cacheable front of each row, before the end of the text
            is trimmed; None when they are not counted, or when all of the text is the front.
    """

    def __init__(
        self,
        made: Sequence[Made],
        columns: Mapping[str, Column],
        slots: Slots | None,
        template: Template,
        stable: int | None,
        most_bytes: int,
        rows: int,
    ) -> None:
        texts = [piece for one in made for piece in one.pieces]
        self.rows = rows
        # A text without tags is trimmed already; it keeps its end when that is done again.
        self.trims = template.profile.end == "one_newline"
        self.joining = Joining(texts, rows, trims=self.trims)
        self.choices: tuple[SegmentChoice, ...] = tuple(one.choice for one in made)
        self.lengths = self.joining.bytes()
        self.front = None
        if stable is not None and stable < len(made):
            before = [piece for one in made[:stable] for piece in one.pieces]
            self.front = characters(before, rows)
        self._columns = columns
        self._slots = slots
        self._bad = _either([column.bad for column in columns.values()], rows)
        if slots is not None:
            self._bad = _either([self._bad, slots.bad], rows)
        doubt = _either([self._bad, *(one.failed for one in made)], rows)
        most = template.profile.limits.output
        if rows and self.lengths.max() > most_bytes:
            doubt = _either([doubt, self.lengths > most_bytes], rows)
        if rows and self.lengths.max() > most:
            doubt = _either([doubt, characters(texts, rows) > most], rows)
        self.doubt = np.zeros(0, np.int64) if doubt is None else np.flatnonzero(doubt)

    def outcomes(self, whole: WholeRows) -> list[Outcome]:
        """What becomes of the rows in doubt; those that hold the same are rendered once."""
        if not len(self.doubt):
            return []
        codes = combined([column.codes() for column in self._columns.values()], self.rows).codes
        known: dict[Hashable, Outcome] = {}
        outcomes = []
        for row in self.doubt.tolist():
            # What cannot be read has no code of its own.
            is_bad = self._bad is not None and bool(self._bad[row])
            key = (row,) if is_bad else int(codes[row])
            if key not in known:
                known[key] = whole.outcome(self._row(row))
            outcomes.append(known[key])
        return outcomes

    def _row(self, row: int) -> dict[str, Any]:
        slots = {} if self._slots is None else self._slots.row(row)
        if isinstance(slots, Unreadable):
            slots = {"slots": slots}
        values = {name: column.plain(row) for name, column in self._columns.items()}
        return {**slots, **{n: v for n, v in values.items() if v is not ABSENT}}


def _either(masks: Sequence[Any], rows: int) -> Any:
    """The rows of any of the masks; None when there is none."""
    found = [mask for mask in masks if mask is not None]
    return np.logical_or.reduce(found) if found else None


class Parts:
    """Makes parts: finds the values of the variables, and renders the segments.

    Args:
        template: what is rendered.
        binding: where the values are found.
        context: values that all rows share.
        front: whether to find which segments are the cacheable front.
    """

    def __init__(
        self, template: Template, binding: Binding, context: Mapping[str, Any], *, front: bool
    ) -> None:
        self._template = template
        self._binding = binding
        self._context = context
        self._front = front
        self._state = self._prepared()

    def _prepared(self) -> _State:
        pieces = self._template.pieces()
        if pieces is None:
            text = None if self._template.failure is not None else self._template.render({})
            return _State(None, _constant(self._template, text or ""), {}, None)
        names = self._context if pieces.names is None else pieces.names
        freeze = pieces.freezer().freeze
        frozen = {n: freeze(n, self._context[n]) for n in names if n in self._context}
        segments = [Segment(i, p, pieces) for i, p in enumerate(pieces.plans, 1)]
        return _State(pieces, segments, frozen, self._stable(pieces))

    def _stable(self, pieces: Pieces) -> int | None:
        """How many segments are in front of the first that may change at a turn."""
        if not self._front:
            return None
        forms = forms_of(pieces.plans, self._context, self._template.scopes)
        return len(list(takewhile(lambda form: form.scope < Scope.TURN, forms)))

    def part(self, batch: Any) -> Part:
        """Render some rows of a table."""
        state = self._state
        if state.pieces is not None and state.pieces.changed():
            self._state = state = self._prepared()
        rows = len(batch)
        columns, slots = self._columns(state, batch)
        made = state.runs.complete(
            [segment.make(columns, rows) for segment in state.segments], columns, rows
        )
        most_bytes = sys.maxsize if state.pieces is None else state.pieces.most_bytes
        return Part(made, columns, slots, self._template, state.stable, most_bytes, rows)

    def _columns(self, state: _State, batch: Any) -> tuple[dict[str, Column], Slots | None]:
        pieces = state.pieces
        if pieces is None:
            return {}, None
        places = self._binding.columns_of(batch.schema)
        slots = None
        if self._binding.slots is not None:
            slots = Slots(_whole(batch.column(self._binding.slots)), pieces.freezer)
        names = pieces.names
        if names is None:
            given = slots.names() if slots is not None else ()
            names = tuple(sorted({*places, *self._context, *given}))
        columns: dict[str, Column] = {}
        for name in names:
            if name in places:
                array = _whole(batch.column(places[name]))
                columns[name] = column_of(array, name, pieces.freezer)
            elif slots is not None and slots.gives(name):
                columns[name] = slots.column(name, self._context.get(name, ABSENT))
            elif name in state.frozen:
                columns[name] = shared(self._context[name], state.frozen[name], len(batch))
        return columns, slots


class _State:
    """What is made of the template as its files are, and lasts until these change."""

    def __init__(
        self,
        pieces: Pieces | None,
        segments: Sequence[Segment],
        frozen: Mapping[str, Any],
        stable: int | None,
    ) -> None:
        self.pieces = pieces
        self.segments = segments
        self.frozen = frozen
        self.stable = stable
        self.runs = RowRuns(segments, pieces, stable)


def _constant(template: Template, text: str) -> list[Segment]:
    """The one segment of a text that is always the same."""
    span = template.source.span(0, len(template.source.text))
    plan = SegmentPlan(MAIN, "text", span, text)
    return [Segment(1, plan, None)]


def _whole(array: Array) -> Array:
    """A column without chunks."""
    return array.combine_chunks() if hasattr(array, "combine_chunks") else array

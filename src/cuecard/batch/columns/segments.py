"""Segments over a part of a table: each is made in the way that renders least.

Literal text is one text for all rows. A plain output of text, or an `if` around such outputs,
is put together by Arrow. Anything else is rendered by the engine, once for each distinct
combination of the values that it reads, or row by row when hardly any two rows agree.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from ...compiler import SegmentPlan
from ...template import pieces as parts
from ..arrow import first_rows, np, texts_of
from .cache import RenderedTexts
from .choices import Pieces, chosen
from .codes import combined
from .engine import EngineTexts
from .results import SegmentChoice, Way
from .values import Column, Texts, key_of

__all__ = ["Made", "Segment", "missing_in", "read_by"]

_NEARLY_ALL = 0.9
_SAMPLE = 256


class Made(NamedTuple):
    """What a segment adds to the rows of a part.

    Attributes:
        pieces: what it prints, one after the other: a text for all rows, or one for each.
        failed: the rows for which the engine raised, as a NumPy mask; None for none.
        choice: how it was made.
    """

    pieces: Pieces
    failed: Any
    choice: SegmentChoice


class Segment:
    """One segment of a template.

    Args:
        number: its place among the others, from 1.
        plan: what it is.
        pieces: renders it.
    """

    def __init__(self, number: int, plan: SegmentPlan, pieces: parts.Pieces | None) -> None:
        self.plan = plan
        self._number = number
        self._engine = EngineTexts(plan, pieces)
        self._kept = RenderedTexts()
        self._mostly_distinct = False

    def make(self, columns: Mapping[str, Column], rows: int) -> Made | None:
        """Make its texts for some rows; None when it has to be rendered row by row.

        Args:
            columns: the values of each variable that is given at all.
            rows: how many rows there are.
        """
        plan = self.plan
        if plan.literal is not None:
            return Made((plan.literal,), None, self._choice("literal", rows))
        pieces = self._joined(columns)
        if pieces is not None:
            return Made(pieces, None, self._choice("column", rows))
        given = read_by(plan, columns)
        if self._seems_distinct(given, rows):
            return None
        codes, count = combined([column.codes() for column in given.values()], rows)
        self._mostly_distinct = count > _NEARLY_ALL * rows
        if self._mostly_distinct and rows > 1:
            return None
        return self._by_combination(given, codes, count)

    def _choice(self, way: Way, rows: int, distinct: int = 0, rendered: int = 0) -> SegmentChoice:
        plan = self.plan
        names = plan.names or ()
        return SegmentChoice(
            self._number, plan.kind, plan.span.line, names, way, rows, distinct, rendered
        )

    # by Arrow ------------------------------------------------------------------------------------

    def _joined(self, columns: Mapping[str, Column]) -> Pieces | None:
        plan = self.plan
        if plan.variable is not None:
            column = columns.get(plan.variable)
            texts = None if column is None else column.printed()
            return None if texts is None else (texts,)
        return None if plan.choice is None else chosen(plan.choice, columns)

    # by the engine -------------------------------------------------------------------------------

    def _seems_distinct(self, given: Mapping[str, Column], rows: int) -> bool:
        """Whether a sample is as distinct as all of the last part was."""
        if not self._mostly_distinct or rows < 4 * _SAMPLE or not given:
            return False
        spread = np.linspace(0, rows - 1, _SAMPLE).astype(np.int64)
        keys = [map(key_of, column.frozen(spread)) for column in given.values()]
        return len(set(zip(*keys, strict=True))) > _NEARLY_ALL * _SAMPLE

    def made_by_row(self, pieces: Pieces, failed: Any, rows: int) -> Made:
        """What it adds when it was rendered row by row."""
        return Made(pieces, failed, self._choice("rows", rows, rows, rows))

    def _by_combination(self, given: Mapping[str, Column], codes: Any, count: int) -> Made:
        first = first_rows(codes, count)
        values = [column.frozen(first) for column in given.values()]
        combinations: list[tuple[Any, ...]] = list(zip(*values, strict=True)) if values else [()]
        texts, rendered = self._recalled(given, combinations[:count])
        choice = self._choice("distinct", len(codes), count, rendered)
        if count == 1 and texts[0] is not None:
            return Made((texts[0],), None, choice)
        missing = missing_in(texts)
        failed = None if missing is None else missing[codes]
        return Made((Texts(texts_of(texts), codes),), failed, choice)

    def _recalled(
        self, given: Mapping[str, Column], combinations: list[tuple[Any, ...]]
    ) -> tuple[list[str | None], int]:
        """The texts of these combinations, and how many of them had to be rendered."""
        if not self._kept.keeps:
            return self._engine.texts(given, combinations), len(combinations)
        keys: list[Hashable] = [tuple(map(key_of, values)) for values in combinations]
        texts = self._kept.find(keys)
        new = [number for number, text in enumerate(texts) if text is None]
        made = self._engine.texts(given, (combinations[number] for number in new))
        for number, text in zip(new, made, strict=True):
            texts[number] = text
            if text is not None:
                self._kept.keep(keys[number], text, _size(keys[number]))
        return texts, len(new)


def _size(key: Any) -> int:
    return sum(len(part) for part in key if isinstance(part, (str, bytes)))


def read_by(plan: SegmentPlan, columns: Mapping[str, Column]) -> dict[str, Column]:
    """The columns that a segment reads."""
    names = columns.keys() if plan.names is None else plan.names
    return {name: columns[name] for name in names if name in columns}


def missing_in(texts: Sequence[str | None]) -> Any:
    """Which texts are missing, as a NumPy mask; None when none is."""
    if None not in texts:
        return None
    return np.fromiter((text is None for text in texts), bool, len(texts))

"""Finishing: prompts, errors and counts of a slice, the rows that were in doubt included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...tokens import TokenCounter, estimate
from ..arrow import TEXT, Array, np, pa, pc, texts_of
from .failures import Outcome
from .parts import Part
from .results import ROW_ERROR, RenderedBatch, SegmentChoice

__all__ = ["Finish", "every_row"]


class Finish:
    """Puts the slices of a part together.

    Args:
        part: the rows.
        outcomes: what became of the rows in doubt.
        counter: counts the tokens of each prompt.
        front: whether to count the characters of the cacheable front.
    """

    def __init__(
        self,
        part: Part,
        outcomes: Sequence[Outcome],
        counter: TokenCounter | None,
        *,
        front: bool,
    ) -> None:
        self._part = part
        self._outcomes = outcomes
        self._counter = counter
        self._front = front

    def slice(
        self, first: int, stop: int, before: int, choices: tuple[SegmentChoice, ...]
    ) -> RenderedBatch:
        """Some of the rows, from `first` to `stop`; `before` are the rows before the part's."""
        prompts = self._part.joining.prompts(first, stop)
        low, high = np.searchsorted(self._part.doubt, (first, stop)).tolist()
        places = self._part.doubt[low:high] - first
        outcomes = self._outcomes[low:high]
        if outcomes:
            prompts = _replaced(prompts, places, texts_of([one.text for one in outcomes]))
        errors, failed = _errors(stop - first, places, outcomes)
        return RenderedBatch(
            before + first,
            prompts,
            errors,
            failed,
            choices,
            _tokens(prompts, self._counter),
            self._fronts(prompts, first, stop, places, outcomes) if self._front else None,
        )

    def _fronts(
        self, prompts: Array, first: int, stop: int, places: Any, outcomes: Sequence[Outcome]
    ) -> Array:
        lengths = pc.utf8_length(prompts).cast(pa.int64())
        if self._part.front is not None:
            # Of a text whose end was trimmed, the line break is after the front.
            lengths = pc.subtract(lengths, 1) if self._part.trims else lengths
            lengths = pc.min_element_wise(lengths, pa.array(self._part.front[first:stop]))
        if not outcomes:
            return lengths
        fronts = pa.array([one.front for one in outcomes], pa.int64())
        return _replaced(lengths, places, fronts)


def every_row(
    outcome: Outcome, rows: int, start: int, counter: TokenCounter | None, *, front: bool
) -> RenderedBatch:
    """The same outcome for all rows."""
    prompts = pa.repeat(pa.scalar(outcome.text, TEXT), rows)
    errors, failed = _errors(rows, np.arange(rows), [outcome] * rows)
    fronts = pa.nulls(rows, pa.int64()) if front else None
    return RenderedBatch(start, prompts, errors, failed, (), _tokens(prompts, counter), fronts)


def _replaced(array: Array, places: Any, values: Array) -> Array:
    mask = np.zeros(len(array), bool)
    mask[places] = True
    return pc.replace_with_mask(array, pa.array(mask), values)


def _errors(rows: int, places: Any, outcomes: Sequence[Outcome]) -> tuple[Array, int]:
    failing = [one.code is not None for one in outcomes]
    if not any(failing):
        return pa.nulls(rows, ROW_ERROR), 0
    failed = places[np.array(failing)]
    numbers = np.zeros(rows, np.int64)
    numbers[failed] = np.arange(len(failed))
    null = np.ones(rows, bool)
    null[failed] = False
    index = pa.array(numbers, mask=null)
    made = [{"code": one.code, "message": one.message} for one in outcomes if one.code is not None]
    return pa.array(made, ROW_ERROR).take(index), len(failed)


def _tokens(prompts: Array, counter: TokenCounter | None) -> Array | None:
    if counter is None:
        return None
    if counter is estimate:
        return pc.divide(pc.add(pc.utf8_length(prompts).cast(pa.int64()), 3), 4)
    counts = [None if text is None else counter(text) for text in prompts.to_pylist()]
    return pa.array(counts, pa.int64())

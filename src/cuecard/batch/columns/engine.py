"""The engine's texts of one segment, for many rows of values.

A call of the engine takes longer than most segments do, so rows are rendered by the dozen in
one call, as a loop. They share the fuel of one row there, so that none has more than its own;
where that does not suffice, or a row fails, its dozen is rendered row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from secrets import token_hex
from typing import Any

from ...compiler import SegmentPlan
from ...engine import describe
from ...template.pieces import Pieces
from .values import ABSENT, Column

__all__ = ["EngineTexts"]

Row = tuple[Any, ...]
Looped = Callable[..., str]

_MARK = f"\0{token_hex(8)}\0"
"""Stands between the texts of rows. A text that holds it is rendered by itself."""

_MOST = 256
_CHARACTERS = 1 << 18


class EngineTexts:
    """Renders a segment.

    Args:
        plan: the segment.
        pieces: what renders it; None for literal text.
    """

    def __init__(self, plan: SegmentPlan, pieces: Pieces | None) -> None:
        self._plan = plan
        self._pieces = pieces
        self._looped: dict[tuple[str, ...], Looped | None] = {}
        self._together = 32

    def texts(self, given: Mapping[str, Column], rows: Iterable[Row]) -> list[str | None]:
        """The text of each row of values, in order; None where the engine raises.

        Args:
            given: the columns, by variable.
            rows: the frozen values of these, in the same order.
        """
        names = tuple(given)
        partial = any(column.partial for column in given.values())
        looped = None if partial or not names else self._loop(names)
        if looped is None:
            return self._one_by_one(names, rows, partial)
        texts: list[str | None] = []
        left = iter(rows)
        while group := list(islice(left, self._together)):
            made = self._grouped(looped, group)
            texts += self._one_by_one(names, group, False) if made is None else made
            self._adapt(made)
        return texts

    def _loop(self, names: tuple[str, ...]) -> Looped | None:
        if names not in self._looped:
            assert self._pieces is not None
            self._looped[names] = self._pieces.repeated(self._plan, names)
        return self._looped[names]

    def _grouped(self, looped: Looped, group: list[Row]) -> list[str] | None:
        """The texts of some rows by one call; None when that cannot be."""
        if len(group) == 1:
            return None
        rows: list[Any] = [row[0] for row in group] if len(group[0]) == 1 else group
        try:
            *texts, rest = looped(rows=rows, mark=_MARK).split(_MARK)
        except BaseException as error:
            _refuse_foreign(error)
            return None
        return texts if len(texts) == len(group) and not rest else None

    def _adapt(self, made: list[str] | None) -> None:
        """Fewer rows a call where one fails, and never very long texts."""
        if made is None:
            self._together = max(self._together // 2, 2)
            return
        size = sum(map(len, made)) // len(made) + 1
        self._together = max(min(self._together * 2, _MOST, _CHARACTERS // size), 2)

    def _one_by_one(
        self, names: tuple[str, ...], rows: Iterable[Row], partial: bool
    ) -> list[str | None]:
        assert self._pieces is not None
        render, name = self._pieces.render, self._plan.name
        texts: list[str | None] = []
        left = iter(rows)
        while True:
            try:
                for values in left:
                    pairs = zip(names, values, strict=True)
                    texts.append(render(name, **(_present(pairs) if partial else dict(pairs))))
                return texts
            except BaseException as error:
                _refuse_foreign(error)
                texts.append(None)


def _present(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in pairs if value is not ABSENT}


def _refuse_foreign(error: BaseException) -> None:
    """An interruption of the process is raised as it is."""
    if not isinstance(error, Exception) and describe(error) is None:
        raise error

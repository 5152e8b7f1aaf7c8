"""Texts of which some change from turn to turn: only those are made anew that read a new value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from ..compiler import Choice, Filling, SegmentPlan

__all__ = ["ABSENT", "Changing", "Part"]

ABSENT: Any = object()
"""Stands for the value of a name that a turn does not give."""

Values = Sequence[Any]
"""The values of a turn, in the order of its names."""


class Part:
    """A part that turns change.

    Args:
        plan: what it is.
        render: the engine's render of it.
        bound: the bound values that it reads.
        names: what turns give, with the number of each.
    """

    __slots__ = ("_bound", "_choice", "_name", "_reads", "_render", "mask", "variable")

    def __init__(
        self,
        plan: SegmentPlan,
        render: Callable[..., str],
        bound: Mapping[str, Any],
        names: Mapping[str, int],
    ) -> None:
        read = plan.names or ()
        self._name = plan.name
        self._render = render
        self._bound = {name: bound[name] for name in read if name in bound}
        self._reads = tuple((name, names[name]) for name in read if name in names)
        self._choice = None if self._bound or plan.choice is None else _Chooser(plan.choice, names)
        self.mask = sum(1 << number for _, number in self._reads)
        self.variable = names.get(plan.variable) if plan.variable is not None else None

    def text(self, values: Values) -> str:
        """The part's text for the values of a turn."""
        if self._choice is not None:
            text = self._choice.text(values)
            if text is not None:
                return text
        given = {
            name: values[number] for name, number in self._reads if values[number] is not ABSENT
        }
        return self._render(self._name, **self._bound, **given)


class _Chooser:
    """A choice that is made by number of value instead of by name."""

    __slots__ = ("_filled", "_otherwise", "_reads", "_then")

    def __init__(self, choice: Choice, names: Mapping[str, int]) -> None:
        read = {*choice.tests, *choice.then.names, *choice.otherwise.names}
        self._reads = tuple(names[name] for name in sorted(read))
        self._filled = tuple(names[name] for name in choice.filled)
        self._then = _filler(choice.then, names)
        self._otherwise = _filler(choice.otherwise, names)

    def text(self, values: Values) -> str | None:
        """What it prints; None when something that it reads is not text."""
        for number in self._reads:
            if type(values[number]) is not str:
                return None
        form, pick = self._then
        for number in self._filled:
            if not values[number]:
                form, pick = self._otherwise
                break
        text: str = form % pick(values)
        return text


def _filler(filling: Filling, names: Mapping[str, int]) -> tuple[str, Callable[[Values], Any]]:
    """The format, and what picks the values that it takes."""
    if not filling.names:
        return filling.format, _nothing
    return filling.format, itemgetter(*[names[name] for name in filling.names])


def _nothing(values: Values) -> tuple[()]:
    return ()


class Changing:
    """Finished texts, and between them the parts that turns change.

    A part's text depends on nothing but the values that it reads. As long as these are those
    of the turn before, so is its text.

    Args:
        parts: texts and parts, in order.
        names: what turns give.
        freeze: freezes a value, by name; equal data may come out as the same object.
    """

    __slots__ = ("_always", "_freeze", "_last", "_names", "_steps")

    def __init__(
        self,
        parts: Sequence[str | Part],
        names: Sequence[str],
        freeze: Callable[[str, Any], Any],
    ) -> None:
        self._names = names
        self._freeze = freeze
        # For parts that read nothing of a turn: they failed when they were bound, and will.
        always = 1 << len(names)
        self._steps = tuple(
            (index, part.mask or always, part.variable, part)
            for index, part in enumerate(parts)
            if isinstance(part, Part)
        )
        self._always = always if any(mask == always for _, mask, _, _ in self._steps) else 0
        # The turn before. One object, which is replaced as a whole: threads may share this.
        texts = [part if isinstance(part, str) else "" for part in parts]
        self._last: tuple[Values, list[str]] = [object() for _ in names], texts

    def turn(self, values: Values) -> tuple[Values, list[str]]:
        """The frozen values and the texts of a turn; neither is to be changed."""
        last = before_all, texts = self._last
        changed = self._always
        for number, value in enumerate(values):
            before = before_all[number]
            if value is not before:
                if type(value) is not str or not value.isascii():
                    values = list(values)
                    value = self._frozen(values, number)
                    if value is before:
                        continue
                # Only of texts does it hold that equal ones print the same: 1 is true.
                if type(value) is not str or value != before:
                    changed |= 1 << number
        if not changed:
            return last
        texts = texts.copy()
        for index, mask, variable, part in self._steps:
            if mask & changed:
                value = None if variable is None else values[variable]
                texts[index] = value if type(value) is str else part.text(values)
        self._last = last = values, texts
        return last

    def _frozen(self, values: list[Any], number: int) -> Any:
        value = values[number]
        if value is not ABSENT:
            value = values[number] = self._freeze(self._names[number], value)
        return value

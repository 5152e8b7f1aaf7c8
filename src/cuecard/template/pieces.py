"""Pieces: a template as parts, for those that render each part over many contexts at once."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ..compiler import Compiled, SegmentPlan, compile_source
from ..engine import MAIN, MEASURE_NAME, EngineError
from ..profile import Profile
from ..source import Source
from ..values import Freezer
from .merging import merged

__all__ = ["Pieces", "pieces_of"]

_LOOPED = "{%+ for ROW in rows +%}CODE{{ mark }}{%+ endfor +%}"
_BINDS = re.compile(r"{%[-+]?\s*(?:set|macro|call|import|from|include|extends|block)\b")
_TAKEN = frozenset(("loop", "mark", "rows"))

_FUEL_A_NODE = 8
"""More instructions than any part of an expression takes that repeats nothing."""

_PRINTING = 4
"""Such a part of the fuel is for printing, which the engine charges for by length."""

_BYTES_A_STEP = 64


class Pieces(NamedTuple):
    """A template as parts that can be rendered by themselves.

    When every part of a context renders, and the texts are no longer than `most_bytes`, the
    parts joined are what the whole render gives, its limit on the length of the output and its
    end aside. Else the whole render may fail or not: a part has but its share of the fuel.

    Attributes:
        plans: the parts, in order.
        render: `render(plan.name, **values)`, the engine's own method.
        names: what the whole reads; None when it may read any name.
        freezer: makes a freezer that remembers nothing.
        most_bytes: how long the texts of all parts may be together, in UTF-8.
        compiled: what all this was made from, which the engine does not keep alive.
    """

    plans: tuple[SegmentPlan, ...]
    render: Callable[..., str]
    names: tuple[str, ...] | None
    freezer: Callable[[], Freezer]
    most_bytes: int
    compiled: Compiled

    def changed(self) -> bool:
        """Whether the file of a partial has changed, so that other parts are to be made."""
        return self.compiled.changed()

    def joined(self, run: Sequence[str | SegmentPlan]) -> Pieces:
        """Some neighbouring parts as one, which has the share of one part.

        Args:
            run: the parts and the texts between them; the first is a part.
        """
        plan = merged(run)
        program = self.compiled.program_of({plan.name: plan.code})
        return self._replace(plans=(plan,), render=program.render)

    def repeated(self, plan: SegmentPlan, names: Sequence[str]) -> Callable[..., str] | None:
        """A render of one part for several rows, in which they share the fuel of one.

        Args:
            plan: the part.
            names: the names of `plan.names` that each row gives, at least one.

        Returns:
            `render(rows=rows, mark=text)`: the texts joined, each with the mark behind it.
            A row is a tuple of its values, or the value itself if it is but one. None for a
            part of which it is not certain that a loop around it changes nothing.
        """
        read = frozenset(plan.names or ())
        if plan.name == MAIN or not read.isdisjoint(_TAKEN) or _BINDS.search(plan.code):
            return None
        text = _LOOPED.replace("ROW", ", ".join(names)).replace("CODE", plan.code)
        try:
            return partial(self.compiled.program_of({MAIN: text}).render, MAIN)
        except EngineError:
            # It nests as deeply as can be.
            return None


def pieces_of(source: Source, profile: Profile, compiled: Compiled, *, split: bool) -> Pieces:
    """Make the parts of a template.

    Args:
        source: the template.
        profile: how it is rendered.
        compiled: the template, compiled.
        split: whether it may be cut at all; a template with partials stays whole.
    """
    guarded = any(unit.guarded for unit in compiled.units.values())

    def freezer() -> Freezer:
        return Freezer(profile.limits, guarded)

    share = _share(compiled, profile) if split and compiled.names is not None else 0
    if share > 0:
        lean = replace(profile, limits=replace(profile.limits, fuel=share))
        parts = compile_source(source, lean, None)
        plans, program = parts.segments()[:2]
        most = profile.limits.fuel // _PRINTING * _BYTES_A_STEP
        return Pieces(plans, program.render, compiled.names, freezer, most, parts)
    span = source.span(0, len(source.text))
    whole = SegmentPlan(MAIN, "block", span, None, names=compiled.names)
    render = compiled.program.render
    return Pieces((whole,), render, compiled.names, freezer, sys.maxsize, compiled)


def _share(compiled: Compiled, profile: Profile) -> int:
    """The fuel of each part, so that all together never need more than the whole has.

    An output of a name takes a few instructions; the rest is shared by all that may take
    more. A template that is one part stays whole.
    """
    plans = compiled.segments().plans
    if len(plans) == 1:
        return 0
    left = profile.limits.fuel - profile.limits.fuel // _PRINTING
    left -= _FUEL_A_NODE * len(compiled.units[MAIN].nodes)
    working = sum(plan.literal is None and plan.variable is None for plan in plans)
    if sum(MEASURE_NAME in plan.code for plan in plans) > 1:
        # What is measured costs more the more was measured before: it grows with the square.
        working *= working
    return left // max(working, 1)

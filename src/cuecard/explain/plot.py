"""Plot: the common front of a series of turns over the length of its prompts, as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from math import ceil, floor, log10

from ..layout import names_of, plural
from .turns import Series

__all__ = ["plot"]

_WIDTH, _HEIGHT = 860, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 24, 84, 56
_STYLE = """
svg { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif;
  --ground: #fff; --ink: #1c2430; --quiet: #5b6675;
  --same: #2e9e5b; --lost: #f3b6c5; --moved: #2563eb; }
@media (prefers-color-scheme: dark) {
  svg { --ground: #12161c; --ink: #dfe5ee; --quiet: #97a3b4;
    --same: #37a866; --lost: #6d2c45; --moved: #7db4ff; } }
.ground { fill: var(--ground); }
text { fill: var(--quiet); }
.title { fill: var(--ink); font-size: 16px; font-weight: 600; }
.grid { stroke: var(--quiet); stroke-opacity: 0.22; }
.axis { stroke: var(--quiet); }
.same { fill: var(--same); }
.lost { fill: var(--lost); }
.moved { fill: none; stroke: var(--moved); stroke-width: 2; stroke-dasharray: 6 3; }
"""


def plot(series: Series, title: str) -> str:
    """The series as the text of an SVG picture.

    Every turn is a step. Its height is the prompt: below, what was the same as at the turn
    before; above, what was not. A dashed line is the front with the worst culprit at the end.
    """
    turns = series.turns
    frame = _Frame(len(turns), max((turn.size.characters for turn in turns), default=0))
    description = _described(series)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{escape(description)}">',
        f"<title>{escape(description)}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" width="{_WIDTH}" height="{_HEIGHT}"/>',
        f'<text class="title" x="{_LEFT}" y="30">{escape(_shortened(title))}</text>',
        *_legend(series),
        frame.area("lost", [turn.size.characters for turn in turns]),
        frame.area("same", [turn.common.characters for turn in turns]),
        *frame.grid(),
    ]
    if series.gains:
        parts.append(frame.line("moved", [turn.moved.characters for turn in turns[1:]]))
    return "\n".join([*(part for part in parts if part), *frame.axes(), "</svg>"]) + "\n"


def _shortened(title: str, width: int = 84) -> str:
    return title if len(title) <= width else f"\N{HORIZONTAL ELLIPSIS}{title[1 - width :]}"


def _described(series: Series) -> str:
    now = series.mean(lambda turn: turn.common)
    text = (
        f"Common front of the prompt with the turn before, over {plural(len(series.turns), 'turn')}"
        f": {plural(now, 'character')} on average"
    )
    if series.gains:
        moved = series.mean(lambda turn: turn.moved)
        text += f", {moved:,} with {_worst(series)} at the end"
    return text


def _worst(series: Series) -> str:
    return names_of(series.culprits[0].variables, 24) or "the worst segment"


def _legend(series: Series) -> Iterable[str]:
    entries = [("same", "same as at the turn before"), ("lost", "changed, or after a change")]
    x = _LEFT
    for style, text in entries:
        yield f'<rect class="{style}" x="{x}" y="47" width="12" height="12"/>'
        yield f'<text x="{x + 18}" y="58">{text}</text>'
        x += 215
    if series.gains:
        yield f'<path class="moved" d="M{x} 53h24"/>'
        yield f'<text x="{x + 31}" y="58">same, with {escape(_worst(series))} at the end</text>'


class _Frame:
    """The axes: from turns and characters to places in the picture."""

    def __init__(self, turns: int, characters: int) -> None:
        self._turns = turns
        self._step = _round_step(characters, 5)
        self._top = self._step * max(1, ceil(characters / self._step))

    def _x(self, turn: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * turn / max(1, self._turns)

    def _y(self, characters: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * characters / self._top

    def area(self, style: str, heights: list[int]) -> str:
        """Steps from the ground, one a turn."""
        if not heights:
            return ""
        ground = f"{self._y(0):.1f}"
        steps = self._steps(heights)
        return f'<path class="{style}" d="M{self._x(0):.1f} {ground}{steps}V{ground}Z"/>'

    def line(self, style: str, heights: list[int]) -> str:
        """The same as a line, from the second turn on."""
        if not heights:
            return ""
        start = f"M{self._x(1):.1f} {self._y(heights[0]):.1f}"
        return f'<path class="{style}" d="{start}{self._steps(heights, first=1)}"/>'

    def _steps(self, heights: list[int], first: int = 0) -> str:
        return "".join(
            f"V{self._y(height):.1f}H{self._x(index + 1):.1f}"
            for index, height in enumerate(heights, first)
        )

    def grid(self) -> Iterable[str]:
        """Lines at round numbers of characters."""
        for characters in range(0, self._top + 1, self._step):
            y = self._y(characters)
            yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>'
            yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{characters:,}</text>'

    def axes(self) -> Iterable[str]:
        """The ground line, the numbers of turns and the names of both axes."""
        ground = self._y(0)
        yield f'<path class="axis" d="M{_LEFT} {ground:.1f}H{_WIDTH - _RIGHT}"/>'
        for turn in _ticks(self._turns):
            x = self._x(turn - 0.5)
            yield f'<text x="{x:.1f}" y="{ground + 20:.1f}" text-anchor="middle">{turn:,}</text>'
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        yield f'<text x="{middle}" y="{_HEIGHT - 12}" text-anchor="middle">turn</text>'
        yield (
            f'<text transform="translate(20 {(_TOP + ground) / 2:.1f}) rotate(-90)" '
            'text-anchor="middle">characters of the prompt</text>'
        )


def _ticks(turns: int) -> list[int]:
    if turns <= 25:
        return list(range(1, turns + 1))
    step = _round_step(turns, 10)
    return [1, *range(step, turns + 1, step)]


def _round_step(largest: int, parts: int) -> int:
    """A step of 1, 2 or 5 times a power of ten that cuts a length in about so many parts."""
    rough = max(1.0, largest / parts)
    power = 10 ** floor(log10(rough))
    return int(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough))

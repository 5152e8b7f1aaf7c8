"""Charts of the benchmarks, as SVG that can be read on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from report import number

STYLE = """\
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-size: 15px; font-weight: 600 }
.small { font-size: 12px; fill: #57606a }
.page { fill: #ffffff }
.grid { stroke: #d0d7de; stroke-width: 1 }
.cuecard { fill: #0969da; stroke: #0969da }
.engine { fill: #8250df; stroke: #8250df }
.hand { fill: #57606a; stroke: #57606a }
.peer { fill: #bf8700; stroke: #bf8700 }
.line { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .small { fill: #9198a1 }
  .page { fill: #0d1117 }
  .grid { stroke: #3d444d }
  .cuecard { fill: #4493f8; stroke: #4493f8 }
  .engine { fill: #ab7df8; stroke: #ab7df8 }
  .hand { fill: #9198a1; stroke: #9198a1 }
  .peer { fill: #d29922; stroke: #d29922 }
}"""


def page(width: int, height: int, title: str, body: Iterable[str]) -> str:
    """A chart that brings its own background, so that it can be read on any page."""
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{STYLE}\n</style>",
            f'<rect class="page" width="{width}" height="{height}" rx="6"/>',
            text(16, 26, title, "title"),
            *body,
            "</svg>\n",
        )
    )


def text(x: float, y: float, content: str, kind: str = "", anchor: str = "start") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(content)}</text>'
    )


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="grid" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


class Scale:
    """Powers of ten along an axis."""

    def __init__(self, values: Iterable[float], start: float, stop: float) -> None:
        known = list(values)
        self._low = math.floor(math.log10(min(known)))
        self._high = max(math.ceil(math.log10(max(known))), self._low + 1)
        self._start, self._stop = start, stop

    def __call__(self, value: float) -> float:
        share = (math.log10(value) - self._low) / (self._high - self._low)
        return round(self._start + share * (self._stop - self._start), 1)

    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]


def bars(
    title: str, unit: str, rows: Sequence[tuple[str, float, str]], kinds: Mapping[str, str]
) -> str:
    """Bars on a scale of powers of ten.

    Args:
        title: what it shows.
        unit: of the values.
        rows: label, value and kind of each bar.
        kinds: what each kind is called.
    """
    left, right, top, step = 230, 680, 72, 24
    bottom = top + step * len(rows)
    scale = Scale([value for _, value, _ in rows], left, right)
    body = []
    for index, (kind, label) in enumerate(kinds.items()):
        x = left + index * 115
        body.append(f'<rect class="{kind}" x="{x}" y="41" width="11" height="11"/>')
        body.append(text(x + 18, 51, label, "small"))
    for tick in scale.ticks():
        body.append(line(scale(tick), top, scale(tick), bottom))
        body.append(text(scale(tick), bottom + 18, f"{tick:,g}", "small", "middle"))
    body.append(text((left + right) / 2, bottom + 38, unit, "small", "middle"))
    for index, (label, value, kind) in enumerate(rows):
        y = top + index * step
        body.append(text(left - 10, y + 16, label, "", "end"))
        width = max(scale(value) - left, 1)
        body.append(f'<rect class="{kind}" x="{left}" y="{y + 4}" width="{width:g}" height="15"/>')
        body.append(text(scale(value) + 8, y + 16, number(value), "small"))
    return page(760, bottom + 52, title, body)


def lines(
    title: str,
    across: str,
    unit: str,
    series: Sequence[tuple[str, str, Sequence[tuple[float, float]]]],
) -> str:
    """Lines on scales of powers of ten; each has a label, a kind and its points."""
    left, right, top, bottom = 80, 560, 68, 350
    points = [point for _, _, line_points in series for point in line_points]
    x = Scale([a for a, _ in points], left, right)
    y = Scale([b for _, b in points], bottom, top)
    body = [text(16, 50, unit, "small")]
    for tick in y.ticks():
        body.append(line(left, y(tick), right, y(tick)))
        body.append(text(left - 8, y(tick) + 4, f"{tick:,g}", "small", "end"))
    for tick in x.ticks():
        body.append(text(x(tick), bottom + 20, f"{tick:,g}", "small", "middle"))
    body.append(text((left + right) / 2, bottom + 40, across, "small", "middle"))
    below = -math.inf
    for label, kind, line_points in sorted(series, key=lambda one: y(one[2][-1][1])):
        path = " ".join(f"{x(a):g},{y(b):g}" for a, b in line_points)
        body.append(f'<polyline class="{kind} line" style="fill: none" points="{path}"/>')
        for a, b in line_points:
            body.append(f'<circle class="{kind}" cx="{x(a):g}" cy="{y(b):g}" r="3.5"/>')
        # Labels of lines that end close to each other stand apart.
        below = max(y(line_points[-1][1]) + 4, below + 17)
        body.append(text(right + 12, below, label))
    return page(760, bottom + 56, title, body)

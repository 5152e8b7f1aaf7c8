"""Links: source and output cut into ranges, so that each knows its counterparts.

A range has a key: the number of its segment, or that and the number of an output within it.
Ranges of one key belong together. A source range may have many output ranges (an output in
a loop), one (most), or none (what printed nothing).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..prompt import Prompt, Segment
from ..source import Span

__all__ = ["Linked", "Links", "link"]


class Linked(NamedTuple):
    """A range of the source or of the output; `key` is None where nothing is linked."""

    start: int
    end: int
    key: str | None


class Links(NamedTuple):
    """Both texts as ranges without gaps, and what stands behind each key."""

    source: list[Linked]
    output: list[Linked]
    parts: Mapping[str, Segment]


def link(prompt: Prompt, source_length: int) -> Links:
    """Link the output of a prompt with its template."""
    parts: dict[str, Segment] = {}
    source: list[Linked] = []
    output: list[Linked] = []
    position = 0
    for number, segment in enumerate(prompt.segments, 1):
        key = str(number)
        keys = _keys_of_children(key, segment)
        parts[key] = segment
        parts.update({keys[child.span]: child for child in reversed(segment.children)})
        output += _nested(
            segment.start,
            segment.end,
            key,
            sorted((child.start, child.end, keys[child.span]) for child in segment.children),
        )
        start, end = max(segment.span.start, position), segment.span.end
        if end > start:
            source.append(Linked(position, start, None))
            inner = sorted((span.start, span.end, name) for span, name in keys.items())
            source += _nested(start, end, key, inner)
            position = end
    source.append(Linked(position, source_length, None))
    return Links([r for r in source if r.end > r.start], output, parts)


def _keys_of_children(key: str, segment: Segment) -> dict[Span, str]:
    spans = sorted({child.span for child in segment.children})
    return {span: f"{key}.{number}" for number, span in enumerate(spans, 1)}


def _nested(start: int, end: int, key: str, inner: list[tuple[int, int, str]]) -> Iterator[Linked]:
    """A range with the ranges in it; what would overlap or leave it is not told apart."""
    position = start
    for inner_start, inner_end, inner_key in inner:
        if position <= inner_start <= inner_end <= end:
            if inner_start > position:
                yield Linked(position, inner_start, key)
            yield Linked(inner_start, inner_end, inner_key)
            position = inner_end
    if end > position:
        yield Linked(position, end, key)

"""A prompt as text for review: its lines under what made them, and what changed in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby

from ..prompt import Prompt, Scope, Segment

__all__ = ["changes", "outlined"]

_WIDTH = 120


def outlined(prompt: Prompt | str) -> str:
    """A prompt's lines, each after `| `, under headings that say what made them.

    A heading is `@ `, the scope of the lines, the variables that they read, and in parentheses
    the providers of these. An empty line goes with the one before. The text is exact, but that
    a carriage return is shown as `␍`.
    """
    text = str(prompt)
    if isinstance(prompt, str):
        return "\n".join(map(_shown, text.split("\n")))
    lines: list[str] = []
    for heading, group in groupby(_headed(prompt, text), key=lambda pair: pair[0]):
        lines += [heading, *(_shown(line) for _, line in group)]
    return "\n".join(lines)


def _shown(line: str) -> str:
    return f"| {line}".replace("\r", "␍") if line else "|"


def _headed(prompt: Prompt, text: str) -> Iterator[tuple[str, str]]:
    segments = [segment for segment in prompt.segments if segment.end > segment.start]
    start = first = 0
    heading = "@ static"
    for line in text.split("\n"):
        end = start + len(line) + 1
        while first < len(segments) and segments[first].end <= start:
            first += 1
        made = []
        for segment in segments[first:]:
            if segment.start >= end:
                break
            made.append(segment)
        heading = _heading(made) if line and made else heading
        yield heading, line
        start = end


def _heading(segments: Sequence[Segment]) -> str:
    scope = max((segment.scope for segment in segments), default=Scope.STATIC)
    variables = sorted({name for segment in segments for name in segment.variables})
    providers = sorted({name for segment in segments for name in segment.providers})
    heading = f"@ {scope.name.lower()}"
    if variables:
        heading += f" {', '.join(variables)}"
    return f"{heading} ({', '.join(providers)})" if providers else heading


# changes -----------------------------------------------------------------------------------------


def changes(before: str, after: str) -> Iterator[str]:
    """What changed between two outlined prompts, under the headings of the later one.

    Lines begin with `- ` (only before), `+ ` (only now) or two blanks (a heading). Of two long
    lines that differ in one place, the surroundings of that place are given.
    """
    old, new = before.split("\n"), after.split("\n")
    shown = ""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            continue
        heading = _heading_above(new, c) if d > c else _heading_above(old, a)
        if heading is not None and heading != shown:
            shown = heading
            yield f"  {heading}"
        yield from _changed(old[a:b], new[c:d])


def _heading_above(lines: Sequence[str], index: int) -> str | None:
    if lines[index].startswith("@ "):
        return None
    return next((line for line in reversed(lines[:index]) if line.startswith("@ ")), None)


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The lines of a change, heading by heading where both sides have as many."""
    before, after = _by_heading(old), _by_heading(new)
    if len(before) != len(after):
        before, after = [old], [new]
    for removed, added in zip(before, after, strict=True):
        if len(removed) == len(added):
            cut = [_around(a, b) for a, b in zip(removed, added, strict=True)]
            removed, added = [a for a, _ in cut], [b for _, b in cut]
        yield from (f"- {line}" for line in removed)
        yield from (f"+ {line}" for line in added)


def _by_heading(lines: Sequence[str]) -> list[Sequence[str]]:
    starts = [0, *(i for i, line in enumerate(lines) if i and line.startswith("@ "))]
    ends = [*starts[1:], len(lines)]
    return [lines[start:end] for start, end in zip(starts, ends, strict=True)]


def _around(old: str, new: str) -> tuple[str, str]:
    """The surroundings of the first difference of two lines, when they are long."""
    if max(len(old), len(new)) <= _WIDTH:
        return old, new
    pairs = enumerate(zip(old, new, strict=False))
    differs = next((index for index, (a, b) in pairs if a != b), min(len(old), len(new)))
    start = max(0, differs - _WIDTH // 2)
    return _cut(old, start), _cut(new, start)


def _cut(line: str, start: int) -> str:
    end = start + _WIDTH
    head = "| …" if start else ""
    return f"{head}{line[start:end]}{'…' if end < len(line) else ''}"

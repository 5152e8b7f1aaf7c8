"""Diffs: what changed a prompt since the last turn, and what that cost."""

from __future__ import annotations

from typing import NamedTuple

from .segments import Segment, Traced

__all__ = ["PromptDiff", "compare"]


class PromptDiff(NamedTuple):
    """What changed between two prompts of one template.

    Attributes:
        equal: whether nothing did.
        offset: the first character that changed; the length of the shorter text when one
            is the beginning of the other. None when equal.
        byte_offset: the same in bytes of UTF-8.
        segment: the segment of the newer prompt in which it stands.
        variables: the variables to blame: those that the segment reads.
        providers: the providers that gave them.
        common_characters: length of the common front.
        lost_characters: characters of the previous prompt after the common front, which a
            prefix cache no longer serves.
        common_tokens: the same in tokens, when the newer prompt has a counter.
        lost_tokens: the same in tokens, when the newer prompt has a counter.
        unified: the change as a unified diff; empty when equal.
    """

    equal: bool
    offset: int | None
    byte_offset: int | None
    segment: Segment | None
    variables: tuple[str, ...]
    providers: tuple[str, ...]
    common_characters: int
    lost_characters: int
    common_tokens: int | None
    lost_tokens: int | None
    unified: str


def compare(previous: Traced, current: Traced) -> PromptDiff:
    """Compare two prompts of one template, the older one first."""
    old, new = previous.text, current.text
    common = common_front(old, new)
    front, lost = new[:common], old[common:]
    counts = current.count(front), current.count(lost)
    if old == new:
        return PromptDiff(True, None, None, None, (), (), common, 0, *counts, "")
    segment = _blamed(current, common) or _blamed(previous, common)
    return PromptDiff(
        False,
        common,
        len(front.encode()),
        segment,
        tuple(sorted(segment.variables)) if segment else (),
        segment.providers if segment else (),
        common,
        len(lost),
        *counts,
        unified_diff(old, new, previous.template),
    )


def common_front(old: str, new: str) -> int:
    """Length of the longest text that both begin with."""
    low, high = 0, min(len(old), len(new))
    # Comparing slices runs in C, so halving beats a loop over characters.
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _blamed(prompt: Traced, offset: int) -> Segment | None:
    """The segment with variables in which a difference that shows at `offset` arose."""
    found = prompt.segment_at(offset)
    if found is not None and found.variables:
        return found
    # A difference may show only in the text after it: `a` grown to `ab` before `b`.
    before = [s for s in prompt.segments if s.variables and s.start <= offset]
    return before[-1] if before else found


def _lines(text: str) -> list[str]:
    # `str.splitlines` would end a line at form feeds and other separators, too.
    *lines, last = text.split("\n")
    return [*(line + "\n" for line in lines), *([last] if last else [])]


def unified_diff(old: str, new: str, name: str) -> str:
    """A unified diff of two texts, which says where a final line break is missing."""
    # Only differences need this.
    import difflib

    lines = []
    for line in difflib.unified_diff(
        _lines(old),
        _lines(new),
        f"{name} (before)",
        f"{name} (now)",
        n=2,
    ):
        ending = "" if line.endswith("\n") else "\n\\ no newline at the end\n"
        lines.append(line + ending)
    return "".join(lines)

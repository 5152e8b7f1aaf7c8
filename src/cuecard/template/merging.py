"""Merging: neighbouring parts of a template as one part again, with what is between them."""

from __future__ import annotations

from collections.abc import Sequence

from ..compiler import SegmentPlan

__all__ = ["merged"]

_JOINED = "{{ '' }}"
"""Prints nothing, and keeps white-space control on either side from reaching the other."""


def merged(run: Sequence[str | SegmentPlan]) -> SegmentPlan:
    """One part for a run of parts and the texts between them; the first is a part.

    It has the name of the first part, and is rendered by a program of its own.
    """
    plans = [step for step in run if isinstance(step, SegmentPlan)]
    if len(run) == 1:
        return plans[0]
    code = _JOINED.join(
        _scoped(step) if isinstance(step, SegmentPlan) else _escaped(step) for step in run
    )
    names = tuple(sorted({name for plan in plans for name in plan.names or ()}))
    return plans[0]._replace(code=code, names=names, variable=None, choice=None, marked=None)


def _scoped(plan: SegmentPlan) -> str:
    """A part's source, with what it binds kept from the parts after it."""
    if plan.kind != "block":
        return plan.code
    code = plan.code
    if code.endswith("{"):
        # With the tag that follows, the brace would open an output.
        code = code[:-1] + "{{ '{' }}"
    return f"{{%+ with +%}}{code}{{%+ endwith +%}}"


def _escaped(text: str) -> str:
    """Source that prints a text, whatever delimiters it holds."""
    for mark in ("{{", "{%", "{#"):
        if mark in text:
            return "".join("{{ '{' }}" if character == "{" else character for character in text)
    return text.replace("{", "{{ '{' }}") if text.endswith("{") else text

"""Judging: what is wrong with an outcome of cuecard, beyond what every engine is held to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cuecard.errors import CODES

from .attacks import Attack
from .runner import Outcome

__all__ = ["faults"]

_PLACELESS = frozenset(("catalog", "tools", "skills", "slots", "live", "markdown"))
"""Surfaces whose errors are about what was passed, or name a file and no line of it."""


def faults(attack: Attack, outcome: Outcome) -> list[str]:
    """All that differs from what the catalog asks for; none for the right answer."""
    if outcome.verdict == "lost":
        return [f"the process was lost: {outcome.why}"]
    found = [f"it was let through: {mark}" for mark in outcome.marks]
    for report in outcome.reports:
        found += [f"{report['way']}: {fault}" for fault in _faults(attack, report)]
    return found


def _faults(attack: Attack, report: dict[str, Any]) -> Iterator[str]:
    if report["ending"] == "text":
        yield from _text_faults(attack, report)
        return
    code, kind = report.get("code"), report["type"]
    if not attack.codes.intersection((code, kind)):
        yield f"{kind} {code}: {report['message']}"
    elif code is not None:
        if code not in CODES:
            yield f"{code} is no code"
        yield from _place_faults(attack, report)
    if attack.says is not None and attack.says not in report["message"]:
        yield f"the message does not say {attack.says!r}: {report['message']}"


def _text_faults(attack: Attack, report: dict[str, Any]) -> Iterator[str]:
    expected = attack.expect
    text = report["text"]
    if isinstance(expected, dict):
        if expected["text"][:400] != text or len(expected["text"]) != report["characters"]:
            yield f"the text is {text!r}"
        if report["codes"]:
            yield f"it says {report['codes']}"
    elif not attack.codes.intersection(("text", *report["codes"])):
        yield f"it gave a text, and {report['codes']}: {text[:100]!r}"
    if attack.says is not None and attack.says not in text:
        yield f"the text does not hold {attack.says!r}: {text!r}"


def _place_faults(attack: Attack, report: dict[str, Any]) -> Iterator[str]:
    place = report["at"]
    if attack.at is not None and place != attack.at:
        yield f"{report['code']} points at {place}, not at {attack.at}"
    in_words = "at `$" in report["message"] or report["named"] is not None
    if place is None and attack.surface not in _PLACELESS and not in_words:
        yield f"{report['code']} names no place: {report['message']}"

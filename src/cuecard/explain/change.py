"""Change: what differs between two prompts of one template, as text and as plain data."""

from __future__ import annotations

from typing import Any

from ..layout import plural, styled, visible
from ..prompt import Prompt, PromptDiff
from ..tokens import TokenCounter
from .explanation import counter_data, diagnostics_data, span_data
from .wording import counter_note, lines_of, scope_name

__all__ = ["change_data", "change_report"]

_DIFF_STYLES = {"@": "36", "-": "31", "+": "32"}
"""Colours of the lines of a unified diff, by their first character."""


def change_report(
    diff: PromptDiff, prompt: Prompt, counter: TokenCounter | None, *, colour: bool = False
) -> str:
    """The change as text.

    Args:
        diff: what changed.
        prompt: the newer prompt.
        counter: what counted the tokens, if anything did.
        colour: whether the text is for a terminal.
    """
    if diff.equal:
        return f"The prompts are equal: {_size(diff.common_characters, diff.common_tokens)}.\n"
    facts = [
        ("first change", _first_change(diff, prompt)),
        ("segment", _segment(diff)),
        ("same front", _size(diff.common_characters, diff.common_tokens)),
        ("lost", _size(diff.lost_characters, diff.lost_tokens)),
    ]
    lines = [styled(f"{name}:".ljust(14), "1", colour) + text for name, text in facts]
    if counter is not None:
        lines.append(counter_note(counter))
    unified = _painted(diff.unified) if colour else diff.unified
    return "\n".join((*lines, "", unified))


def _first_change(diff: PromptDiff, prompt: Prompt) -> str:
    line = prompt.text.count("\n", 0, diff.offset or 0) + 1
    return f"character {diff.offset:,}, byte {diff.byte_offset:,}, line {line:,} of the prompt"


def _segment(diff: PromptDiff) -> str:
    segment = diff.segment
    if segment is None:
        return "none"
    lines = lines_of(segment.span)
    where = f"{'lines' if '-' in lines else 'line'} {lines} of {segment.template}"
    names = ", ".join(f"`{name}`" for name in diff.variables)
    return f"{segment.kind}, {where}" + (
        f", {names} ({scope_name(segment.scope)})" if names else ""
    )


def _size(characters: int, tokens: int | None) -> str:
    counted = "" if tokens is None else f", {plural(tokens, 'token')}"
    return plural(characters, "character") + counted


def _painted(unified: str) -> str:
    return "".join(
        styled(visible(line), "1" if index < 2 else _DIFF_STYLES.get(line[:1], ""), True) + "\n"
        for index, line in enumerate(unified.split("\n")[:-1])
    )


def change_data(
    diff: PromptDiff, previous: Prompt, prompt: Prompt, counter: TokenCounter | None
) -> dict[str, Any]:
    """The change as plain data."""
    segment = diff.segment
    return {
        "template": prompt.template,
        "equal": diff.equal,
        "offset": diff.offset,
        "byte_offset": diff.byte_offset,
        "line": None if diff.offset is None else prompt.text.count("\n", 0, diff.offset) + 1,
        "segment": segment
        and {
            "start": segment.start,
            "end": segment.end,
            "kind": segment.kind,
            "template": segment.template,
            "span": span_data(segment.span),
            "scope": scope_name(segment.scope),
        },
        "variables": list(diff.variables),
        "providers": list(diff.providers),
        "characters": [len(previous.text), len(prompt.text)],
        "common": {"characters": diff.common_characters, "tokens": diff.common_tokens},
        "lost": {"characters": diff.lost_characters, "tokens": diff.lost_tokens},
        "counter": counter_data(counter),
        "unified": diff.unified,
        "diagnostics": diagnostics_data(
            dict.fromkeys((*previous.diagnostics, *prompt.diagnostics))
        ),
    }

"""Turn report: a series of turns as text for people, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..layout import names_of, number, part_of, plural, table
from ..template import Template
from .explanation import counter_data, diagnostics_data, span_data
from .turns import Culprit, Series, Turn
from .wording import counter_note, lines_of, scope_name

__all__ = ["series_data", "turn_report"]


def turn_report(series: Series, template: Template) -> str:
    """The report on a series as text."""
    turns = series.turns
    lines = [
        f"{template.name}: {plural(len(turns), 'turn')}, profile {template.profile.name}",
        counter_note(series.counter),
        "",
        *_turns(turns, series),
        "",
    ]
    if len(turns) < 2:
        lines.append("There is no turn to compare with another.")
    elif not series.breaks:
        lines.append(f"The prompt is the same at all {plural(len(turns), 'turn')}.")
    else:
        lines += [*_culprits(series), "", _verdict(series)]
    if len(turns) > 1:
        lines += ["", *_savings(series)]
    return "\n".join(lines) + "\n"


def _turns(turns: list[Turn], series: Series) -> list[str]:
    return table(
        ("turn", "characters", "tokens", "same front", "part", "lost", "first change"),
        (
            (
                str(turn.number),
                number(turn.size.characters),
                number(turn.size.tokens),
                *(
                    ("", "", "", "")
                    if turn.number == 1
                    else (
                        number(turn.common.characters),
                        part_of(turn.common.characters, turn.size.characters),
                        number(turn.lost.characters),
                        _first_change(turn),
                    )
                ),
            )
            for turn in turns
        ),
        right={0, 1, 2, 3, 4, 5},
    )


def _first_change(turn: Turn) -> str:
    if turn.blamed is None:
        return "none"
    return f"{names_of(turn.variables) or 'text'} ({_place(turn.blamed)})"


def _place(span: Any) -> str:
    lines = lines_of(span)
    return f"{'lines' if '-' in lines else 'line'} {lines}"


def _culprits(series: Series) -> Iterator[str]:
    yield "What broke the front, by characters lost:"
    compared = len(series.turns) - 1
    rows = [
        (f"{c.breaks} of {compared} turns", number(c.lost.characters), _named(c))
        for c in series.culprits
    ]
    yield from table(("broken", "lost", "segment"), rows, right={1})


def _named(culprit: Culprit) -> str:
    names = ", ".join(f"`{name}`" for name in culprit.variables)
    return f"{names or 'text'} ({_place(culprit.span)})"


def _verdict(series: Series) -> str:
    """What the worst culprit costs, and what moving it would bring."""
    worst = series.culprits[0]
    compared = len(series.turns) - 1
    now, moved = series.mean(lambda t: t.common), series.mean(lambda t: t.moved)
    first = f"{_named(worst)} breaks the front at {worst.breaks} of {plural(compared, 'turn')}"
    if not series.gains:
        return f"{first}; at the end of the prompt, no more characters would stay the same."
    return (
        f"{first}; at the end of the prompt, {moved:,} instead of {now:,} characters "
        "would stay the same (on average)."
    )


def _savings(series: Series) -> Iterator[str]:
    checked = max((saving.rule.checked for saving in series.savings), default="")
    columns = 4 if series.gains else 3
    negative = any(saving.now < 0 for saving in series.savings)
    note = "; below zero, it costs more" if negative else ""
    yield f"Estimated saving of a cache on the cost of these prompts (rules of {checked}{note}):"
    header = ("provider", "model", "now", "moved to the end")
    rows = [
        (s.rule.provider, s.rule.model, _percent(s.now), _percent(s.moved)) for s in series.savings
    ]
    yield from table(header[:columns], [row[:columns] for row in rows], right={2, 3})


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"


def series_data(series: Series, template: Template) -> dict[str, Any]:
    """The report on a series as plain data."""
    worst = series.culprits[0] if series.culprits else None
    return {
        "template": template.name,
        "profile": template.profile.name,
        "counter": counter_data(series.counter),
        "turns": [_turn_data(turn) for turn in series.turns],
        "culprits": [
            {
                "lines": lines_of(culprit.span),
                "span": span_data(culprit.span),
                "variables": list(culprit.variables),
                "scope": scope_name(culprit.scope),
                "breaks": culprit.breaks,
                "lost": culprit.lost._asdict(),
            }
            for culprit in series.culprits
        ],
        "compared": max(0, len(series.turns) - 1),
        "mean_common_characters": series.mean(lambda t: t.common),
        "moved": worst
        and {
            "span": span_data(worst.span),
            "mean_common_characters": series.mean(lambda t: t.moved),
        },
        "savings": [
            {**saving.rule._asdict(), "now": saving.now, "moved": saving.moved}
            for saving in series.savings
        ],
        "diagnostics": diagnostics_data(series.diagnostics),
    }


def _turn_data(turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn.number,
        **turn.size._asdict(),
        "common": turn.common._asdict(),
        "lost": turn.lost._asdict(),
        "variables": list(turn.variables),
        "span": turn.blamed and span_data(turn.blamed),
        "moved": turn.moved._asdict(),
    }

"""Measure what the protection costs: a render with it, beside the same engine without.

The prompt is that of turn.py (agent_prompt.py). Without protection means: minijinja with no
fuel, nothing copied or refused, and cuecard's own filters, so that both write JSON alike (but
for the memory of JSON, which only works where data cannot change). The two take turns; each
figure is a median of renders, and what counts is the ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import minijinja

import cuecard
from agent_prompt import TEMPLATE, Context, another, stable_context, turns
from cuecard.engine.filters import filters
from cuecard.engine.meter import METER
from report import Goal, machine, settle, table, time_batch, versions, write_into

TURNS = 100


def unprotected() -> Callable[[Context], str]:
    """The engine alone, with cuecard's filters in place of its own."""
    environment = minijinja.Environment(debug=False, keep_trailing_newline=True)
    environment.trim_blocks = environment.lstrip_blocks = True
    own = filters(cuecard.Limits(fuel=1 << 60), strict=False, sort_keys=False)
    # JSON of a container is remembered where nothing can change it, which only copies promise.
    own["tojson"].__self__._keeps = False  # type: ignore[attr-defined]
    for name, callback in own.items():
        environment.add_filter(name, callback)
    environment.add_template("main", TEMPLATE)
    render = environment.render_template

    def run(context: Context) -> str:
        METER.left = 1 << 60  # the filters ask it
        return render("main", **context)

    return run


def protected() -> Callable[[Context], str]:
    return cuecard.Template(TEMPLATE).render


def same() -> list[Context]:
    """The tools and skills are the very same objects at every turn, as in a loop of turns."""
    stable = stable_context()
    return [{**stable, **turn} for turn in islice(turns(), TURNS)]


def equal() -> list[Context]:
    """They are built anew at every turn, and hold the same."""
    text = json.dumps(stable_context())
    return [{**json.loads(text), **turn} for turn in islice(turns(), TURNS)]


def changed() -> list[Context]:
    """Every text of them has changed, so that nothing that was copied before helps."""
    return [
        {**_marked(stable_context(), f" {number}"), **turn}
        for number, turn in enumerate(islice(turns(), TURNS))
    ]


def _marked(value: Any, mark: str) -> Any:
    if isinstance(value, str):
        return another(value + mark)
    if isinstance(value, list):
        return [_marked(item, mark) for item in value]
    return {key: _marked(item, mark) for key, item in value.items()}


def measure(contexts: Callable[[], list[Context]], rounds: int) -> tuple[float, float]:
    """Median microseconds of a render with and without protection."""
    renders = protected(), unprotected()
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for render, measured in zip(renders, times, strict=True):
            given = contexts()
            settle()
            elapsed = time_batch(lambda given=given, render=render: _run(render, given))
            if number:
                measured.append(elapsed / len(given) * 1e6)
    return statistics.median(times[0]), statistics.median(times[1])


def _run(render: Callable[[Context], str], contexts: Iterable[Context]) -> None:
    for context in contexts:
        render(context)


ROWS: Sequence[tuple[str, Callable[[], list[Context]], float | None]] = (
    ("same objects at every turn", same, 1.25),
    ("equal objects at every turn", equal, 1.25),
    ("every text new at every turn", changed, None),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what the protection costs.")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of 100 renders (15)")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    parser.add_argument("--page", type=Path, help="write the table into this page too")
    options = parser.parse_args()
    plain = dict(islice(turns(), 5).__next__(), **stable_context())
    assert unprotected()(plain) == protected()(plain), "the two give different prompts"
    rows, goals = [], []
    for what, contexts, limit in ROWS:
        guarded, bare = measure(contexts, options.rounds)
        rows.append((what, f"{guarded:.1f}", f"{bare:.1f}", f"{guarded / bare:.2f} x"))
        goals.append(Goal(f"protected, {what}", guarded / bare, limit))
    tables = [
        table(("the realistic prompt", "protected us", "unprotected us", "ratio"), rows),
        table(("goal", "measured", "goal", ""), [goal.cells() for goal in goals]),
    ]
    print("\n\n".join(tables))
    if options.json is not None:
        data = {"rows": rows, "goals": [goal.data() for goal in goals]}
        options.json.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    if options.page is not None:
        names = ", ".join(f"{k} {v}" for k, v in versions(("cuecard", "minijinja")).items())
        write_into(options.page, "protection", f"{names}; {machine()}", tables)


if __name__ == "__main__":
    main()

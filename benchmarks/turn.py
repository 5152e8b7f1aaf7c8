"""Measure how long the prompt of a turn takes: cuecard, engines, libraries and code by hand.

One agent, 200 turns: the time changes at every turn, the plan and the notes at some. Before
anything is timed, every contender's text of every turn is compared with cuecard's. README.md
says how to read the table.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import logging
import os
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import cuecard
from agent_prompt import TEMPLATE, Context, stable_context, turns
from charts import bars
from peers import CONTENDERS, Contender, Ready
from report import Goal, machine, number, settle, table, time_batch, versions, write_into

TURNS = 200
LONG_ENOUGH = 0.02
"""Seconds of one contender's share of a round, so that a clock's steps do not count."""

BOUND, UNBOUND = "cuecard, bound", "cuecard"
JOINED = "joining the finished parts"
HAND = "by hand, schemas kept"
"""The goal is held against this form. The slower one dumps the schemas at every turn, too; the
faster one keeps by hand what binding keeps, and formats nothing but what changed."""

QUIET = {"HAYSTACK_TELEMETRY_ENABLED": "False", "HF_HUB_OFFLINE": "1", "LANGSMITH_TRACING": "false"}
"""Nothing is fetched or reported while a benchmark runs."""

KINDS = {"cuecard": "cuecard", "hand": "by hand", "engine": "engines", "peer": "libraries"}
"""The kinds of contenders, in the order of the table."""

Times = dict[str, float]


def loop(ready: Ready, taken: list[Any], runner: asyncio.Runner) -> Callable[[], None]:
    """All turns of a batch, one after the other."""
    call = ready.call

    def run() -> None:
        for given in taken:
            call(given)

    async def run_awaiting() -> None:
        for given in taken:
            await call(given)

    return (lambda: runner.run(run_awaiting())) if ready.is_async else run


def texts_of(ready: Ready, given: Sequence[Context], runner: asyncio.Runner) -> list[str]:
    async def awaited() -> list[str]:
        return [ready.text(await ready.call(ready.take(turn))) for turn in given]

    if ready.is_async:
        return runner.run(awaited())
    return [ready.text(ready.call(ready.take(turn))) for turn in given]


def prepare(
    stable: Context, given: Sequence[Context], kinds: Sequence[str], runner: asyncio.Runner
) -> tuple[dict[str, Ready], dict[str, str]]:
    """The contenders that are installed, checked; and why the others are not there."""
    template = cuecard.Template(TEMPLATE)
    expected = [template.render({**stable, **turn}) for turn in given]
    ready: dict[str, Ready] = {}
    missing: dict[str, str] = {}
    for contender in CONTENDERS:
        if contender.kind not in kinds:
            missing[contender.name] = "left out"
            continue
        try:
            made = contender.prepare(stable)
        except ImportError as error:
            missing[contender.name] = f"not installed: {error.name or contender.package}"
            continue
        texts = texts_of(made, given, runner)
        for turn, (text, wanted) in enumerate(zip(texts, expected, strict=True)):
            if text != wanted:
                sys.exit(f"{contender.name} gives another text than cuecard at turn {turn}")
        ready[contender.name] = made
    return ready, missing


def measure(
    ready: dict[str, Ready], given: Iterator[Context], rounds: int, runner: asyncio.Runner
) -> Times:
    """Median microseconds of a turn; the contenders take turns, and no turn comes twice."""
    times: dict[str, list[float]] = {name: [] for name in ready}
    settle()
    for round_number in range(rounds + 1):
        for name, made in ready.items():
            spent = 0.0
            gc.collect()
            while spent < LONG_ENOUGH:
                taken = [made.take(turn) for turn in itertools.islice(given, TURNS)]
                elapsed = time_batch(loop(made, taken, runner))
                spent += elapsed
                if round_number:
                    times[name].append(elapsed / TURNS * 1e6)
    return {name: statistics.median(measured) for name, measured in times.items()}


# results ------------------------------------------------------------------------------------------


def fastest(times: Times, kind: str) -> str:
    """The fastest contender of a kind; "" when none was measured."""
    names = [c.name for c in CONTENDERS if c.kind == kind and c.name in times]
    return min(names, key=times.__getitem__, default="")


def goals(times: Times) -> list[Goal]:
    def ratio(name: str, of: str) -> float | None:
        return times[name] / times[of] if name in times and of in times else None

    library = fastest(times, "peer") or "of which none was measured"
    return [
        Goal(f"bound, faster than the fastest library, {library}", ratio(library, BOUND), 20, True),
        Goal("bound, faster than the bare engine, minijinja", ratio("minijinja", BOUND), 10, True),
        Goal(f"bound, time of `{HAND}`, f-strings at every turn", ratio(BOUND, HAND), 1),
        Goal("   beside it: of `by hand`, schemas dumped too", ratio(BOUND, "by hand")),
        Goal("   beside it: of `by hand, front kept`", ratio(BOUND, "by hand, front kept")),
        Goal("bound, time of joining the finished parts", ratio(BOUND, JOINED), 4),
        Goal("not bound, faster than the fastest library", ratio(library, UNBOUND), 2, True),
        Goal("   beside it: faster than Jinja2", ratio("Jinja2", UNBOUND)),
    ]


def rows(times: Times, missing: dict[str, str]) -> list[tuple[str, ...]]:
    """The table, cuecard first, then every kind from the fastest to the slowest."""
    found: list[tuple[str, ...]] = []
    order = {kind: index for index, kind in enumerate(KINDS)}

    def place(contender: Contender) -> tuple[int, float]:
        return order[contender.kind], times.get(contender.name, float("inf"))

    for contender in sorted(CONTENDERS, key=place):
        if contender.name in missing:
            found.append((contender.name, "-", "-", "-", missing[contender.name]))
            continue
        time = times[contender.name]
        over_bound = number(time / times[BOUND])
        over_engine = number(time / times["minijinja"])
        found.append((contender.name, number(time), over_bound, over_engine, contender.note))
    return found


def chart(times: Times) -> str:
    shown = sorted((c for c in CONTENDERS if c.name in times), key=lambda c: times[c.name])
    return bars(
        "The prompt of one turn",
        "microseconds; each line is ten times the one before",
        [(c.name, times[c.name], c.kind) for c in shown],
        KINDS,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how long the prompt of a turn takes.")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures there too")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="draw them there")
    parser.add_argument("--page", metavar="FILE", type=Path, help="put the tables into that page")
    parser.add_argument(
        "--kind",
        action="append",
        choices=KINDS,
        help="measure only these; `cuecard` and `engine` are always there",
    )
    parser.add_argument("--rounds", type=int, default=15, help="rounds of all contenders (15)")
    options = parser.parse_args()
    os.environ.update(QUIET)
    logging.disable()
    warnings.simplefilter("ignore")

    kinds = ("cuecard", "engine", *options.kind) if options.kind else tuple(KINDS)
    stable, given = stable_context(), turns()
    with asyncio.Runner() as runner:
        first = list(itertools.islice(given, TURNS))
        ready, missing = prepare(stable, first, kinds, runner)
        size = len(cuecard.Template(TEMPLATE).render({**stable, **first[-1]}))
        times = measure(ready, given, options.rounds, runner)

    found = versions({"cuecard", "msgspec", *(c.package for c in CONTENDERS)})
    facts = (
        ", ".join(f"{name} {found[name]}" for name in sorted(found))
        + f"; {machine()}; {size:,} characters, {TURNS} turns of which all texts were equal"
    )
    head = ("contender", "us a turn", "x bound", "x engine", "note")
    report = [
        table(head, rows(times, missing), left=(0, 4)),
        table(("goal", "measured", "goal", ""), [goal.cells() for goal in goals(times)]),
    ]
    print(facts, *report, sep="\n\n")
    if options.page:
        write_into(options.page, "turn", facts, report)
    if options.json:
        data = {
            "date": date.today().isoformat(),
            "machine": machine(),
            "versions": found,
            "characters": size,
            "microseconds": times,
            "missing": missing,
            "goals": [goal.data() for goal in goals(times)],
        }
        options.json.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    if options.svg:
        options.svg.write_text(chart(times), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Measure how the cost of a turn grows with the prompt: 10 to 10,000 tools that never change.

README.md says how to read the table.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import cuecard
from agent_prompt import TEMPLATE, Context, stable_context, turns
from charts import lines
from peers import Ready, bare_minijinja, bound, bound_blocks
from report import Goal, machine, number, settle, table, time_batch, versions, write_into

TOOLS = (10, 100, 1_000, 10_000)
PARAMETERS = 2
LONG_ENOUGH = 0.02
"""Seconds of one batch of turns, so that the clock's steps do not count."""

WAYS: dict[str, tuple[str, Callable[[Context], Ready]]] = {
    "bound, as blocks": ("cuecard", bound_blocks),
    "bound, as one text": ("hand", bound),
    "minijinja": ("engine", bare_minijinja),
}
BLOCKS = "bound, as blocks"

Figures = dict[str, dict[int, float]]


def agent(tools: int) -> Context:
    return stable_context(tools=tools, parameters=PARAMETERS)


# time ---------------------------------------------------------------------------------------------


def batch_time(ready: Ready, count: int) -> float:
    taken = [ready.take(turn) for turn in itertools.islice(turns(), 4, count + 4)]

    def run() -> None:
        for given in taken:
            ready.call(given)

    return time_batch(run)


def measure_times(rounds: int, tools: tuple[int, ...]) -> Figures:
    """Median microseconds of a turn by way and number of tools; all of them take turns."""
    cases = []
    for count in tools:
        stable = agent(count)
        check(stable)
        for way, (_, make) in WAYS.items():
            ready, size = make(stable), 1
            while batch_time(ready, size) < LONG_ENOUGH:
                size *= 2
            cases.append((way, count, ready, size, list[float]()))
    settle()
    for _ in range(rounds):
        for _, _, ready, size, measured in cases:
            measured.append(batch_time(ready, size) / size * 1e6)
    figures: Figures = {way: {} for way in WAYS}
    for way, count, _, _, measured in cases:
        figures[way][count] = statistics.median(measured)
    return figures


def check(stable: Context) -> None:
    """All ways give the same text, or there is nothing to compare."""
    made = [make(stable) for _, make in WAYS.values()]
    for turn in itertools.islice(turns(), 0, 60, 6):
        if len({ready.text(ready.call(ready.take(turn))) for ready in made}) > 1:
            sys.exit("the ways give different texts")


# memory -------------------------------------------------------------------------------------------


def resident() -> float:
    """MiB of this process that are in memory; where that is not told, the most there were."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def print_memory(way: str, tools: int) -> None:
    """What getting ready and two turns add to a process that has the agent's data."""
    make = WAYS[way][1]
    first, second = itertools.islice(turns(), 20, 22)
    # What the library takes by itself is not counted.
    small = make(agent(1))
    small.call(small.take(first))
    stable = agent(tools)
    before = resident()
    ready = make(stable)
    for turn in (first, second):
        ready.call(ready.take(turn))
    print(max(resident() - before, 0.0))


def measure_memory(rounds: int, tools: tuple[int, ...]) -> Figures:
    """Median MiB by way and number of tools, each in processes of its own."""
    figures: Figures = {way: {} for way in WAYS}
    for way, count in itertools.product(WAYS, tools):
        command = [sys.executable, __file__, "--memory", way, str(count)]
        found = [
            float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(rounds)
        ]
        figures[way][count] = statistics.median(found)
    return figures


# results ------------------------------------------------------------------------------------------


def spread(figures: dict[int, float]) -> float:
    return max(figures.values()) / min(figures.values())


def goals(times: Figures) -> list[Goal]:
    return [
        Goal("bound, as blocks: most to fewest microseconds", spread(times[BLOCKS]), 2),
        Goal("   beside it: as one text, which is copied", spread(times["bound, as one text"])),
        Goal("   beside it: minijinja, which renders all", spread(times["minijinja"])),
    ]


def rows(times: Figures, memory: Figures, sizes: dict[int, int]) -> list[tuple[str, ...]]:
    return [
        (
            f"{count:,}",
            f"{size:,}",
            *(number(times[way][count]) for way in WAYS),
            *(number(memory[way][count]) for way in WAYS),
        )
        for count, size in sizes.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how a turn's cost grows with the prompt.")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures there too")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="draw them there")
    parser.add_argument("--page", metavar="FILE", type=Path, help="put the tables into that page")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of all ways (9)")
    parser.add_argument("--most", type=int, default=TOOLS[-1], help="tools at most (10,000)")
    parser.add_argument("--memory", nargs=2, metavar=("WAY", "TOOLS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        print_memory(options.memory[0], int(options.memory[1]))
        return
    tools = tuple(count for count in TOOLS if count <= options.most)
    template = cuecard.Template(TEMPLATE)
    turn = next(itertools.islice(turns(), 20, None))
    sizes = {count: len(template.render({**agent(count), **turn})) for count in tools}
    times = measure_times(options.rounds, tools)
    memory = measure_memory(min(options.rounds, 3), tools)

    found = versions(("cuecard", "minijinja", "msgspec"))
    facts = ", ".join(f"{name} {found[name]}" for name in sorted(found)) + f"; {machine()}"
    head = (
        "tools",
        "characters",
        *(f"{way}, us" for way in WAYS),
        *(f"{way.removeprefix('bound, ')}, MiB" for way in WAYS),
    )
    report = [
        table(head, rows(times, memory, sizes), left=()),
        table(("goal", "measured", "goal", ""), [goal.cells() for goal in goals(times)]),
    ]
    print(facts, *report, sep="\n\n")
    if options.page:
        write_into(options.page, "growth", facts, report)
    if options.json:
        data: dict[str, Any] = {
            "date": date.today().isoformat(),
            "machine": machine(),
            "versions": found,
            "characters": sizes,
            "microseconds": times,
            "mebibytes": memory,
            "goals": [goal.data() for goal in goals(times)],
        }
        options.json.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    if options.svg:
        series = [(way, kind, list(times[way].items())) for way, (kind, _) in WAYS.items()]
        title = "A turn, by the number of tools"
        options.svg.write_text(
            lines(title, "tools that never change", "microseconds a turn", series), encoding="utf-8"
        )


if __name__ == "__main__":
    main()

"""Runs the whole catalog on all engines, and prints the table: `make hostile`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from importlib.metadata import version
from pathlib import Path

from .attacks import Attack, all_attacks
from .engines import ENGINES
from .judging import faults
from .runner import Outcome, run

START, END = "<!-- hostile -->", "<!-- end of hostile -->"
_VERDICTS = ("let through", "lost")


def main() -> int:
    """Run, print, and give 1 when cuecard let something through or lost a process."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--page", type=Path, help="write the table into this page too")
    parser.add_argument("--json", type=Path, help="write what became of each attack there")
    options = parser.parse_args()
    attacks = all_attacks()
    outcomes = _run_all(attacks)
    text = "\n\n".join(
        f"```text\n{part}\n```" for part in (_table(attacks, outcomes), _kinds(outcomes))
    )
    sys.stdout.write(f"{_facts()}\n\n{text}\n")
    by_name = {attack.name: attack for attack in attacks}
    wrong = {
        outcome.attack: found
        for outcome in outcomes
        if outcome.engine == "cuecard" and (found := faults(by_name[outcome.attack], outcome))
    }
    for name, found in wrong.items():
        sys.stdout.write(f"{name}: {'; '.join(found)}\n")
    if options.page is not None:
        _write_into(options.page, f"{_facts()}\n\n{text}")
    if options.json is not None:
        lines = [json.dumps(_line(outcome)) for outcome in outcomes]
        options.json.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if wrong else 0


def _run_all(attacks: Iterable[Attack]) -> list[Outcome]:
    """Every attack on every engine; what makes much work, beside the rest."""
    others = sorted({attack.group for attack in attacks} - {"work"})
    tasks = [(engine, groups) for engine in ENGINES for groups in (["work"], others)]
    with ThreadPoolExecutor(len(tasks)) as pool:
        found = list(pool.map(lambda task: list(run(*task)), tasks))
    return [outcome for outcomes in found for outcome in outcomes]


def _facts() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("cuecard", "jinja2", "minijinja"))
    return (
        f"{date.today():%Y-%m-%d}; {packages}, python {platform.python_version()}; "
        f"{platform.system()} {platform.machine()}; one process an attempt, "
        "1 s of the processor and 512 MB each."
    )


def _table(attacks: Iterable[Attack], outcomes: Iterable[Outcome]) -> str:
    """Attacks tried, let through and lost, by group and engine."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for outcome in outcomes:
        group = outcome.attack.partition("/")[0]
        for key in ("tried", outcome.verdict):
            counts[group, outcome.engine, key] += 1
            counts["all", outcome.engine, key] += 1
    groups = list(dict.fromkeys(attack.group for attack in attacks))
    head = ["group"]
    for engine in ENGINES:
        head += [engine, "through", "lost"]
    rows = [head]
    for group in (*groups, "all"):
        row = [group]
        for engine in ENGINES:
            tried = counts[group, engine, "tried"]
            row.append(f"{tried:,}" if tried else "-")
            row += [f"{counts[group, engine, key]:,}" if tried else "" for key in _VERDICTS]
        rows.append(row)
    return _aligned(rows)


def _kinds(outcomes: Iterable[Outcome]) -> str:
    """What happened that must not, by engine; an attack may have several of these."""
    counts: Counter[tuple[str, str]] = Counter()
    for outcome in outcomes:
        for mark in outcome.marks:
            counts[mark, outcome.engine] += 1
        if outcome.verdict == "lost":
            kind = outcome.why if outcome.why.startswith(("over", "hung")) else "a crash"
            counts[f"process lost: {kind}", outcome.engine] += 1
    rows = [["what happened", *ENGINES]]
    for kind in sorted({kind for kind, _ in counts}):
        rows.append([kind, *(f"{counts[kind, engine]:,}" for engine in ENGINES)])
    return _aligned(rows)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if index else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join((lines[0], "-" * max(map(len, lines)), *lines[1:]))


def _line(outcome: Outcome) -> dict[str, object]:
    reports = outcome.reports
    return {
        "engine": outcome.engine,
        "attack": outcome.attack,
        "verdict": outcome.verdict,
        "marks": outcome.marks,
        "why": outcome.why,
        "code": reports[0].get("code") if reports else None,
        "seconds": round(outcome.cpu, 3),
        "mebibytes": outcome.memory,
    }


def _write_into(page: Path, text: str) -> None:
    before, rest = page.read_text(encoding="utf-8").split(START)
    after = rest.split(END)[1]
    page.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

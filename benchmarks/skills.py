"""Measure how long skills take to be discovered, at first and when nothing has changed.

README.md says how to read the table.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from cuecard.skills import SkillFolders, discover_skills
from report import Goal, machine, settle, table, time_batch

HEADERS = (
    "description: Reviews a change and says what is wrong\nlicense: Apache-2.0",
    'description: "Use when: kind {0} is \\"ready\\""\nallowed-tools: Read, Bash(git add:*)',
    "description: Reads files of kind {0}\nmetadata-version: 1.{0}",
    "description: >-\n  Prüft Änderungen der Art {0},\n  „gründlich“\nmetadata:\n  author: someone",
)
"""Headers as people write them; every second one needs a YAML parser."""

BODY = "Read the file, and say what it holds.\n" * 200


def write_skills(folder: Path, count: int) -> None:
    """Skills that were last changed an hour ago."""
    then = time.time() - 3600
    for number in range(count):
        name = f"skill-{number:04}"
        header = HEADERS[number % len(HEADERS)].format(number)
        file = folder / name / "SKILL.md"
        file.parent.mkdir()
        file.write_text(f"---\nname: {name}\n{header}\n---\n{BODY}", encoding="utf-8")
        os.utime(file, (then, then))


def load_plainly(folder: Path) -> int:
    """What one writes in five lines: read each file whole, and its header as YAML."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    skills = []
    for file in sorted(folder.glob("*/SKILL.md")):
        _, header, body = file.read_text(encoding="utf-8").split("---\n", 2)
        skills.append((yaml.load(header, Loader=loader), body))
    return len(skills)


def look_at_stamps(folder: Path) -> int:
    """The least that finds out whether a file has changed."""
    with os.scandir(folder) as entries:
        return len({entry.path: os.lstat(f"{entry.path}/SKILL.md") for entry in entries})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skills", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_skills(folder, options.skills)
        figures = measure(folder, options.skills, options.rounds)
    goals = goals_of(figures)
    print(f"{options.skills:,} skills, {machine()}\n")
    print(table(("", "ms"), [(what, f"{taken * 1e3:.1f}") for what, taken in figures.items()]))
    print()
    print(table(("", "ratio", "goal", ""), [goal.cells() for goal in goals], left=(0, 3)))
    if options.json:
        data = {"seconds": figures, "goals": [goal.data() for goal in goals]}
        Path(options.json).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    return 0 if all(goal.met is not False for goal in goals) else 1


def measure(folder: Path, count: int, rounds: int) -> dict[str, float]:
    """Median seconds of each way; all of them take turns."""
    folders = SkillFolders(folder)
    ways: dict[str, Callable[[], int]] = {
        "discover, first": lambda: len(discover_skills(folder)),
        "discover, unchanged": lambda: len(folders.discover()),
        "read whole, YAML": lambda: load_plainly(folder),
        "stamps alone": lambda: look_at_stamps(folder),
    }
    assert {way() for way in ways.values()} == {count}
    settle()
    taken: dict[str, list[float]] = {what: [] for what in ways}
    for _ in range(rounds):
        for what, way in ways.items():
            taken[what].append(time_batch(lambda way=way: way()))  # type: ignore[misc]
    return {what: statistics.median(times) for what, times in taken.items()}


def goals_of(figures: dict[str, float]) -> list[Goal]:
    first, again, plain, stamps = figures.values()
    return [
        Goal("first / read whole, YAML", first / plain, 1.25),
        Goal("unchanged / stamps alone", again / stamps, 4.0),
        Goal("unchanged / first", again / first, 0.2),
    ]


if __name__ == "__main__":
    sys.exit(main())

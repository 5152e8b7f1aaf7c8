"""Measure `cuecard check`: a thousand agent files, checked, remembered, and only parsed.

README.md says how to read the table.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import minijinja

from cuecard import LIVE, Template
from cuecard.lint import Checker, Settings
from report import Goal, machine, settle, table, time_batch

WAYS = {
    "engine": "read, and compile with minijinja",
    "template": "read, and compile with cuecard",
    "check": "check in one process",
    "first": "the command, nothing remembered",
    "again": "the command, all remembered",
}
SECTIONS = (
    """\
## {title}

You work for {{{{ agent_name }}}} on `{topic}`. Read the request twice before you begin, and say
which of its parts you take on. Where two readings are possible, choose the one that changes
less, and name the other one at the end.

{{% if user_notes %}}
What you know of the user:

{{{{ user_notes }}}}
{{% endif %}}
""",
    """\
## {title}

{{% for tool in tools | sort(attribute="name") %}}
- `{{{{ tool.name }}}}`: {{{{ tool.description }}}}
{{% else %}}
You have no tools for {topic}; answer from what you know.
{{% endfor %}}

Never call a tool twice with the same arguments. When it fails, say what you expected of it.
""",
    """\
## {title}

1. Find the files that {topic} touches, and read them before you change any.
2. Make the smallest change that does what is asked, and run what tests there are.
3. Report in at most {number} sentences: what was done, what was left out, and why.

{{# Keep this short: it is read at every turn. #}}
Write `{{{{ namespace | default("the workspace") }}}}` when you speak of the place where you work.
""",
)


def agent(number: int, size: int = 5_000) -> str:
    """An agent file of about as many bytes, unlike the others, without a mistake."""
    text = f"---\nname: agent-{number}\ndescription: Works on part {number} of a product.\n---\n"
    section = 0
    while len(text) < size:
        topic = f"module-{number}-{section}"
        template = SECTIONS[(number + section) % len(SECTIONS)]
        text += template.format(title=f"Step {section + 1}", topic=topic, number=number % 7 + 2)
        text += "\n"
        section += 1
    return text


def parse_only(paths: list[str]) -> None:
    """What no check can do without: read each file, and compile its body with the engine."""
    for path in paths:
        text = Path(path).read_text(encoding="utf-8")
        body = text.split("\n---\n", 1)[1]
        minijinja.Environment(templates={"agent": body}, trim_blocks=True, lstrip_blocks=True)


def check(folder: str) -> None:
    found = [
        finding for report in Checker(Settings()).check([folder]) for finding in report.findings
    ]
    if found:
        sys.exit(f"the agents of the benchmark have mistakes: {found[0]}")


def compile_only(paths: list[str]) -> None:
    """The same with cuecard, whose errors have places, and whose templates have names."""
    for path in paths:
        text = Path(path).read_text(encoding="utf-8")
        Template(text.split("\n---\n", 1)[1], profile=LIVE)


def command(folder: str) -> None:
    """All of the command, its start included. Byte code is read from a cache, as usual."""
    line = [sys.executable, "-m", "cuecard", "check", "."]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(Path(folder, ".bytecode"))
    subprocess.run(line, cwd=folder, env=environment, check=True, capture_output=True)


def measure(folder: str, rounds: int) -> dict[str, float]:
    """Median seconds of each way; they take turns."""
    paths = sorted(map(str, Path(folder).glob("*.md")))
    cache = Path(folder, ".cuecard_cache")
    ways: dict[str, Callable[[], None]] = {
        "engine": lambda: parse_only(paths),
        "template": lambda: compile_only(paths),
        "check": lambda: check(folder),
        "first": lambda: command(folder),
        "again": lambda: command(folder),
    }
    measured: dict[str, list[float]] = {way: [] for way in ways}
    command(folder)
    settle()
    for _ in range(rounds):
        shutil.rmtree(cache, ignore_errors=True)
        for way, run in ways.items():
            measured[way].append(time_batch(run))
    return {way: statistics.median(times) for way, times in measured.items()}


def report(figures: dict[str, float], files: int) -> str:
    """The table, and the goals."""
    engine = figures["engine"]
    rows = [
        (
            what,
            f"{figures[way]:.2f} s",
            f"{figures[way] / files * 1e3:.2f} ms",
            f"{figures[way] / engine:.1f} x",
        )
        for way, what in WAYS.items()
    ]
    goals = [
        Goal("checking, to minijinja alone", figures["check"] / engine, 6),
        Goal("checking, to only compiling", figures["check"] / figures["template"]),
        Goal("the command again, to minijinja alone", figures["again"] / engine),
    ]
    head = ("way", "all files", "a file", "x engine")
    return "\n\n".join(
        (
            f"{files:,} agents of 5 kB; {machine()}",
            table(head, rows),
            table(("goal", "ratio", "goal", ""), [goal.cells() for goal in goals]),
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.files):
            Path(folder, f"agent-{number}.md").write_text(agent(number), encoding="utf-8")
        figures = measure(folder, options.rounds)
    print(report(figures, options.files))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

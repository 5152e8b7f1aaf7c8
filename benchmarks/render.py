"""Measure what cuecard adds to the bare engine, in one run and on the same data.

Each row compares two things that take turns, and gives the median of each; what counts is
their ratio, since times depend on the machine. README.md says how to read the table.
"""

import argparse
import compileall
import gc
import itertools
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import jinja2
import minijinja

import cuecard

ROOT = Path(__file__).parent.parent
REVIEWER = ROOT / "examples" / "reviewer"
ONE_LINE = "hello {{ directive }}"
LIMIT = 60

marks = itertools.count()

Context = dict[str, Any]
Run = Callable[[Iterable[Context]], None]


@dataclass
class Row:
    """One comparison. Times are seconds; `met` is None for a row without a goal."""

    what: str
    time: float
    baseline: float
    goal: float | None = None
    goal_is_difference: bool = False

    @property
    def value(self) -> float:
        if self.goal_is_difference:
            return self.time - self.baseline
        return self.time / self.baseline

    @property
    def met(self) -> bool | None:
        return None if self.goal is None else self.value <= self.goal

    def cells(self) -> tuple[str, ...]:
        show = added if self.goal_is_difference else "{:.2f} x".format
        goal = "" if self.goal is None else "<= " + show(self.goal)
        met = {None: "", True: "met", False: "MISSED"}[self.met]
        return (self.what, span(self.time), span(self.baseline), show(self.value), goal, met)

    def data(self) -> dict[str, Any]:
        return {**asdict(self), "value": self.value, "met": self.met}


def span(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} us"


def added(seconds: float) -> str:
    return f"{seconds * 1e3:+.1f} ms"


# renders ------------------------------------------------------------------------------------------


def xml_text(value: object) -> str:
    return str(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def bare_environment(source: str) -> minijinja.Environment:
    """The engine itself: same white space, strictness and fuel, its own `tojson`."""
    environment = minijinja.Environment(
        debug=False,
        fuel=cuecard.STRICT.limits.fuel,
        undefined_behavior="strict",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.add_filter("xml_text", xml_text)
    environment.add_template("main", source)
    return environment


# Each of these loops for itself, so that none pays for one call more than the others.


def bare_engine(source: str) -> Run:
    render = bare_environment(source).render_template

    def run(contexts: Iterable[Context]) -> None:
        for context in contexts:
            render("main", **context)

    return run


def compiled_jinja2(source: str) -> Run:
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["xml_text"] = xml_text
    render = environment.from_string(source).render

    def run(contexts: Iterable[Context]) -> None:
        for context in contexts:
            render(context)

    return run


def template_render(source: str) -> Run:
    render = cuecard.Template(source).render

    def run(contexts: Iterable[Context]) -> None:
        for context in contexts:
            render(context)

    return run


def function_render(source: str) -> Run:
    render = cuecard.render

    def run(contexts: Iterable[Context]) -> None:
        for context in contexts:
            render(source, context)

    return run


def medians(
    runs: Sequence[Run], contexts: Callable[[], Sequence[Context]], rounds: int
) -> list[float]:
    """Median seconds of one render for each of the runs, which take turns."""
    times: list[list[float]] = [[] for _ in runs]
    for number in range(rounds + 1):
        for run, measured in zip(runs, times, strict=True):
            # Each run gets objects of its own, which no other has seen.
            given = contexts()
            gc.collect()
            gc.disable()
            start = perf_counter()
            run(given)
            elapsed = perf_counter() - start
            gc.enable()
            if number:
                measured.append(elapsed / len(given))
    return [statistics.median(measured) for measured in times]


def compare(
    what: str,
    source: str,
    contexts: Callable[[], Sequence[Context]],
    rounds: int,
    goal: float | None = None,
) -> list[Row]:
    makers = (bare_engine, template_render, function_render, compiled_jinja2)
    runs = [make(source) for make in makers]
    bare, template, function, jinja = medians(runs, contexts, rounds)
    return [
        Row(f"{what}: Template.render", template, bare, goal),
        Row(f"{what}: cuecard.render", function, bare, goal),
        Row(f"{what}: compiled Jinja2", jinja, bare),
    ]


def copies(text: str, count: int) -> list[Context]:
    return [json.loads(text) for _ in range(count)]


def changing(text: str, count: int) -> list[Context]:
    """Contexts of which every value differs from that in all others, so that no copy helps."""
    contexts = copies(text, count)
    for context in contexts:
        mark = f"{next(marks):07}"
        for name, value in context.items():
            if isinstance(value, str):
                context[name] = value + mark
            elif isinstance(value, list):
                value[-1]["description"] += mark
            else:
                value["note"] = mark
    return contexts


def with_nulls(text: str) -> str:
    """The same context with an explicit `"default": null` in every schema that has no default."""
    context = json.loads(text)
    for tool in context["tools"]:
        for schema in tool["parameters"]["properties"].values():
            schema.setdefault("default", None)
    return json.dumps(context)


def same_text(source: str, context: Context) -> bool:
    """Whether the bare engine's prompt differs in nothing but its way to write JSON."""

    def plain(text: str) -> str:
        text = re.sub(r"\\u00(3c|3e|26|27)", lambda m: chr(int(m[1], 16)), text)
        return text.replace(" ", "")

    bare = bare_environment(source).render_template("main", **context)
    return plain(bare) == plain(cuecard.render(source, context))


def measure_renders(rounds: int) -> list[Row]:
    source = (REVIEWER / "agent.md").read_text(encoding="utf-8").split("---\n", 2)[2]
    text = (REVIEWER / "context.json").read_text(encoding="utf-8")
    if not same_text(source, json.loads(text)):
        sys.exit("the engine and cuecard give different prompts: there is nothing to compare")
    lines = [{"directive": f"world {number}"} for number in range(1000)]
    same = [json.loads(text)] * 20
    nulls = with_nulls(text)
    pretty = source.replace("tojson }}", "tojson(indent=2) }}")
    return [
        *compare("one line", ONE_LINE, lambda: lines, rounds, 2.0),
        *compare("realistic, same objects", source, lambda: same, rounds, 1.2),
        *compare("realistic, equal objects", source, lambda: copies(text, 20), rounds, 1.2),
        *compare("realistic, all new", source, lambda: changing(text, 20), rounds, 1.2),
        *compare("nulls in schemas, same", source, lambda: [json.loads(nulls)] * 20, rounds),
        *compare("nulls in schemas, all new", source, lambda: changing(nulls, 20), rounds),
        *compare("JSON with indent, same", pretty, lambda: same, rounds),
    ]


# fresh processes ----------------------------------------------------------------------------------

IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def measure_processes(rounds: int) -> list[Row]:
    command = shutil.which("cuecard", path=str(Path(sys.executable).parent))
    if command is None:
        sys.exit("the command `cuecard` is not installed beside this Python")
    render = [command, "render", str(REVIEWER / "agent.md")]
    render += ["--vars", str(REVIEWER / "context.json")]
    commands = [
        [sys.executable, "-c", IMPORT.format("minijinja")],
        [sys.executable, "-c", IMPORT.format("cuecard")],
        [sys.executable, "-c", "import minijinja"],
        render,
    ]
    with tempfile.TemporaryDirectory() as cache:
        environment = with_byte_code(Path(cache))
        engine_import, own_import, engine_process, own_command = alternate(
            commands, environment, rounds
        )
    return [
        Row("import cuecard over import minijinja", own_import, engine_import, 0.040, True),
        Row("cuecard render over python -c", own_command, engine_process, 2.5),
    ]


def with_byte_code(cache: Path) -> dict[str, str]:
    """An environment in which byte code is read and written, whatever this process does."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(cache)
    package = Path(cuecard.__file__).parent
    saved, sys.pycache_prefix = sys.pycache_prefix, str(cache)
    compileall.compile_dir(package, quiet=1)
    sys.pycache_prefix = saved
    return environment


def alternate(commands: list[list[str]], environment: dict[str, str], rounds: int) -> list[float]:
    """Median seconds of each command, or the time that it prints itself; they take turns."""
    times: list[list[float]] = [[] for _ in commands]
    for number in range(rounds + 2):
        for arguments, measured in zip(commands, times, strict=True):
            start = perf_counter()
            done = subprocess.run(
                arguments, env=environment, capture_output=True, check=True, timeout=LIMIT
            )
            elapsed = perf_counter() - start
            # The first two fill the cache of byte code, and the machine's of files.
            if number >= 2:
                own = "perf_counter" in arguments[-1]
                measured.append(float(done.stdout) if own else elapsed)
    return [statistics.median(measured) for measured in times]


# printing -----------------------------------------------------------------------------------------


def table(rows: Sequence[Row]) -> str:
    cells = [("what", "time", "baseline", "ratio", "goal", ""), *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for what, *others in cells:
        padded = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        lines.append("  ".join((what.ljust(widths[0]), *padded)).rstrip())
    return "\n".join((lines[0], "-" * max(map(len, lines)), *lines[1:]))


def versions() -> dict[str, str]:
    names = ("cuecard", "minijinja", "jinja2", "msgspec")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how long rendering takes.")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("--rounds", type=int, default=30, help="rounds of renders (30)")
    parser.add_argument("--processes", type=int, default=15, help="rounds of processes (15)")
    options = parser.parse_args()
    rows = [*measure_renders(options.rounds), *measure_processes(options.processes)]
    print(", ".join(f"{name} {number}" for name, number in versions().items()) + "\n")
    print(table(rows))
    if options.json:
        data = {"versions": versions(), "rows": [row.data() for row in rows]}
        Path(options.json).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

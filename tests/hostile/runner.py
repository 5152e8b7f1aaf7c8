"""Runs attacks, each in a process of its own, and judges what became of them.

The runner loads everything once and forks for each attack, so that an attack costs
milliseconds. It has one thread, and must be the program itself: see `run`.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Outcome", "run"]

ROOT = Path(__file__).parent.parent.parent


class Outcome(NamedTuple):
    """What became of an attack on an engine.

    Attributes:
        engine: which.
        attack: the attack's name.
        verdict: `text`, `error`, `let through` or `lost`.
        marks: what happened that must not.
        why: how the process was lost, or "".
        reports: what each way ended with.
        cpu: seconds of the processor that the process took, with getting ready.
        memory: mebibytes that the process had at most, with what it had before.
    """

    engine: str
    attack: str
    verdict: str
    marks: list[str]
    why: str
    reports: list[dict[str, Any]]
    cpu: float
    memory: int


def run(
    engine: str,
    names: Iterable[str] = (),
    *,
    cpu: float = 1.0,
    memory: int = 512,
    quick: bool = False,
) -> Iterator[Outcome]:
    """Run attacks in a process that does nothing else.

    Args:
        engine: a name of `ENGINES`.
        names: the attacks or groups; all that make sense for the engine when there are none.
        cpu: seconds of the processor that an attempt may take.
        memory: mebibytes that it may take.
        quick: whether an attack that makes work is tried in one of the ways only.
    """
    command = [sys.executable, "-m", "tests.hostile.runner", engine, f"--cpu={cpu}"]
    environment = {k: v for k, v in os.environ.items() if "PYTEST" not in k}
    with subprocess.Popen(
        [*command, f"--memory={memory}", *(["--quick"] if quick else []), *names],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield Outcome(**json.loads(line))
    if process.returncode:
        raise RuntimeError(f"the runner ended with {process.returncode}")


def main() -> None:
    """Run the attacks that are named, and write an outcome a line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("engine")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--cpu", type=float, default=1.0)
    parser.add_argument("--memory", type=int, default=512)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_intermixed_args()

    from .attacks import all_attacks
    from .child import Bounds
    from .warming import warm_up

    bounds = Bounds(options.cpu, options.memory, quick=options.quick)
    warm_up()
    gc.collect()
    gc.freeze()
    with tempfile.TemporaryDirectory(prefix="hostile-") as place:
        # A process that is ended cannot clear away what it wrote.
        tempfile.tempdir = place
        for attack in all_attacks():
            names = options.names or (attack.name,)
            wanted = attack.name in names or attack.group in names
            if wanted and (attack.for_engines or options.engine == "cuecard"):
                outcome = _outcome(options.engine, attack, bounds)
                sys.stdout.write(json.dumps(outcome._asdict()) + "\n")
                sys.stdout.flush()


def _outcome(engine: str, attack: Any, bounds: Any) -> Outcome:
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as noise:
        child = os.fork()
        if child == 0:
            os.close(reading)
            _be_the_child(engine, attack, bounds, writing, noise.fileno())
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            data, late = _read(pipe, child, bounds.wall)
        _, status, usage = os.wait4(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        noise.seek(0)
        printed = noise.read().decode("utf-8", "replace")
    return _judge(engine, attack.name, data, status, usage, late, printed)


def _be_the_child(engine: str, attack: Any, bounds: Any, pipe: int, noise: int) -> None:
    from .child import attempt

    os.setpgid(0, 0)
    os.dup2(noise, 1)
    os.dup2(noise, 2)
    code = 1
    try:
        data = json.dumps(attempt(engine, attack, bounds)).encode("utf-8", "replace")
        while data:
            data = data[os.write(pipe, data) :]
        code = 0
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}"[:2000].encode("utf-8", "replace"))
    finally:
        os._exit(code)


def _read(pipe: Any, child: int, wall: float) -> tuple[bytes, bool]:
    """All that the child writes; it is ended when it takes longer than that."""
    deadline = time.monotonic() + wall
    data = b""
    while True:
        left = deadline - time.monotonic()
        ready, _, _ = select.select([pipe], [], [], max(0, left))
        if not ready:
            os.kill(child, signal.SIGKILL)
            return data, True
        piece = os.read(pipe.fileno(), 1 << 16)
        if not piece:
            return data, False
        data += piece


def _judge(
    engine: str, name: str, data: bytes, status: int, usage: Any, late: bool, printed: str
) -> Outcome:
    reports: list[dict[str, Any]] = []
    marks: list[str] = []
    why = ""
    if late:
        why = "hung"
    elif os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        why = "over its time" if number == signal.SIGPROF else signal.Signals(number).name
    elif os.WEXITSTATUS(status):
        why = f"ended with {os.WEXITSTATUS(status)}: {printed[-300:]}"
    else:
        reports = json.loads(data)
        marks = sorted({mark for report in reports for mark in report["marks"]})
        if any(report.get("type") == "MemoryError" for report in reports):
            why = "over its memory"
    verdict = reports[0]["ending"] if reports else ""
    if why:
        verdict = "lost"
    elif marks:
        verdict = "let through"
    memory = usage.ru_maxrss >> 10
    return Outcome(
        engine, name, verdict, marks, why, reports, usage.ru_utime + usage.ru_stime, memory
    )


if __name__ == "__main__":
    main()

"""Running the command: in this process, and at a terminal of its own."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .case_files import Case


class Result(NamedTuple):
    """What a run of the command left."""

    status: int | str | None
    out: str
    err: str


Run = Callable[..., Result]


def write(name: str, text: str | bytes) -> None:
    """A file in the current folder, byte for byte."""
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())


def run_at_terminal(
    *arguments: str, columns: int = 120, environment: dict[str, str] | None = None
) -> tuple[int, str]:
    """Exit code of the command, and all that it prints to a terminal."""
    mine, its = pty.openpty()
    variables = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "cuecard", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=its,
        env={**variables, "COLUMNS": str(columns), **(environment or {})},
    )
    os.close(its)
    printed = b""
    while True:
        try:
            read = os.read(mine, 1 << 16)
        except OSError:  # the other side is closed
            break
        if not read:
            break
        printed += read
    os.close(mine)
    return process.wait(60), printed.decode().replace("\r\n", "\n")


def check_run(run: Run, command: str, case: Case) -> None:
    """Run a case's files and arguments, and compare what it says.

    `out` is all of standard output in lines, `begins` its first lines, `has` and `lacks` are
    parts of it, `err` parts of standard error, and `err_lines` how many lines that has.
    """
    for name, text in case["files"].items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        write(name, text)
    result = run(command, *case["arguments"], stdin=case.get("stdin", "").encode())
    assert result.status == case["status"], result.err
    if "out" in case:
        assert result.out.splitlines() == case["out"]
    if "begins" in case:
        assert result.out.splitlines()[: len(case["begins"])] == case["begins"]
    for words in case.get("has", ()):
        assert words in result.out
    for words in case.get("lacks", ()):
        assert words not in result.out + result.err
    for words in case.get("err", ()):
        assert words in result.err
    if "err" not in case:
        assert result.err == ""
    if "err_lines" in case:
        assert len(result.err.splitlines()) == case["err_lines"]
    assert "\x1b" not in result.out + result.err

"""Each target, for a few seconds, in a process of its own; `make fuzz` runs them for longer.

atheris is installed on Linux and for Python up to 3.13 (pyproject.toml); elsewhere
`conftest.py` leaves this module out. A fault that was found is a file in `findings/`, which
every run tries first.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .run import HERE, TARGETS

ROOT = HERE.parent.parent


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.fuzz.run", *arguments],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
    )


@pytest.mark.parametrize("target", TARGETS)
def test_target(target: str, tmp_path: Path) -> None:
    """Neither what is known nor what is made of it in three seconds shows a fault."""
    done = fuzz(target, "--seconds=3", "--seeds=60", f"--corpus={tmp_path}")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-500:]
    executed = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    assert executed is not None
    assert int(executed[1]) > 20


def test_a_fault_is_seen(tmp_path: Path) -> None:
    """An input on which a target fails ends the run with its traceback, and is written down."""
    target = tmp_path / "fuzz_target.py"
    target.write_text(
        """
import sys
sys.argv[1:1] = ["values", "--seconds=20", "--seeds=1", "--corpus=."]
from tests.fuzz import run
from tests.fuzz.targets import values

def check(data):
    assert len(data) < 3, "a fault"

values.check = check
run.main()
"""
    )
    done = subprocess.run(
        [sys.executable, target],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
    )
    assert done.returncode == 77
    assert "AssertionError: a fault" in done.stdout
    assert list(tmp_path.glob("values-crash-*"))

"""The benchmark of `cuecard check` runs, and its agents are what it says."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "benchmarks"


def test_it_measures(tmp_path: Path) -> None:
    """A short run, which ends when an agent has a mistake, gives each way and the goal."""
    result = subprocess.run(
        [sys.executable, FOLDER / "check.py", "--files", "5", "--rounds", "1"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    ways = [line.split("  ")[0] for line in lines if line.endswith(" x")]
    assert ways[:5] == [
        "read, and compile with minijinja",
        "read, and compile with cuecard",
        "check in one process",
        "the command, nothing remembered",
        "the command, all remembered",
    ]
    assert any(line.startswith("checking, to minijinja alone") for line in lines)
    assert list(tmp_path.iterdir()) == []

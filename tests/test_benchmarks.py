"""The benchmark runs: what it measures is never tested, only that it still measures it."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_benchmark_runs(tmp_path: Path) -> None:
    """One round gives every row with a ratio, as a table and as JSON."""
    figures = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "benchmarks/render.py", "--rounds=1", "--processes=1", "--json", figures],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(figures.read_text(encoding="utf-8"))["rows"]
    assert len(rows) == 23
    assert all(row["what"] in done.stdout and row["time"] > 0 < row["baseline"] for row in rows)
    assert {row["goal"] for row in rows} == {2.0, 1.2, 2.5, 0.04, None}


def test_soak_runs(tmp_path: Path) -> None:
    """A short soak checks its texts and gives its samples, as a table and as JSON."""
    figures = tmp_path / "samples.json"
    done = subprocess.run(
        [sys.executable, "benchmarks/soak.py", "--renders=6000", "--samples=4", "--json", figures],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode in (0, 1), done.stderr
    assert figures.is_file(), done.stderr
    samples = json.loads(figures.read_text(encoding="utf-8"))
    assert [each["renders"] for each in samples] == [1500, 3000, 4500, 6000]
    assert all(f"{each['renders']:,}" in done.stdout for each in samples)
    assert all(each["memory"] > 0 < each["objects"] for each in samples)

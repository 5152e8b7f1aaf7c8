"""The benchmark of the protection runs: what it measures is never tested, only that it does."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_benchmark_runs(tmp_path: Path) -> None:
    """One round gives a ratio for each row, as a table, as JSON and in a page."""
    figures, page = tmp_path / "figures.json", tmp_path / "page.md"
    page.write_text("<!-- protection -->\nold\n<!-- end of protection -->\n", encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "benchmarks/protection.py", "--rounds=1"),
            *("--json", figures, "--page", page),
        ],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    goals = json.loads(figures.read_text(encoding="utf-8"))["goals"]
    assert [goal["limit"] for goal in goals] == [1.25, 1.25, None]
    assert all(goal["value"] > 0 for goal in goals)
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert all(line in text for line in done.stdout.splitlines()[2:] if line)

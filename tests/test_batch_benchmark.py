"""The benchmark of batches runs: what it measures is never tested, only that it measures it."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_batch_benchmark_runs(tmp_path: Path) -> None:
    """A few rows give a time for every way over a table, goals, a page and a chart."""
    figures, chart, page = tmp_path / "batch.json", tmp_path / "batch.svg", tmp_path / "page.md"
    page.write_text("before\n<!-- batch -->\nold\n<!-- end of batch -->\nafter\n", "utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "benchmarks/batch.py", "--rounds=1", "--rows=300", "--sample=5"),
            *("--only=short", "--no-memory", "--json", figures, "--svg", chart, "--page", page),
        ],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(figures.read_text("utf-8"))
    ways = {"cuecard 2", "cuecard 1", "columns", "bare"}
    assert ways <= set(data["tables"]["short"])
    assert all(
        way["microseconds"] > 0 for table in data["tables"].values() for way in table.values()
    )
    limits = [goal["limit"] for goal in data["goals"] if goal["limit"]]
    assert limits == [8, 500, 40, 1.6, 1.5, 50, 1.3, 1]
    labels = [text.text for text in ET.parse(chart).getroot().iter() if text.tag.endswith("text")]
    assert {"short: cuecard 2", "short: bare"} <= set(labels)
    text = page.read_text("utf-8")
    assert "old" not in text
    assert all(line in text for line in done.stdout.splitlines()[2:])

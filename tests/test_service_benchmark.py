"""The benchmark of the service runs: what it measures is never tested, only that it does."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_service_benchmark_runs(tmp_path: Path) -> None:
    """A round gives figures of each server, goals, memory, a chart and a page."""
    figures, chart, page = (tmp_path / name for name in ("service.json", "service.svg", "page.md"))
    page.write_text("before\n<!-- service -->\nold\n<!-- end of service -->\nafter\n", "utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "benchmarks/service.py", "--rounds=1", "--count=64"),
            *("--requests=200", "--json", figures, "--svg", chart, "--page", page),
        ],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(figures.read_text("utf-8"))
    assert set(data["rounds"]) == {"cuecard serve", "cuecard serve, with a store", "bare FastAPI"}
    for (found,) in data["rounds"].values():
        assert all(found[key] > 0 for key in ("requests", "p50", "p99", "bytes"))
    assert [goal["limit"] for goal in data["goals"]] == [0.5, 4, None, 1.1]
    assert [each["requests"] for each in data["memory"]][-2:] == [180, 200]
    assert all(each["mebibytes"] > 1 for each in data["memory"])
    labels = [text.text for text in ET.parse(chart).getroot().iter() if text.tag.endswith("text")]
    assert set(data["rounds"]) <= set(labels)
    text = page.read_text("utf-8")
    assert "old" not in text
    assert all(line in text for line in done.stdout.splitlines()[2:])

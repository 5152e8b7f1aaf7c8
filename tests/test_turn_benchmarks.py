"""The benchmarks of turns run: what they measure is never tested, only that they measure it."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def page_of(folder: Path, name: str) -> Path:
    page = folder / "page.md"
    page.write_text(f"before\n<!-- {name} -->\nold\n<!-- end of {name} -->\nafter\n", "utf-8")
    return page


def test_turn_benchmark_runs(tmp_path: Path) -> None:
    """One round gives a time for every contender here, a row for the others, and a chart."""
    figures, chart = tmp_path / "turn.json", tmp_path / "turn.svg"
    page = page_of(tmp_path, "turn")
    printed = run(
        "benchmarks/turn.py",
        *("--rounds=1", "--kind=hand", "--json", figures, "--svg", chart, "--page", page),
    )
    data = json.loads(figures.read_text("utf-8"))
    assert {"cuecard, bound", "cuecard", "minijinja", "Jinja2", "by hand"} <= set(
        data["microseconds"]
    )
    assert all(time > 0 for time in data["microseconds"].values())
    assert data["missing"]["banks"] == "left out"
    assert all(name in printed for name in (*data["microseconds"], *data["missing"]))
    assert [goal["limit"] for goal in data["goals"] if goal["limit"]] == [20, 10, 1, 4, 2]
    labels = [text.text for text in ET.parse(chart).getroot().iter() if text.tag.endswith("text")]
    assert set(data["microseconds"]) <= set(labels)
    text = page.read_text("utf-8")
    assert "old" not in text
    assert text.startswith("before\n<!-- turn -->\n")
    assert text.endswith("<!-- end of turn -->\nafter\n")
    assert all(line in text for line in printed.splitlines()[2:])


def test_growth_benchmark_runs(tmp_path: Path) -> None:
    """One round gives times and memory by way and number of tools, and a chart."""
    figures, chart = tmp_path / "growth.json", tmp_path / "growth.svg"
    printed = run(
        "benchmarks/growth.py", "--rounds=1", "--most=100", "--json", figures, "--svg", chart
    )
    data = json.loads(figures.read_text("utf-8"))
    assert set(data["characters"]) == {"10", "100"}
    assert all(set(times) == {"10", "100"} for times in data["microseconds"].values())
    assert all(value >= 0 for found in data["mebibytes"].values() for value in found.values())
    assert "bound, as blocks: most to fewest microseconds" in printed
    assert len(list(ET.parse(chart).getroot().iter("{http://www.w3.org/2000/svg}polyline"))) == 3

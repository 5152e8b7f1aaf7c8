"""`cuecard diff`, from the outside: what changed, why, and the exit codes of diff."""

import json
from pathlib import Path

import pytest

from .case_files import Case, parameters
from .running import Run, check_run, run_at_terminal, write


@pytest.mark.parametrize("case", parameters("diff.jsonl"))
def test_each_case(case: Case, run: Run) -> None:
    """The command prints what the case says, and exits as it says."""
    check_run(run, "diff", case)


def test_json_holds_everything(run: Run) -> None:
    """--json gives the place, the variables, both lengths and the unified diff."""
    write("t.md", "Hé\n{{ x }} {{ now }}\n")
    write("a.json", '{"x": "ü", "now": "13:05"}')
    write("b.json", '{"x": "ü", "now": "14:05:00"}')
    result = run("diff", "a.json", "b.json", "--template", "t.md", "--tokens", "estimate", "--json")
    data = json.loads(result.out)
    assert data.pop("unified").splitlines()[-2:] == ["-ü 13:05", "+ü 14:05:00"]
    assert data.pop("segment") == {
        "start": 5,
        "end": 13,
        "kind": "output",
        "template": "t.md",
        "span": {
            "start": 11,
            "end": 20,
            "line": 2,
            "column": 9,
            "end_line": 2,
            "end_column": 18,
        },
        "scope": "turn",
    }
    assert data == {
        "template": "t.md",
        "equal": False,
        "offset": 6,
        "byte_offset": 8,
        "line": 2,
        "variables": ["now"],
        "providers": [],
        "characters": [11, 14],
        "common": {"characters": 6, "tokens": 2},
        "lost": {"characters": 5, "tokens": 2},
        "counter": {"name": "estimate", "exact": False},
        "diagnostics": [],
    }


def test_colours_at_a_terminal_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal, what went is red and what came is green; values cannot steer it."""
    monkeypatch.chdir(tmp_path)
    write("t.md", "a\n{{ x }}\n-- {{ x }}\n")
    write("a.json", '{"x": "1"}')
    write("b.json", '{"x": "2\\u001b[2J"}')
    arguments = ("diff", "a.json", "b.json", "--template", "t.md")
    status, printed = run_at_terminal(*arguments)
    assert status == 1
    lines = printed.splitlines()
    assert "\x1b[1m--- t.md (before)\x1b[0m" in lines
    assert "\x1b[31m-1\x1b[0m" in lines
    assert "\x1b[31m--- 1\x1b[0m" in lines
    assert "\x1b[32m+2\N{SYMBOL FOR ESCAPE}[2J\x1b[0m" in lines
    assert "\x1b[2J" not in printed
    plain = run_at_terminal(*arguments, environment={"NO_COLOR": "1"})[1]
    assert "\x1b[3" not in plain

"""`cuecard render` before a turn, `explain --plan`, `notes` and `todos`, from the outside."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .case_files import Case, parameters
from .running import Run, check_run, write

PLAN = [
    {"content": "Read the issue", "status": "completed"},
    {"content": "Run the tests", "status": "in_progress", "active_form": "Running the tests"},
    {"content": "Publish"},
]
HEADER = "---\nname: argus\n---\n"
of_each_store = pytest.mark.parametrize("store", ["file:memory", "sqlite:agent.db"])


@pytest.fixture(autouse=True)
def no_default_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """No store but the one that a test names."""
    monkeypatch.delenv("CUECARD_STORE", raising=False)


def in_its_own_process(*arguments: str, environment: dict[str, str] | None = None) -> str:
    """What the command prints when it runs in a process of its own, in this folder."""
    done = subprocess.run(
        [sys.executable, "-m", "cuecard", *arguments],
        env={**os.environ, **(environment or {})},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("case", parameters("live_commands.jsonl"))
def test_each_case(case: Case, run: Run) -> None:
    """The command prints what the case says, and exits as it says."""
    check_run(run, case["command"], case)


@of_each_store
def test_a_list_is_set_shown_and_cleared(store: str, run: Run) -> None:
    """A list that a render sets is shown by `todos` and by the next render, until cleared."""
    write("agent.md", "{% for t in todos %}{{ t.display_text }};{% endfor %}\n")
    write("plan.json", json.dumps(PLAN))
    render = ("render", "agent.md", "--session", "s1", "--store", store)
    shown = "Read the issue;Running the tests;Publish;"
    assert run(*render, "--set-todo", "plan.json").out == shown
    assert run(*render).out == shown
    todos = ("--store", store, "--session")
    assert run("todos", "show", *todos, "s1").out.splitlines() == [
        "- [x] Read the issue",
        "- [~] Run the tests (active: Running the tests)",
        "- [ ] Publish",
    ]
    assert run("todos", "show", *todos, "s2").err == "no todo list\n"
    assert run("todos", "clear", *todos, "s1").status == 0
    assert run(*render).out == ""


@of_each_store
def test_notes_of_another_process_are_seen(store: str, run: Run) -> None:
    """What one process notes, another renders at its next turn; users and agents do not mix."""
    write("agent.md", HEADER + "{{ user_id }}: {{ user_notes }}; {{ user_profile }}\n")
    about = ("--store", store, "--user", "ann")
    render = ("render", "agent.md", "--store", store, "--user")
    run("notes", "append", "likes short answers", "--agent", "argus", *about)
    run("notes", "set", "a dentist", "--profile", *about)
    assert run(*render, "ann").out == "ann: likes short answers; a dentist\n"
    in_its_own_process("notes", "append", "works at night", "--agent", "argus", *about)
    noted = "ann: likes short answers\nworks at night; a dentist\n"
    assert run(*render, "ann").out == noted
    run("notes", "append", "other", "--agent", "io", *about)
    assert run(*render, "ann").out == noted
    run("notes", "clear", "--agent", "argus", *about)
    assert run(*render, "ann").out == "ann: ; a dentist\n"
    assert run(*render, "bob").out == "bob: ; \n"


def test_the_environment_names_a_store(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUECARD_STORE is the store of `notes` and `todos`; --store comes before it."""
    monkeypatch.setenv("CUECARD_STORE", "sqlite:a.db")
    run("notes", "set", "x", "--profile", "--user", "ann")
    assert run("notes", "show", "--profile", "--user", "ann").out == "x\n"
    other = run("notes", "show", "--profile", "--user", "ann", "--store", "file:b")
    assert (other.out, other.err) == ("", "no profile\n")


def test_notes_are_kept_to_the_letter(run: Run) -> None:
    """A text is shown as it was given, with a line break at its end; JSON has its bytes."""
    about = ("--store", "file:m", "--agent", "argus", "--user", "u")
    text = "  {{ not a template }}\n\tπ \U0001f600"
    run("notes", "set", "-", *about, stdin=text.encode())
    assert run("notes", "show", *about).out == text + "\n"
    assert json.loads(run("notes", "show", *about, "--json").out)["text"] == text
    write("t.md", HEADER + "[{{ user_notes }}]")
    assert run("render", "t.md", "--user", "u", "--store", "file:m").out == f"[{text.strip()}]"


def test_json_says_what_each_provider_did(run: Run) -> None:
    """--json has the providers with state and variables, the blocks and the front to cache."""
    write(
        "t.md",
        HEADER + "{{ agent_name }} {{ current_date }} {{ user_notes }}.{{ x }}\n",
    )
    result = run(
        *("render", "t.md", "--user", "ann", "--store", "sqlite:no/folder/x.db", "--json"),
        *("--now", "2026-11-29T12:00:00Z", "--zone", "UTC", "--no-entry-points"),
    )
    assert result.status == 0
    data: dict[str, Any] = json.loads(result.out)
    assert data["text"] == "argus 2026-11-29 .\n"
    assert (data["profile"], data["template"], data["characters"]) == ("live", "t.md", 19)
    states = {run["provider"]: (run["state"], run["variables"]) for run in data["providers"]}
    assert states == {
        "current_date": ("called", ["current_date"]),
        "agent_metadata": ("called", ["agent_name"]),
        "workspace_notes": ("failed", []),
        "agent_tools": ("skipped", []),
        "workspace": ("skipped", []),
        "todo_list": ("skipped", []),
    }
    assert all(run["seconds"] >= 0 for run in data["providers"])
    assert [(block["scope"], block["characters"]) for block in data["blocks"]] == [
        ("static", 6),
        ("day", 12),
        ("turn", 1),
    ]
    assert data["cacheable_prefix"]["characters"] == 18
    codes = [finding["code"] for finding in data["diagnostics"]]
    assert "P301" in codes
    assert ("P201", 4) in {(finding["code"], finding["line"]) for finding in data["diagnostics"]}
    assert len(data["warnings"]) == len(result.err.splitlines()) == len(codes)


def test_the_machine_s_zone_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --zone, a time without a zone is the machine's, and so is the date."""
    monkeypatch.chdir(tmp_path)
    write("t.md", "{{ current_date }} {{ current_time }} {{ current_datetime }}")
    now = ("render", "t.md", "--now")
    tokyo = {"TZ": "Asia/Tokyo"}
    assert in_its_own_process(*now, "2026-11-29T00:30", environment=tokyo) == (
        "2026-11-29 00:30 2026-11-28T15:30:00Z"
    )
    assert in_its_own_process(*now, "2026-11-28T15:30:00.5Z", environment=tokyo) == (
        "2026-11-29 00:30 2026-11-28T15:30:00.500Z"
    )


def test_a_list_is_not_replaced_by_a_render_that_cannot_start(run: Run) -> None:
    """A template or an option that cannot be read leaves the list as it was."""
    about = ("--session", "s1", "--store", "file:m")
    write("plan.json", json.dumps(PLAN))
    write("t.md", "x")
    run("todos", "set", "-", *about, stdin=b'[{"content": "old"}]')
    for wrong in (["none.md"], ["t.md", "--now", "never"], ["t.md", "--vars", "none.json"]):
        assert run("render", *wrong, *about, "--set-todo", "plan.json").status != 0
    assert run("todos", "show", *about).out == "- [ ] old\n"


@pytest.mark.parametrize("command", ["notes", "todos"])
def test_help_shows_examples(command: str, run: Run) -> None:
    """Help exits with 0 and has examples; each action has help of its own."""
    shown = run(command, "--help")
    assert shown.status == 0
    assert f"examples:\n  cuecard {command} " in shown.out
    assert "--store URL" in run(command, "show", "--help").out


def test_a_plain_render_loads_no_store(tmp_path: Path) -> None:
    """A render without these options does not pay for providers and stores."""
    code = (
        "import sys\nfrom cuecard.cli import main\n"
        "try:\n    main(['render', 't.md', '--output', 'o'])\nexcept SystemExit as end:\n"
        "    assert not end.code\n"
        "print([n for n in sys.modules if n.startswith(('cuecard.stores', 'cuecard.renderer'))])"
    )
    (tmp_path / "t.md").write_text("{{ 1 + 1 }}")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")

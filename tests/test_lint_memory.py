"""Memory of earlier runs: what has not changed is recalled, and nothing that is outdated."""

import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cuecard
from cuecard.lint import Checker, Finding, Memory, Report, Settings, checking, read_target

AGENT = "---\nname: {name}\ndescription: d\n---\n{body}\n"
CACHE = "cache"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two agents, of which one has a finding."""
    monkeypatch.chdir(tmp_path)
    Path("a.md").write_text(AGENT.format(name="a", body="{{ curent_date }}"))
    Path("b.md").write_text(AGENT.format(name="b", body="Hello"))
    return tmp_path


def check(settings: Settings | None = None) -> list[Report]:
    """A run that remembers."""
    settings = settings or Settings(select=("P1", "P2", "P4"))
    memory = Memory(CACHE, settings)
    reports = Checker(settings, memory).check(["."])
    memory.save()
    return reports


def recalled(reports: list[Report]) -> list[str]:
    """The files that were not read again."""
    return [report.path for report in reports if report.remembered]


def found(reports: list[Report]) -> list[Finding]:
    return [finding for report in reports for finding in report.findings]


def test_a_second_run_reads_no_file_again() -> None:
    """It finds the same, fixes and places included."""
    first = check()
    assert recalled(first) == []
    second = check()
    assert recalled(second) == ["a.md", "b.md"]
    assert found(second) == found(first)
    (finding,) = found(second)
    assert finding.fix is not None
    assert finding.fix.edits[0].text == "current_date"


def change_the_file() -> None:
    Path("a.md").write_text(AGENT.format(name="a", body="{{ current_date }}"))


def rename_the_file() -> None:
    os.rename("a.md", "c.md")


@pytest.mark.parametrize("change", [change_the_file, rename_the_file])
def test_what_has_changed_is_read_again(change: Callable[[], None]) -> None:
    """Only that file."""
    check()
    change()
    assert recalled(check()) == ["b.md"]


@pytest.mark.parametrize(
    "changed",
    [
        {"ignore": ("P201",)},
        {"variables": {"curent_date": "day"}},
        {"limits": cuecard.Limits(source=10)},
        {"path": "elsewhere/cuecard.toml"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_other_settings_recall_nothing(changed: dict[str, Any]) -> None:
    """What was found under some settings says nothing of others; both are remembered."""
    settings = Settings(select=("P1", "P2", "P4"))
    check(settings)
    other = replace(settings, **changed)
    assert recalled(check(other)) == []
    assert recalled(check(other)) == ["a.md", "b.md"]
    assert recalled(check(settings)) == ["a.md", "b.md"]


def test_another_version_recalls_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """New rules find something else."""
    check()
    monkeypatch.setattr(cuecard, "__version__", "99")
    assert recalled(check()) == []


@pytest.mark.parametrize("change", ["changed", "added", "removed"])
def test_changed_partials_recall_nothing(change: str) -> None:
    """A template is also what it includes."""
    Path("parts").mkdir()
    Path("parts/x.j2").write_text("x")
    Path("parts/y.j2").write_text("y")
    settings = Settings(partials="parts", select=("P1", "P2"))
    check(settings)
    assert recalled(check(settings)) == ["a.md", "b.md", "parts/x.j2", "parts/y.j2"]
    if change == "removed":
        Path("parts/x.j2").unlink()
    else:
        Path("parts/x.j2" if change == "changed" else "parts/z.j2").write_text("{{ new }}")
    assert recalled(check(settings)) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\x00",
        b"{",
        b"[]",
        b'{"a": 1}',
        b'{"a": [[["m", [1, 2], null]]]}',
        b"[" * 100_000,
    ],
)
def test_a_broken_file_is_ignored(content: bytes) -> None:
    """And written anew."""
    first = check()
    (file,) = Path(CACHE).glob("*.json")
    file.write_bytes(content)
    second = check()
    assert recalled(second) == []
    assert found(second) == found(first)
    assert recalled(check()) == ["a.md", "b.md"]


def test_one_entry_of_a_wrong_type_spoils_the_file() -> None:
    """Nothing is recalled that is not as it was written."""
    check()
    (file,) = Path(CACHE).glob("*.json")
    entries = json.loads(file.read_bytes())
    next(iter(entries.values()))[0] = [["message", "no span"]]
    file.write_text(json.dumps(entries))
    assert recalled(check()) == []


@pytest.mark.parametrize("what", ["a file in its place", "a folder in its place"])
def test_a_folder_that_cannot_be_written_is_no_error(what: str) -> None:
    """The run goes on without memory."""
    if what == "a file in its place":
        Path(CACHE).write_text("")
    else:
        check()
        (file,) = Path(CACHE).glob("*.json")
        file.unlink()
        file.mkdir()
    assert len(found(check())) == 1
    assert recalled(check()) == []
    assert [f.name for f in Path().rglob("*.new")] == []


def test_a_run_on_one_file_keeps_what_is_known_of_others() -> None:
    """An editor that checks one file does not make the next whole run slow."""
    check()
    settings = Settings(select=("P1", "P2", "P4"))
    change_the_file()
    memory = Memory(CACHE, settings)
    Checker(settings, memory).check(["a.md"])
    memory.save()
    assert recalled(check()) == ["a.md", "b.md"]


def test_only_the_last_settings_are_kept() -> None:
    """Old files go, so that the folder does not grow for ever."""
    for number in range(10):
        check(Settings(select=("P2",), tools=(f"tool{number}",)))
    assert len(list(Path(CACHE).glob("*.json"))) <= 5
    assert recalled(check(Settings(select=("P2",), tools=("tool9",)))) == ["a.md", "b.md"]


def test_git_ignores_the_folder() -> None:
    """Nobody has to say so."""
    check()
    assert (Path(CACHE) / ".gitignore").read_text() == "*\n"


def test_runs_at_the_same_time_do_no_harm() -> None:
    """Each finds everything; afterwards the memory holds a whole run."""
    for number in range(30):
        Path(f"c{number}.md").write_text(AGENT.format(name=f"c{number}", body="{{ curent_date }}"))
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda: counts.append(len(found(check())))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [31] * 6
    assert len(recalled(check())) == 32


def test_a_file_that_changes_while_it_is_checked_is_not_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the old text's findings would stand for the new text, or the other way round."""

    def edited(target: Any, *rest: Any) -> Any:
        document = read_target(target, *rest)
        if target.path == "a.md":
            Path("a.md").write_text(AGENT.format(name="a", body="{{ current_datee }} and more"))
        return document

    with monkeypatch.context() as patched:
        patched.setattr(checking, "read_target", edited)
        check()
    assert recalled(check()) == ["b.md"]


def test_a_recalled_file_still_takes_its_name() -> None:
    """A new file with the name of one that was not read again is told (P415)."""
    check()
    Path("z.md").write_text(AGENT.format(name="b", body="Other"))
    reports = check()
    assert recalled(reports) == ["a.md", "b.md"]
    assert [(f.code, f.path) for f in found(reports)] == [("P201", "a.md"), ("P415", "z.md")]
    assert [(f.code, f.path) for f in found(check())] == [("P201", "a.md"), ("P415", "z.md")]
    Path("b.md").unlink()
    assert [(f.code, f.path) for f in found(check())] == [("P201", "a.md")]

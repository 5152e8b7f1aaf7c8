"""What the command says of itself: help, the reference made of it, completions, `doctor`."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from cuecard.cli.commands import COMMANDS
from cuecard.cli.completion_command import SHELLS

from .running import Run, run_at_terminal, write

DOCS = Path(__file__).parent.parent / "docs"


def generator() -> Any:
    spec = importlib.util.spec_from_file_location(
        "generate_commands", DOCS / "generate_commands.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# help ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_help_reads_well_at_80_columns(
    run: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every help fits the narrowest usual terminal, says what it does, and has an example."""
    monkeypatch.setenv("COLUMNS", "80")
    result = run(name, "--help")
    assert result.status == 0
    assert [line for line in result.out.splitlines() if len(line) > 80] == []
    assert f"\nexamples:\n  cuecard {name}" in result.out or "| cuecard " in result.out


def test_the_reference_and_the_completions_are_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make format` writes them; whoever changes an option and forgets it hears of it here."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    for path, text in generator().written().items():
        assert path.read_text(encoding="utf-8") == text, path.name


# completion ----------------------------------------------------------------------------------


def completed(*words: str) -> list[str]:
    """What bash offers for the last word of a line."""
    script = DOCS.parent / "src" / "cuecard" / "cli" / "completions" / "cuecard.bash"
    line = " ".join(f"'{word}'" for word in words)
    source = (
        f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
        "_shtab_cuecard; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(["bash", "-c", source], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("cuecard", "che"), ["check"]),
        (("cuecard", "render", "--prof"), ["--profile"]),
        (("cuecard", "render", "--profile", ""), ["strict", "operator", "markdown", "live"]),
        (("cuecard", "notes", "app"), ["append"]),
        (("cuecard", "completion", "z"), ["zsh"]),
    ],
)
def test_bash_completes(words: tuple[str, ...], offered: list[str]) -> None:
    """Subcommands, options, the values of an option, and the actions of a subcommand."""
    assert completed(*words) == offered


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_prints_the_script_of_a_shell(run: Run, shell: str) -> None:
    """The script names every subcommand, and is what the package ships."""
    result = run("completion", shell)
    assert (result.status, result.err) == (0, "")
    assert all(name in result.out for name in COMMANDS)


def test_completion_knows_its_shells(run: Run) -> None:
    """Another shell is wrong usage."""
    assert run("completion", "tcsh").status == 2


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shutil.which(shell)])
def test_the_script_is_one_of_its_shell(shell: str) -> None:
    """Each shell that is installed reads its script without a complaint."""
    path = DOCS.parent / "src" / "cuecard" / "cli" / "completions" / f"cuecard.{shell}"
    done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# doctor --------------------------------------------------------------------------------------


def state(data: dict[str, Any], group: str, name: str) -> str:
    return next(str(each["state"]) for each in data[group] if each["name"] == name)


def test_doctor_says_what_is_installed(run: Run) -> None:
    """Versions are those of the packages that are really there, and nothing is wrong."""
    result = run("doctor", "--json")
    data = json.loads(result.out)
    assert (result.status, data["problems"]) == (0, [])
    assert state(data, "versions", "minijinja") == metadata.version("minijinja")
    assert f"fastapi {metadata.version('fastapi')}" in state(data, "extras", "serve")
    assert "all" not in {each["name"] for each in data["extras"]}


def test_doctor_reads_the_store(run: Run) -> None:
    """A store that can be read is named; one that cannot is a problem without its address."""
    result = run("doctor", "--store", "sqlite:agent.db", "--json")
    assert state(json.loads(result.out), "store", "SQLiteStore") == "can be read"
    broken = run("doctor", "--store", "postgresql://u:sesame@127.0.0.1:1/none")
    assert broken.status == 1
    assert "P601" in broken.err
    assert "sesame" not in broken.out + broken.err


def test_doctor_reads_the_settings(run: Run) -> None:
    """Settings that cannot be read are a problem, with their place."""
    write("cuecard.toml", "select = 7\n")
    result = run("doctor")
    assert result.status == 1
    assert "cuecard.toml" in result.err
    assert "P810" in result.err


def test_doctor_finds_the_providers_of_packages(tmp_path: Path) -> None:
    """A provider that loads is listed with what it gives; one that does not is a problem."""
    package = tmp_path / "cuecard_tide-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: cuecard-tide\nVersion: 1.0\n")
    points = "[cuecard.providers]\ntide = cuecard_tide:tide\nmoon = cuecard_tide:moon\n"
    (package / "entry_points.txt").write_text(points)
    (tmp_path / "cuecard_tide.py").write_text(
        "import cuecard\n@cuecard.provider('tide')\ndef tide(request): return {'tide': 'low'}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "cuecard", "doctor", "--json"],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    data = json.loads(done.stdout)
    assert done.returncode == 1
    assert state(data, "providers", "tide") == "tide"
    assert [problem["code"] for problem in data["problems"]] == ["P305"]


def test_doctor_sees_a_package_that_is_too_old(tmp_path: Path) -> None:
    """A version below what an extra needs is a problem, with what to install."""
    package = tmp_path / "fastapi-0.1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: fastapi\nVersion: 0.1.0\n")
    done = subprocess.run(
        [sys.executable, "-m", "cuecard", "doctor"],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "serve: P807 the extra needs fastapi>=" in done.stderr
    assert "pip install 'cuecard[serve]'" in done.stderr


def test_help_at_a_narrow_terminal() -> None:
    """Paragraphs follow the width of the terminal; examples stay as they are."""
    status, printed = run_at_terminal("serve", "--help", columns=60)
    assert status == 0
    prose = printed.split("examples:")[0]
    assert max(len(line) for line in prose.splitlines()) <= 60

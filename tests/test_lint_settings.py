"""Settings of the checks: every key, where they are found, and what is wrong with them."""

from pathlib import Path
from typing import Any

import pytest

import cuecard
from cuecard.lint import Settings, find_settings, lint, read_settings

from .case_files import Case, parameters

ALL = """
select = ["P1", "p201"]
ignore = ["P110"]
exclude = ["vendor/", "*.draft.md"]
tools = ["read", "grep"]
partials = "parts"
only-declared = true
entry-points = false

[per-file-ignores]
"tests/*.md" = ["P2"]

[profiles]
"tasks/*" = "operator"

[variables]
weather = "day"

[providers]
vcs = ["branch"]
flags.beta = "session"

[limits]
source = 2_000
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, with a folder of partials."""
    monkeypatch.chdir(tmp_path)
    Path("parts").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", ["cuecard.toml", "pyproject.toml"])
def test_every_key_is_read(name: str, folder: Path) -> None:
    """Both files hold the same keys, one of them in a table."""
    text = ALL
    if name == "pyproject.toml":
        text = "[tool.cuecard]" + ALL.replace("\n[", "\n[tool.cuecard.")
    Path(name).write_text(text)
    assert find_settings() == Settings(
        select=("P1", "P201"),
        ignore=("P110",),
        per_file_ignores={"tests/*.md": ("P2",)},
        exclude=("vendor/", "*.draft.md"),
        profiles={"tasks/*": "operator"},
        partials=str(folder / "parts"),
        variables={"weather": "day"},
        only_declared=True,
        providers={"vcs": {"branch": "turn"}, "flags": {"beta": "session"}},
        entry_points=False,
        tools=("read", "grep"),
        limits=cuecard.Limits(source=2_000),
        path=str(folder / name),
    )


def test_the_nearest_counts(folder: Path) -> None:
    """A `pyproject.toml` without the table is passed over; `cuecard.toml` goes first."""
    Path("cuecard.toml").write_text('select = ["P1"]')
    Path("pyproject.toml").write_text('[tool.cuecard]\nselect = ["P2"]')
    below = folder / "below" / "deep"
    below.mkdir(parents=True)
    (below / "pyproject.toml").write_text("[project]\nname = 'x'")
    assert find_settings(below).select == ("P1",)
    Path("cuecard.toml").unlink()
    assert find_settings(below).select == ("P2",)
    Path("pyproject.toml").unlink()
    assert find_settings(below).select == ()


@pytest.mark.parametrize("case", parameters("lint_settings.jsonl"))
def test_mistakes_have_a_place(case: Case) -> None:
    """What cannot be is refused (P810) with its line, and a hint where one is near."""
    name = case.get("file", "cuecard.toml")
    Path(name).write_text(case["text"], encoding="utf-8")
    with pytest.raises(cuecard.PromptError) as raised:
        read_settings(name)
    error = raised.value
    place = (error.span.line, error.span.column) if error.span else None
    assert (error.code, place) == ("P810", tuple(case["place"]) if case["place"] else None)
    assert case["says"] in error.message
    assert case.get("hint", "") in (error.hint or "")


def test_a_file_that_is_no_text() -> None:
    """It is told like any other file."""
    Path("cuecard.toml").write_bytes(b"\xff")
    with pytest.raises(cuecard.PromptError) as raised:
        find_settings()
    assert raised.value.code == "P802"


FILES = {
    "a.md": "---\nname: a\ndescription: d\n---\n{{ curent_date }}\n",
    "tests/b.md": "---\nname: b\ndescription: d\n---\n{{ curent_date }}\n",
    "tasks/c.md": "---\nname: c\ndescription: d\n---\n{{ directve }}\n",
    "d.j2": "{% include 'x.md' %}",
    "parts/x.md": "{{ curent_date }}",
    "e.md": "---\nname: e\ndescription: d\n---\n{{ weather }} {{ branch }}\n",
}


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({}, ["P107 d.j2", "P201 a.md", "P201 tests/b.md"]),
        ({"exclude": ("tests",)}, ["P107 d.j2", "P201 a.md"]),
        ({"exclude": ("tests/*", "a.*")}, ["P107 d.j2"]),
        ({"per_file_ignores": {"tests/*.md": ("P2",)}}, ["P107 d.j2", "P201 a.md"]),
        ({"per_file_ignores": {"*.md": ("P",)}}, ["P107 d.j2"]),
        ({"partials": "parts"}, ["P201 a.md", "P201 tests/b.md"]),
        (
            {"profiles": {"tasks/*": "operator"}, "ignore": ("P107",)},
            ["P201 a.md", "P201 tasks/c.md", "P201 tests/b.md"],
        ),
        (
            {"only_declared": True, "select": ("P201",)},
            ["P201 a.md", "P201 e.md", "P201 e.md", "P201 tasks/c.md", "P201 tests/b.md"],
        ),
        (
            {
                "only_declared": True,
                "select": ("P201",),
                "variables": {"weather": "day", "curent_date": "turn", "directve": "turn"},
                "providers": {"vcs": {"branch": "turn"}},
            },
            [],
        ),
        (
            {"limits": cuecard.Limits(source=10), "select": ("P110",)},
            ["P110 a.md", "P110 d.j2", "P110 e.md", "P110 tasks/c.md", "P110 tests/b.md"],
        ),
    ],
)
def test_what_each_key_does(settings: dict[str, Any], found: list[str]) -> None:
    """Which files are checked, as what, and which findings are told."""
    for name, text in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    given = Settings(**{"select": ("P1", "P2"), **settings})
    assert sorted(f"{f.code} {f.template}" for f in lint(".", settings=given)) == found

"""Prompts that are broken on purpose: each gives one finding, whose code is its name.

A prompt is a file of `tests/broken_prompts/`, or a folder with what has to be around it.
"""

from pathlib import Path

import pytest

from cuecard.errors import CODES
from cuecard.lint import all_rules

from .running import Run

FOLDER = Path(__file__).parent / "broken_prompts"
PROMPTS = sorted(path for path in FOLDER.iterdir() if path.name.startswith("P"))


def settings_of(prompt: Path) -> Path:
    """The settings of a folder's own, else those of all."""
    own = prompt / "cuecard.toml"
    return own if own.is_file() else FOLDER / "cuecard.toml"


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda path: path.stem)
def test_each_gives_its_finding(prompt: Path, run: Run) -> None:
    """One finding and no other, at a place, with the line that it stands in and a remedy."""
    arguments = ("check", str(prompt), "--config", str(settings_of(prompt)), "--no-cache")
    result = run(*arguments, "--format", "concise")
    assert result.status == 1
    (line,) = result.out.splitlines()
    place, _, message = line.removeprefix(str(FOLDER)).partition(f": {prompt.stem} ")
    assert message
    assert all(part.isdigit() for part in place.split(":")[1:])
    assert place.count(":") == 2
    assert "\n  hint: " in run(*arguments).out


def test_every_rule_has_one() -> None:
    """And every other code that a check may give."""
    codes = {code for rule in all_rules() for code in rule.codes}
    assert {prompt.stem for prompt in PROMPTS} == codes | {"P802", "P810"}
    assert codes <= CODES.keys()

"""Cases: files of one JSON object a line in `tests/cases/`, read as parameters of tests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cuecard

Case = dict[str, Any]

FOLDER = Path(__file__).parent / "cases"
PROFILES = {
    profile.name: profile
    for profile in (cuecard.STRICT, cuecard.OPERATOR, cuecard.MARKDOWN, cuecard.LIVE)
}


def read_cases(name: str) -> list[Case]:
    """The cases of a file."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def parameters(name: str, choose: Callable[[Case], bool] = lambda case: True) -> list[Any]:
    """The cases of a file that are chosen, named by their `id`, else by their number."""
    return [
        pytest.param(case, id=case.get("id", str(number)))
        for number, case in enumerate(read_cases(name), 1)
        if choose(case)
    ]


def profile_of(case: Case) -> cuecard.Profile:
    """The profile that a case names; STRICT is the baseline."""
    return PROFILES[case.get("profile", "strict")]


def check_error(error: cuecard.PromptError, case: Case) -> None:
    """Code, place, words of the message (`says`), names and hint of an error are the case's.

    A hint is checked where the case has one; `says` is a text or several.
    """
    place = (error.span.line, error.span.column) if error.span else (None, None)
    assert (error.code, *place) == (case["code"], case["line"], case["column"]), error.report()
    says = case.get("says", [])
    for words in [says] if isinstance(says, str) else says:
        assert words in error.message
    if "variables" in case:
        assert isinstance(error, cuecard.UndefinedVariableError), error.report()
        assert list(error.variables) == case["variables"]
    if "hint" in case:
        assert case["hint"] in (error.hint or ""), error.report()

"""The catalog on cuecard: nothing let through, nothing lost, and every refusal as it should be.

The other engines are tried by `make hostile` only. There the bounds are a second and 512 MB;
here a busy machine has more time.
"""

import pytest

from .attacks import all_attacks
from .judging import faults
from .runner import run

ATTACKS = {attack.name: attack for attack in all_attacks()}
GROUPS = sorted({attack.group for attack in ATTACKS.values()})


def test_catalog_is_complete() -> None:
    """Every attack has a name of its own, and every group of the plan is there."""
    assert len(ATTACKS) == len(all_attacks()) >= 250
    assert set(GROUPS) >= {
        *("attributes", "disclosure", "formats", "frames", "headers", "mutation", "objects"),
        *("parser", "shape", "skills", "text", "tokens", "work"),
    }


@pytest.mark.parametrize("group", GROUPS)
def test_a_group(group: str) -> None:
    """Each attack ends with what its line says, in a process that lives."""
    outcomes = list(run("cuecard", [group], cpu=6, quick=True))
    names = {name for name, attack in ATTACKS.items() if attack.group == group}
    assert {outcome.attack for outcome in outcomes} == names
    wrong = {o.attack: found for o in outcomes if (found := faults(ATTACKS[o.attack], o))}
    assert wrong == {}


def test_observers_notice() -> None:
    """What is watched for is seen: the bare engine lets through what these say."""
    seen = {
        outcome.attack: (outcome.verdict, outcome.marks)
        for outcome in run(
            "minijinja",
            (
                *("frames/generator-runs-code", "objects/service-attribute"),
                *("mutation/list-append", "disclosure/error-add", "formats/width"),
                *("objects/open-file", "attributes/dunder"),
            ),
        )
    }
    assert seen == {
        "frames/generator-runs-code": ("let through", ["code ran"]),
        "objects/service-attribute": ("let through", ["a secret came out"]),
        "mutation/list-append": ("let through", ["the caller's data changed"]),
        "disclosure/error-add": ("let through", ["a value stood in an error or a log"]),
        "formats/width": ("lost", []),
        "objects/open-file": ("let through", ["a secret came out"]),
        "attributes/dunder": ("text", []),
    }

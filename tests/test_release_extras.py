"""Each extra is enough for what it is for: in an environment that has nothing else, and with all.

The environments are put together from what is installed (`tests/release/environments.py`);
`make release` installs each for real.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .release import environments
from .release.archives import EXTRAS
from .release.matrix import OWN_PROCESS, together
from .store_backends import postgres_address


@pytest.mark.parametrize("extra", [extra for extra in EXTRAS if extra != "all"])
def test_extra_alone(extra: str, tmp_path: Path) -> None:
    """With what an extra declares, and no more, what it is for works."""
    folder = environments.with_extra(extra, tmp_path)
    given = {"POSTGRES": postgres_address()} if extra == "postgres" else {}
    environments.run_programs(folder, extra, **given)


def test_all_extras_together(tmp_path: Path) -> None:
    """All of it works in one process: no framework is in the way of another.

    A cluster of Ray needs a process of its own; `make release` starts one here too.
    """
    assert OWN_PROCESS not in together()
    folder = environments.with_extra("all", tmp_path)
    environments.run_programs(folder, "core", *together())

"""The pytest plugin: fixtures that render prompts, snapshots of them, and checks of agent files.

pytest loads this module wherever cuecard is installed, so it imports nothing of cuecard before
a test asks for it.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .providers import Provider
    from .renderer import PromptRenderer
    from .testing import FixedClock, MemoryStore, RenderPrompt

__all__ = [
    "cuecard_clock",
    "cuecard_providers",
    "cuecard_renderer",
    "cuecard_store",
    "prompt_snapshot",
    "pytest_configure",
    "pytest_runtest_call",
    "render_prompt",
]

_MARKER = "cuecard_agent"


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(*paths, ignore=()): the test fails when `cuecard check` finds something in "
        "these agent files, which are relative to the folder of the test",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check the agent files that the test's marks name."""
    marks = list(item.iter_markers(_MARKER))
    if not marks:
        return
    from .testing.agent_files import findings_in

    for mark in marks:
        if not mark.args or mark.kwargs.keys() - {"ignore"}:
            pytest.fail(f"{_MARKER} takes files, and `ignore`", pytrace=False)
        ignore = mark.kwargs.get("ignore", ())
        found = findings_in(
            [_find(item, path) for path in mark.args],
            (ignore,) if isinstance(ignore, str) else tuple(ignore),
        )
        if found:
            pytest.fail(found, pytrace=False)


def _find(item: pytest.Item, path: str | os.PathLike[str]) -> Path:
    """A file by its name: from the folder of the test, or else from pytest's root folder."""
    beside = item.path.parent / path
    from_root = item.config.rootpath / path
    return from_root if from_root.exists() and not beside.exists() else beside


# fixtures ----------------------------------------------------------------------------------------


@pytest.fixture
def cuecard_clock() -> FixedClock:
    """The clock of `cuecard_renderer`, which stands: `now` sets it, `forward(hours=1)` moves it."""
    from .testing import FixedClock

    return FixedClock()


@pytest.fixture
def cuecard_store() -> Iterator[MemoryStore]:
    """The store of `cuecard_renderer`, in memory: notes, profiles and todo lists."""
    from .testing import MemoryStore

    with MemoryStore() as store:
        yield store


@pytest.fixture
def cuecard_providers() -> tuple[Provider, ...]:
    """The providers of `cuecard_renderer` besides the built-in ones: none. Override it."""
    return ()


@pytest.fixture
def cuecard_renderer(
    cuecard_clock: FixedClock, cuecard_store: MemoryStore, cuecard_providers: Any
) -> PromptRenderer:
    """A `PromptRenderer` that gives the same prompt on every machine.

    It knows no providers of installed packages, and its zone is UTC. Absent names are empty, as
    in a running agent, but a template or a provider that fails raises.
    """
    import datetime
    from dataclasses import replace

    from .profile import LIVE
    from .renderer import PromptRenderer

    return PromptRenderer(
        cuecard_providers,
        entry_points=False,
        store=cuecard_store,
        profile=replace(LIVE, fallback=False),
        clock=cuecard_clock,
        zone=datetime.UTC,
    )


@pytest.fixture
def render_prompt(request: pytest.FixtureRequest, cuecard_renderer: PromptRenderer) -> RenderPrompt:
    """Renders: `render_prompt("agent.md", session, auth, **variables)` gives a `Prompt`."""
    from .testing import RenderPrompt

    return RenderPrompt(cuecard_renderer, lambda path: _find(request.node, path))


@pytest.fixture
def prompt_snapshot(request: pytest.FixtureRequest) -> Any:
    """A snapshot of syrupy for prompts: `assert prompt == prompt_snapshot`."""
    if importlib.util.find_spec("syrupy") is None:
        pytest.fail(_why_not("is not installed"), pytrace=False)
    if not request.config.pluginmanager.has_plugin("syrupy"):
        pytest.fail(_why_not("is switched off"), pytrace=False)
    from .testing.snapshots import PromptSnapshotExtension

    snapshot = request.getfixturevalue("snapshot")
    return snapshot.use_extension(PromptSnapshotExtension)


def _why_not(state: str) -> str:
    return (
        f"P807 `prompt_snapshot` needs the pytest plugin `syrupy`, which {state} "
        "(pip install 'cuecard[testing]')"
    )

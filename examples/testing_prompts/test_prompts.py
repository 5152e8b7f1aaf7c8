"""Tests of an agent's prompt: its file, its text, and the front that a provider caches."""

import sys
from pathlib import Path

import pytest

import cuecard
from cuecard.testing import FixedClock, MemoryStore, RenderPrompt, assert_cache_prefix

AGENT = "agent.md"


@pytest.mark.cuecard_agent(AGENT)
def test_agent_file() -> None:
    """`cuecard check` finds nothing in the file."""


def test_prompt(
    render_prompt: RenderPrompt, cuecard_store: MemoryStore, prompt_snapshot: object
) -> None:
    """The prompt is the one that was reviewed."""
    cuecard_store.append_note("spoke", "ann", "Rides a tandem.")
    assert render_prompt(AGENT, "s1", "ann") == prompt_snapshot


def test_front_is_cached(render_prompt: RenderPrompt, cuecard_clock: FixedClock) -> None:
    """An hour later, all but the time is the same."""
    before = render_prompt(AGENT, "s1", "ann")
    cuecard_clock.forward(hours=1)
    assert_cache_prefix(before, render_prompt(AGENT, "s1", "ann"), at_least=0.75)


def test_unknown_user(render_prompt: RenderPrompt) -> None:
    """Without notes there is no heading for them."""
    prompt: cuecard.Prompt = render_prompt(AGENT, "s1", "ben")
    assert "What you noted" not in prompt.text


if __name__ == "__main__":
    folder = str(Path(__file__).parent)
    alone = ("-c", "/dev/null", "--rootdir", folder, "--confcutdir", folder)
    quiet = ("-qq", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
    sys.exit(pytest.main([*quiet, *alone, __file__]))

"""Scopes of the caller's variables: what is bound, for how long, and where the front ends."""

from __future__ import annotations

from typing import Any

import pytest

from cuecard import AgentDefinition, PromptRenderer, Scope, parse_agent

TOOLS = [{"name": "find"}, {"name": "mend"}]
TEMPLATE = "{% for tool in tools %}{{ tool.name }} {% endfor %}for {{ who }} at {{ now }}"
HELD = {"tools": Scope.STATIC, "who": Scope.SESSION}


def renderer() -> PromptRenderer:
    return PromptRenderer(entry_points=False)


def turn(made: PromptRenderer, now: str, tools: Any = TOOLS, **more: Any) -> Any:
    given = {"tools": tools, "who": "ann", "now": now}
    return made.prompt(more.get("agent", TEMPLATE), "s", None, given, scopes=HELD)


def test_front_is_what_holds() -> None:
    """The blocks follow the scopes; without them all of it is of this turn."""
    made = renderer()
    prompts = [turn(made, now) for now in ("1", "2", "3")]
    # The third turn is the first that finds the values bound.
    assert [prompt.text for prompt in prompts] == [f"find mend for ann at {n}" for n in "123"]
    for prompt in prompts:
        assert [(b.scope.name, b.text) for b in prompt.blocks()][:2] == [
            ("STATIC", "find mend for "),
            ("SESSION", "ann at "),
        ]
    bare = made.prompt(TEMPLATE, "s", None, {"tools": TOOLS, "who": "ann", "now": "4"})
    assert [block.scope for block in bare.blocks()] == [Scope.TURN]


@pytest.mark.parametrize("changed", ["same list", "another list", "provider's"])
def test_change_is_seen(changed: str) -> None:
    """A value that is another one takes its place at once, however often it was bound."""
    made = renderer()
    for now in "123":
        turn(made, now)
    other = {"same list": TOOLS, "another list": [{"name": "ask"}], "provider's": None}[changed]
    if changed == "provider's":
        text = made.render(TEMPLATE, "s", None, {"who": "ann", "now": "4"}, scopes=HELD)
        assert text == "for ann at 4"
        return
    names = " ".join(tool["name"] for tool in other or ())
    assert [turn(made, now, other).text for now in "45"] == [
        f"{names} for ann at {n}" for n in "45"
    ]
    assert turn(made, "6").text == "find mend for ann at 6"


def test_unread_scopes_are_silent() -> None:
    """A caller that always gives its tools is not warned by templates that read none."""
    prompt = renderer().prompt("at {{ now }}", "s", None, {"tools": TOOLS, "now": "1"}, scopes=HELD)
    assert (prompt.text, prompt.diagnostics) == ("at 1", ())


def test_declared_inputs_hold_too() -> None:
    """An input of the agent's header may be given with a scope."""
    agent: AgentDefinition = parse_agent(
        "---\nname: a\ninputs:\n  who:\n    type: string\n  now:\n    type: string\n---\n"
        + TEMPLATE
    )
    made = renderer()
    prompts = [turn(made, now, agent=agent) for now in "12"]
    assert [prompt.text for prompt in prompts] == [f"find mend for ann at {n}" for n in "12"]
    assert prompts[1].cacheable_prefix.characters == len("find mend for ann at ")
    assert prompts[1].diagnostics == ()


async def _ask(made: PromptRenderer, now: str) -> str:
    given = {"tools": TOOLS, "who": "ann", "now": now}
    prompt = await made.aprompt(TEMPLATE, "s", None, given, scopes=HELD)
    text = await made.arender(TEMPLATE, "s", None, given, scopes=HELD)
    assert prompt.cacheable_prefix.characters == len("find mend for ann at ")
    return text


def test_asynchronous_renders_hold_too() -> None:
    """The asynchronous renders take the same."""
    import asyncio

    made = renderer()
    assert [asyncio.run(_ask(made, now)) for now in "12"] == [
        "find mend for ann at 1",
        "find mend for ann at 2",
    ]

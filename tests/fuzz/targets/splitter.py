"""The splitter: joined segments, and bound templates over turns, give the render of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cuecard
from tests.generated_templates import CONTEXT

from ..inputs import PROFILES, FuzzedDataProvider, outcome, template_of, template_seeds

NAMES = sorted(CONTEXT)
OTHERS: dict[str, Any] = {**CONTEXT, "a": "B", "n": True, "xs": [], "d": {"k": None}, "b": None}


def seeds() -> Iterator[bytes]:
    for number, text in enumerate(template_seeds()):
        yield text + bytes((0, number % 4, number % 256, 0))
    for number in range(256):
        yield bytes((number, (number * 7) % 256, number // 2, 1, number % 4, 85, 0))


def check(data: bytes) -> None:
    given = FuzzedDataProvider(data)
    absent = given.ConsumeIntInRange(0, 255)
    bound = given.ConsumeIntInRange(0, 255)
    profile = PROFILES[given.ConsumeIntInRange(0, 255) % 4]
    source = template_of(given)
    kind, template = outcome(lambda: cuecard.Template(source, profile=profile))
    if kind == "error":
        return
    present = {name for number, name in enumerate(NAMES) if not absent >> number & 1}
    stable = {name: CONTEXT[name] for n, name in enumerate(NAMES) if bound >> n & 1}
    stable = {name: value for name, value in stable.items() if name in present}
    bound_template = template.bind(stable)
    for number, values in enumerate((CONTEXT, OTHERS, CONTEXT)):
        turn = {name: values[name] for name in present - stable.keys()}
        expected = outcome(template.render, {**stable, **turn})
        assert outcome(bound_template.render, turn) == expected
        whole = outcome(template.trace, {**stable, **turn}) if number == 0 else expected
        check_outcome(whole, expected)
        check_outcome(outcome(bound_template.trace, turn), expected)


def check_outcome(traced: tuple[str, Any], expected: tuple[str, Any]) -> None:
    """A trace has the text of the render, or its error."""
    if traced[0] == "ok" and isinstance(traced[1], cuecard.Prompt):
        assert expected[0] == "ok", expected
        check_prompt(traced[1], expected[1])
    else:
        assert traced == expected


def check_prompt(prompt: cuecard.Prompt, text: str) -> None:
    """Segments cover the text, outputs within them lie within them, blocks join to it."""
    assert prompt.text == text
    position = 0
    for segment in prompt.segments:
        assert segment.start == position
        position = segment.end
        for child in segment.children:
            assert segment.start <= child.start <= child.end <= segment.end
    assert position == len(text)
    assert "".join(block.text for block in prompt.blocks()) == text

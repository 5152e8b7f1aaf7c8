"""The whole render: an agent file and a context give a text, or an error of ours."""

from __future__ import annotations

import dataclasses
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import cuecard
from cuecard.agents import AgentDefinition, parse_agent
from tests.generated_templates import CONTEXT

from ..inputs import CANARY, PROFILES, FuzzedDataProvider, check_error, template_of, template_seeds

VALUES: tuple[Any, ...] = (
    None,
    CANARY,
    f"{{{{ {CANARY} }}}}",
    [CANARY, {"name": CANARY, "tags": [CANARY]}],
    {"k": CANARY, "name": None, "items": [CANARY]},
    0,
    -1.5,
    True,
    "",
    [],
    2**70,
    [[CANARY], [CANARY]],
)
warnings.simplefilter("ignore", cuecard.FallbackWarning)
RENDERER = cuecard.PromptRenderer(entry_points=False, max_definitions=8, max_sessions=8)


def seeds() -> Iterator[bytes]:
    for number, text in enumerate(template_seeds()):
        options = ((number * step) % 256 for step in (3, 5, 7, 11, 13, 17, 19, 23))
        yield text + bytes((0, number % 2, *options, number % 4))
    for number in range(256):
        yield bytes((number, (number * 5) % 256, number // 3, 1, number % 2, *range(8), number % 4))


def check(data: bytes) -> None:
    given = FuzzedDataProvider(data)
    profile = PROFILES[given.ConsumeIntInRange(0, 255) % 4]
    context = {name: VALUES[given.ConsumeIntInRange(0, 255) % len(VALUES)] for name in CONTEXT}
    by_itself = given.ConsumeBool()
    text = template_of(given)
    try:
        agent = parse_agent(text)
    except cuecard.SpecError as error:
        check_error(error, text)
        agent = AgentDefinition(system_prompt=text)
    if by_itself:
        check_render(agent.source.text, profile, context)
    else:
        check_turns(dataclasses.replace(agent, profile=None), context)


def check_render(source: str, profile: cuecard.Profile, context: dict[str, Any]) -> None:
    """A render gives text, or an error that shows no value and survives pickling."""
    try:
        template = cuecard.Template(source, profile=profile)
        # What a template reads is known without values.
        assert template.required <= template.variables
        assert template.optional <= template.variables
        template.render(context)
    except cuecard.PromptError as error:
        check_error(error, source)
        check_pickles(error)


def check_pickles(error: cuecard.PromptError) -> None:
    """An error says the same in another process."""
    again = pickle.loads(pickle.dumps(error))
    assert (again.report(), again.hint) == (error.report(), error.hint)


def check_turns(agent: AgentDefinition, context: dict[str, Any]) -> None:
    """A turn under LIVE never fails, and what was noticed shows no value."""
    first = RENDERER.prompt(agent, "s", "ann", context)
    again = RENDERER.prompt(agent, "s", "ann", context)
    if not first.diagnostics and "current_" not in agent.system_prompt:
        assert first.text == again.text
    for finding in first.diagnostics:
        assert CANARY in agent.system_prompt or CANARY not in f"{finding}{finding.hint}"

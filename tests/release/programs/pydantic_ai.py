"""`pydantic-ai`: a run of an agent whose instructions are rendered."""

from dataclasses import dataclass

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import cuecard
from cuecard.adapters.pydantic_ai import capability

seen: list[str | None] = []


@dataclass
class Deps:
    """Whom a run is for."""

    user_id: str


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Answer in the place of a model."""
    seen.append(info.instructions)
    return ModelResponse([TextPart("Noon.")])


prompt = capability(cuecard.PromptRenderer(zone="UTC"), "You help {{ user_id }}.")
agent = Agent(FunctionModel(model), deps_type=Deps, capabilities=[prompt])
agent.run_sync("When?", deps=Deps("ann"))
assert seen == ["You help ann."], seen

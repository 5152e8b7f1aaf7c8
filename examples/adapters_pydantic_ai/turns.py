"""An agent of Pydantic AI: the parts of the prompt that its model sees at each turn."""

import asyncio
import datetime
from dataclasses import dataclass

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import cuecard
from cuecard.adapters.pydantic_ai import capability

now = datetime.datetime(2026, 11, 29, 18, 42, tzinfo=datetime.UTC)
template = """\
You are Spoke.
{% for tool in tools %}
- {{ tool.name }}: {{ tool.description }}
{% endfor %}

You help {{ user_id }}.

It is {{ current_time }}.
"""


@dataclass
class Deps:
    user_id: str


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    for part in info.model_request_parameters.instruction_parts or ():
        print("changes:" if part.dynamic else "static: ", repr(part.content))
    print()
    call = ToolCallPart("find_bicycle", {"colour": "red"})
    return ModelResponse([call if len(messages) == 1 else TextPart("It is.")])


def find_bicycle(colour: str) -> str:
    """Finds a bicycle in the house by its colour."""
    global now
    now += datetime.timedelta(minutes=5)
    return f"a {colour} tandem"


renderer = cuecard.PromptRenderer(clock=lambda: now, zone="UTC")
prompt = capability(renderer, template)
spoke = Agent(FunctionModel(model), deps_type=Deps, tools=[find_bicycle], capabilities=[prompt])
first = asyncio.run(spoke.run("Is my red tandem here?", deps=Deps("ann")))
asyncio.run(spoke.run("Thank you.", deps=Deps("ann"), message_history=first.all_messages()))

"""An agent of OpenAI Agents: the prompts that its model sees, and how much of each is new."""

import asyncio
import datetime

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

import cuecard
from cuecard.adapters.openai_agents import instructions

now = datetime.datetime(2026, 11, 29, 18, 42, tzinfo=datetime.UTC)
agent = cuecard.parse_agent("""\
---
name: spoke
---
You are {{ agent_name }}, and you help {{ user_id }}.
{% for tool in tools %}
- {{ tool.name }}: {{ tool.description }}
{% endfor %}
It is {{ current_time }}.
""")


@function_tool
def find_bicycle(colour: str) -> str:
    """Finds a bicycle in the house by its colour."""
    global now
    now += datetime.timedelta(minutes=5)
    return f"a {colour} tandem"


renderer = cuecard.PromptRenderer(clock=lambda: now, zone="UTC")
call = function_call("find_bicycle", {"colour": "red"}, call_id="c1")
model = ScriptedModel([[call], [assistant_message("It is here.")], [assistant_message("Bye.")]])
prompt = instructions(renderer, agent, context=lambda ctx: {"session": ctx.context})
spoke = Agent(name="spoke", model=model, tools=[find_bicycle], instructions=prompt)


async def main() -> None:
    for message in ("Is my red tandem here?", "Thank you."):
        user, quiet = {"id": "s1", "user_id": "ann"}, RunConfig(tracing_disabled=True)
        await Runner.run(spoke, message, context=user, run_config=quiet)


asyncio.run(main())
for number, turn in enumerate(model.calls, 1):
    print(f"turn {number}\n{turn.system_instructions}")

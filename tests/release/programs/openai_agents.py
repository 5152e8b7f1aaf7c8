"""`openai-agents`: a run of an agent whose instructions are rendered."""

import asyncio

from agents import Agent, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message

import cuecard
from cuecard.adapters.openai_agents import instructions

model = ScriptedModel([[assistant_message("Noon.")]])
prompt = instructions(
    cuecard.PromptRenderer(zone="UTC"),
    "You help {{ user_id }}.",
    context=lambda run: {"auth": run.context},
)
agent = Agent[str](name="spoke", model=model, instructions=prompt)
quiet = RunConfig(tracing_disabled=True)
asyncio.run(Runner.run(agent, "When?", context="ann", run_config=quiet))
assert model.calls[0].system_instructions == "You help ann."

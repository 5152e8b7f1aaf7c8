"""Spawn an operator on tasks: the agent's body becomes its system prompt."""

import os
from pathlib import Path

import cuecard
from cuecard.operator import OperatorSpawner, SpawnError, TaskSpec

os.chdir(Path(__file__).parent)


class Printer:
    """An operator that carries nothing out: it shows what it is called with.

    A real one calls a model with the same two texts, and may be `async`.
    """

    def execute(self, *, system: str | None, prompt: str) -> str:
        print(f"=== system\n{system}\n\n=== user\n{prompt.rstrip()}\n")
        return f"called with {len(system or '')} and {len(prompt)} characters"


agent = cuecard.load_agent("triage.md")
spawner = OperatorSpawner(Printer(), agent)


def spawn(directive: object) -> None:
    task = TaskSpec("triage", directive)
    try:
        print("operator:", spawner.spawn(task))
    except SpawnError as error:
        print("not spawned:", error)


# A task that is a JSON object fills the slots by its keys.
spawn(Path("task.json").read_text(encoding="utf-8"))

# Any other text is the directive. This agent needs an incident too, so the operator is not
# called: half a prompt would be worse than none.
spawn("Tickets do not open in Bergen.")

# The agent's file says of what type an input is. The error names the types, never the value.
spawn({"directive": "Tickets do not open in Bergen.", "incident": "INC-20931"})

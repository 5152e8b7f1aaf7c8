"""Hand tasks to an operator: the agent's body becomes its system prompt."""

from pathlib import Path

import cuecard

HERE = Path(__file__).parent
BODY = (HERE / "triage.md").read_text(encoding="utf-8")


def spawn(prompt: str) -> None:
    slots = cuecard.slots_from_prompt(prompt)
    print(f"=== slots: {', '.join(slots)}")
    try:
        print(cuecard.operator.render_system(BODY, slots))
    except cuecard.RenderError as error:
        print(f"not spawned: {error}")


# A task that is a JSON object fills the slots by its keys.
spawn((HERE / "task.json").read_text(encoding="utf-8"))

# Any other text is the directive. This agent needs an incident too, so it does not start:
# half a prompt would be worse than none.
spawn("Tickets do not open in Bergen.")

"""Build the system prompt of a workspace agent, once, when the agent starts."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cuecard

HERE = Path(__file__).parent


@dataclass
class Tool:
    """What a runtime knows of a tool. The template sees the fields, never the object."""

    name: str
    description: str
    parameters: dict[str, Any]


facts = json.loads((HERE / "context.json").read_text(encoding="utf-8"))

prompt = cuecard.markdown.render_system(
    (HERE / "SYSTEM.md").read_text(encoding="utf-8"),
    facts["workspace"],
    facts["skills"],
    [Tool(**tool) for tool in facts["tools"]],
    environment=facts["environment"],
    user=facts["user"],
    mcp=facts["mcp"],
    # This agent cannot see images: the section is absent, and so is its heading.
    vision=None,
)
print(prompt, end="")

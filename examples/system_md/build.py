"""Build the system prompt of a workspace agent, once, when the agent starts."""

import json
import os
import sys
from pathlib import Path

import cuecard
from cuecard.environment import probe_environment
from cuecard.tools import load_tools, mcp_server_lines
from cuecard.workspace import Workspace

HERE = Path(__file__).resolve().parent
BOOK = HERE / "book"

# The agent's commands run in the book, so the paths of its skills are relative to it.
os.chdir(BOOK)
skills = cuecard.discover_skills(".agents/skills")
tools = load_tools(HERE / "tools.json")
servers = json.loads((HERE / "mcp.json").read_text(encoding="utf-8"))

# What was left out, and why, is for whoever runs the agent: no part of the prompt.
for finding in (*skills.diagnostics, *tools.diagnostics):
    print(finding, file=sys.stderr)

prompt = cuecard.markdown.render_system(
    (HERE / "SYSTEM.md").read_text(encoding="utf-8"),
    BOOK.name,
    skills,
    tools,
    environment=probe_environment(BOOK, notice="There is no network."),
    user=Workspace(BOOK).user(),
    mcp=mcp_server_lines(servers),
    # This agent cannot see images: the section is absent, and so is its heading.
    vision=None,
)
print(prompt, end="")

"""One prompt from tools in the forms of five makers, in an order that keeps the cache."""

from pathlib import Path

import cuecard
from cuecard.tools import load_tools, sorted_tools


def read_file(path: str, lines: int = 100) -> str:
    """Read a text file."""
    raise NotImplementedError("only its signature and its docstring are looked at")


schema = {"type": "object", "properties": {"q": {"type": "string"}}}
forms = [
    read_file,
    {"type": "function", "function": {"name": "search", "parameters": schema}},  # OpenAI's
    {"name": "ask", "description": "Ask a person.", "input_schema": schema},  # Anthropic's
    {"name": "weather", "inputSchema": schema},  # MCP's
    cuecard.ToolSpec("now", "Tell the time."),
]
folder = Path(__file__).parent
tools = sorted_tools([*forms, *load_tools(folder / "tools.json")])
template = cuecard.Template((folder / "prompt.j2").read_text(encoding="utf-8"))
print(template.render(tools=tools), end="")
assert template.render(tools=sorted_tools([*reversed(tools)])) == template.render(tools=tools)

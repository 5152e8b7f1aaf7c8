"""`mcp`: agents as the prompts of a server, and the tools of another one in a prompt."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import MCPServer

import cuecard
from cuecard.adapters.mcp import McpToolsProvider

Path("offered").mkdir()
Path("offered/porter.md").write_text("---\nname: porter\n---\nYou help {{ guest }}.")
workshop = MCPServer("workshop")


@workshop.tool()
def unlock() -> str:
    """Unlock the drawer."""
    return "unlocked"


async def main() -> None:
    """Ask both."""
    command = StdioServerParameters(
        command=sys.executable, args=["-I", "-m", "cuecard", "mcp", "offered"]
    )
    async with Client(command) as client:
        content: Any = (await client.get_prompt("porter", {"guest": "Ann"})).messages[0].content
        assert content.text == "You help Ann.", content
    provider = McpToolsProvider()
    async with Client(workshop) as client, provider.follow(client):
        renderer = cuecard.PromptRenderer([provider])
        text = await renderer.arender("{% for tool in tools %}{{ tool.name }}{% endfor %}")
        assert text == "unlock", text


asyncio.run(main())

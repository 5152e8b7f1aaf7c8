"""An MCP server's tools in a prompt, and agents as the prompts of another server."""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import Context, MCPServer

import cuecard
from cuecard.adapters.mcp import McpToolsProvider

workshop = MCPServer("workshop")
template = """\
You work in a bicycle shop, with {% for tool in tools %}{{ tool.name }} {% endfor %}.
This is turn {{ turn }}.
"""


@workshop.tool()
async def unlock(ctx: Context) -> str:
    """Unlock the drawer of special tools."""
    workshop.add_tool(lambda: "straight", name="align", description="Align a wheel.")
    await ctx.notify_tools_changed()
    return "unlocked"


async def show_tools() -> None:
    provider = McpToolsProvider([cuecard.ToolSpec("pump", "Pump up a tyre.")])
    connected = Client(workshop, message_handler=provider.notice)
    async with connected as client, provider.follow(client):
        renderer = cuecard.PromptRenderer([provider], entry_points=False)
        for turn in (1, 2, 3):
            print(await renderer.arender(template, "s1", "ann", {"turn": turn}))
            if turn == 1:
                await client.call_tool("unlock")


async def show_prompts() -> None:
    arguments = ["-m", "cuecard", "mcp", "examples/agent_file", "--no-entry-points"]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments)) as client:
        for prompt in (await client.list_prompts()).prompts:
            print(prompt.name, [argument.name for argument in prompt.arguments])
        given = {"directive": "Notes for 2.4.0.", "words": "90", "breaking": '["The API key."]'}
        text = (await client.get_prompt("release-writer", given)).messages[0].content.text
        print("\n".join(line for line in text.splitlines() if line[:1] not in ("", "-", "#")))


asyncio.run(show_tools())
asyncio.run(show_prompts())

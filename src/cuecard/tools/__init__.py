"""Tools: what a template shows of each tool, from whatever form a runtime has it in."""

from .loading import load_tools
from .servers import McpServerLine, load_mcp_servers, mcp_server_lines
from .spec import ToolSpec, sorted_tools

__all__ = [
    "McpServerLine",
    "ToolSpec",
    "load_mcp_servers",
    "load_tools",
    "mcp_server_lines",
    "sorted_tools",
]

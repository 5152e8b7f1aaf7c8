"""Lines about MCP servers, from configuration only: a server never writes into the prompt."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import SpecError
from ..files import name_of, read_json, shown
from .parts import invalid_tool, placed

__all__ = ["McpServerLine", "load_mcp_servers", "mcp_server_lines"]

_TABLES = ("mcpServers", "mcp-servers")
# Front matter keeps every scalar as the text that its author wrote.
_SWITCHES = {None: False, True: True, False: False, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class McpServerLine:
    """What a template shows of an MCP server.

    Attributes:
        name: the name of the command that reaches it.
        server: the name that the configuration gives it.
        description: the configuration's words about it, verbatim; "" without any.
    """

    name: str
    server: str
    description: str = ""


def mcp_server_lines(config: Mapping[str, Any]) -> list[McpServerLine]:
    """The lines of the MCP servers in a configuration, sorted by the servers' names.

    Args:
        config: a mapping with `mcpServers` or `mcp-servers`, or what stands under these:
            settings by server. Of the settings `command_name` or `commandName` is the name of
            the line, `description` its text; a server that is `disabled` has no line. Others
            are left alone.

    Raises:
        SpecError: it is no such mapping, or a server's settings are malformed (P420).
    """
    servers = _servers(config)
    for server in servers:
        if not isinstance(server, str) or not server.strip():
            raise invalid_tool("an MCP server has no name", "the servers' names are the keys")
    lines = (_line(server, servers[server]) for server in sorted(servers))
    return [line for line in lines if line is not None]


def load_mcp_servers(path: str | os.PathLike[str]) -> list[McpServerLine]:
    """The lines of the MCP servers in a JSON file, as `mcp_server_lines`; `-` is standard input.

    Raises:
        PromptError: the file cannot be read (P801, P802) or is no JSON (P806).
        SpecError: it configures no MCP servers (P420).
    """
    try:
        return mcp_server_lines(read_json(path))
    except SpecError as error:
        raise placed(error, template=name_of(path)) from None


def _servers(config: Any) -> Mapping[Any, Any]:
    found = [key for key in _TABLES if isinstance(config, Mapping) and key in config]
    if len(found) > 1:
        raise invalid_tool("both `mcpServers` and `mcp-servers` are given", "keep one of them")
    servers = config[found[0]] if found else config
    if servers is None and found:
        return {}
    if not isinstance(servers, Mapping):
        what = f"`{found[0]}`" if found else "the configuration of MCP servers"
        raise invalid_tool(
            f"expected {what} to be a mapping, got `{type(servers).__name__}`",
            "it has the servers' names as keys, and their settings as values",
        )
    return servers


def _line(server: str, settings: Any) -> McpServerLine | None:
    if not isinstance(settings, Mapping):
        raise _malformed(server, "its settings", "a mapping", settings)
    if _is_disabled(server, settings.get("disabled")):
        return None
    named = settings.get("command_name")
    named = settings.get("commandName") if named is None else named
    name = server if named is None else _text(server, "command_name", named)
    if not name.strip():
        raise invalid_tool(f"the command of the MCP server {shown(server)} has an empty name")
    description = settings.get("description")
    described = "" if description is None else _text(server, "description", description)
    return McpServerLine(name, server, described)


def _is_disabled(server: str, value: Any) -> bool:
    key = value.lower() if isinstance(value, str) else value
    if isinstance(key, (str, bool, type(None))) and key in _SWITCHES:
        return _SWITCHES[key]
    raise _malformed(server, "`disabled`", "true or false", value)


def _text(server: str, key: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _malformed(server, f"`{key}`", "text", value)
    return value


def _malformed(server: str, what: str, expected: str, value: Any) -> SpecError:
    return invalid_tool(
        f"the MCP server {shown(server)}: expected {what} to be {expected}, "
        f"got `{type(value).__name__}`"
    )

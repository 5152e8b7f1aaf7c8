"""Tools as they stand in requests and answers: the forms of MCP, OpenAI and Anthropic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import SpecError
from .parts import ToolParts, invalid_tool

__all__ = ["anthropic_parts", "is_mcp_tool", "mapping_parts", "mcp_parts", "openai_parts"]

# The order matters only for a mapping that has both.
_SCHEMA_KEYS = ("input_schema", "inputSchema")


def is_mcp_tool(value: Any) -> bool:
    """Whether an object looks like a tool of the `mcp` package, of whatever version."""
    return hasattr(value, "name") and any(hasattr(value, key) for key in _SCHEMA_KEYS)


def mcp_parts(tool: Any) -> ToolParts:
    """The parts of a tool of an MCP server: an object of `mcp`, or its JSON."""
    if isinstance(tool, Mapping):
        return _with_input_schema(tool)
    if not is_mcp_tool(tool):
        raise invalid_tool(
            f"`{type(tool).__name__}` is no tool of an MCP server",
            "pass an item of the `tools` that `list_tools()` gives",
        )
    key = next(key for key in _SCHEMA_KEYS if hasattr(tool, key))
    return ToolParts(tool.name, getattr(tool, "description", None), getattr(tool, key))


def openai_parts(tool: Any) -> ToolParts:
    """The parts of a tool as OpenAI's interfaces take it, nested or flat."""
    outer = _mapping(tool, "the tool")
    inner = _mapping(outer["function"], "`function`") if "function" in outer else outer
    return ToolParts(inner.get("name"), inner.get("description"), inner.get("parameters"))


def anthropic_parts(tool: Any) -> ToolParts:
    """The parts of a tool as Anthropic's interface takes it."""
    mapping = _mapping(tool, "the tool")
    # Anthropic's own tools have a type with a date in it, and their schema is Anthropic's.
    if mapping.get("type", "custom") != "custom" and "input_schema" not in mapping:
        return ToolParts(mapping.get("name"), mapping.get("description"), None)
    return _with_input_schema(mapping)


def mapping_parts(tool: Mapping[Any, Any]) -> ToolParts:
    """The parts of a mapping of any of these forms, or of the plain one.

    The plain form is `{"name": …, "description": …, "parameters": …}`.
    """
    if "function" not in tool and any(key in tool for key in _SCHEMA_KEYS):
        return _with_input_schema(tool)
    return openai_parts(tool)


def _with_input_schema(tool: Mapping[Any, Any]) -> ToolParts:
    key = next((key for key in _SCHEMA_KEYS if key in tool), None)
    if key is None:
        raise _no_schema()
    return ToolParts(tool.get("name"), tool.get("description"), tool[key])


def _no_schema() -> SpecError:
    return invalid_tool(
        "the tool has no `input_schema`",
        "`ToolSpec.of` finds out by itself which form a tool has",
    )


def _mapping(value: Any, what: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise invalid_tool(f"expected {what} to be a mapping, got `{type(value).__name__}`")
    return value

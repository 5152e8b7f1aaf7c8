"""Tools that are described by a class: pydantic models, and the tools of LangChain."""

from __future__ import annotations

from typing import Any

from .parts import ToolParts, invalid_tool
from .schemas import Schema, inlined, without_heading

__all__ = ["is_langchain_tool", "is_model", "langchain_parts", "model_parts"]


def is_model(value: Any) -> bool:
    """Whether a value is a class of pydantic's."""
    return isinstance(value, type) and hasattr(value, "model_json_schema")


def is_langchain_tool(value: Any) -> bool:
    """Whether a value is a tool of LangChain's."""
    # Asked of the class: the property itself makes a class at every call.
    return hasattr(type(value), "tool_call_schema")


def model_parts(model: Any, name: str | None) -> ToolParts:
    """The parts of a tool whose parameters are the fields of a pydantic model."""
    if not is_model(model):
        raise invalid_tool(
            f"expected a pydantic model class, got `{_kind(model)}`",
            "pass the class itself, a subclass of `pydantic.BaseModel`",
        )
    schema = _class_schema(model)
    if schema.get("type") != "object":
        raise invalid_tool(
            f"the schema of `{model.__name__}` describes no object",
            "a tool takes named parameters: give the model fields",
        )
    return ToolParts(
        model.__name__ if name is None else name,
        schema.get("description"),
        without_heading(schema),
    )


def langchain_parts(tool: Any) -> ToolParts:
    """The parts of a LangChain tool, without the arguments that the runtime injects."""
    if not is_langchain_tool(tool):
        raise invalid_tool(
            f"`{_kind(tool)}` is no LangChain tool",
            "pass what the decorator `@tool` gives, or a `BaseTool`",
        )
    schema = tool.tool_call_schema
    if isinstance(schema, type):
        schema = _class_schema(schema)
    return ToolParts(tool.name, tool.description, without_heading(schema))


def _class_schema(model: Any) -> Schema:
    # A model of pydantic's version 1 has the older name only.
    describe = getattr(model, "model_json_schema", None) or model.schema
    try:
        schema: Schema = describe()
    except Exception as error:
        raise invalid_tool(
            f"`{model.__name__}` has no JSON schema: `{type(error).__name__}`",
            "give its fields types that JSON has",
        ) from error
    return inlined(schema)


def _kind(value: Any) -> str:
    return value.__name__ if isinstance(value, type) else type(value).__name__

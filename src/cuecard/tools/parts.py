"""The parts of a tool before they are checked, and the error for one that is invalid."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..errors import SpecError

__all__ = ["ToolParts", "invalid_tool", "placed"]


class ToolParts(NamedTuple):
    """What a reader found of a tool, each part as it was found."""

    name: Any
    description: Any
    parameters: Any


def invalid_tool(message: str, hint: str | None = None) -> SpecError:
    """The error for a tool, or a server of tools, that is invalid (P420)."""
    return SpecError(message, code="P420", hint=hint)


def placed(error: SpecError, *, path: str | None = None, template: str | None = None) -> SpecError:
    """The same error, with the path of the value in its list and the name of its file."""
    message = error.message if path is None else f"{error.message} - at `{path}`"
    return SpecError(message, code=error.code, template=template, hint=error.hint)

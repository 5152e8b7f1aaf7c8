"""Known variables: what built-in providers, the paths and a file's own header give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from ..agents import Input
from ..providers import (
    AgentMetadataProvider,
    AgentToolsProvider,
    CurrentDateProvider,
    TodoListProvider,
    WorkspaceFactsProvider,
    WorkspaceNotesProvider,
    discover_providers,
)
from .shapes import ANY, TEXT, Shape, Variable, list_of, mapping_of, shape_of_type

__all__ = ["BUILT_IN", "OPERATOR_SLOTS", "SECTIONS", "declared", "installed", "provided"]

_TOOL = mapping_of(name=TEXT, description=TEXT, parameters=Shape("mapping"))
_SKILL = mapping_of(
    name=TEXT,
    description=TEXT,
    license=TEXT,
    compatibility=TEXT,
    allowed_tools=list_of(TEXT),
    metadata=Shape("mapping"),
    path=TEXT,
    extras=Shape("mapping"),
    body=TEXT,
)
_TODO = mapping_of(content=TEXT, active_form=TEXT, status=TEXT, display_text=TEXT)
_MCP = mapping_of(name=TEXT, server=TEXT, description=TEXT)
_SHAPES: Mapping[str, Shape] = {
    "tools": list_of(_TOOL),
    "skills": list_of(_SKILL),
    "todos": list_of(_TODO),
    "mcp": list_of(_MCP),
}
_NEVER_NULL = frozenset(
    ("current_date", "current_time", "current_datetime", "tools", "todos", "agent_name")
)
_PROVIDERS = (
    AgentMetadataProvider,
    AgentToolsProvider,
    CurrentDateProvider,
    TodoListProvider,
    WorkspaceFactsProvider,
    WorkspaceNotesProvider,
)


def _built_in() -> dict[str, Variable]:
    return {
        name: Variable(
            name,
            f"provider `{provider.name}`",
            scope.name.lower(),
            _SHAPES.get(name, TEXT),
            name not in _NEVER_NULL,
        )
        for provider in _PROVIDERS
        for name, scope in provider.provides.items()
    }


BUILT_IN = _built_in()
"""What the built-in providers give."""

SECTIONS = {
    name: Variable(name, "section", "static", _SHAPES.get(name, TEXT), name != "workspace")
    for name in ("workspace", "skills", "tools", "environment", "user", "mcp", "vision")
}
"""What a `SYSTEM.md` of the profile `markdown` has."""

OPERATOR_SLOTS = {
    name: Variable(name, "slot", "turn", ANY, name != "directive")
    for name in ("directive", "intent", "context")
}
"""What a task for an operator usually has."""


def declared(inputs: Iterable[Input], line: int | None) -> dict[str, Variable]:
    """What an agent's header declares."""
    return {
        entry.name: Variable(
            entry.name,
            "input",
            "turn",
            shape_of_type(entry.type),
            not entry.required and entry.default is None,
            line,
            entry.description,
        )
        for entry in inputs
    }


def provided(names: Mapping[str, str], source: str) -> dict[str, Variable]:
    """What a provider gives that says only its variables and their scopes."""
    return {name: Variable(name, source, scope) for name, scope in names.items()}


@cache
def installed() -> Mapping[str, Variable]:
    """What the providers of installed packages give, as far as these load and say so."""
    known: dict[str, Variable] = {}
    for found in discover_providers():
        if found.provider is not None and found.provider.provides is not None:
            scopes = {name: scope.name.lower() for name, scope in found.provider.provides.items()}
            known.update(provided(scopes, f"provider `{found.provider.name}`"))
    return known

"""Tools from a file: a list in any form, or the answer of an MCP server to `tools/list`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..errors import SpecError
from ..files import name_of, read_json, shown
from ..source import Diagnostic, Found
from .parts import invalid_tool, placed
from .spec import ToolSpec

__all__ = ["load_tools"]


def load_tools(path: str | os.PathLike[str]) -> Found[ToolSpec]:
    """The tools of a JSON file, in its order.

    Args:
        path: a file with a list of tools, in any of the forms that `ToolSpec.of` takes as
            mappings, or with an object that has such a list as `tools`. `-` is standard input.

    Returns:
        The valid ones. Each invalid one is an error in `diagnostics` (P420); a name that two
        of them share is a warning (P421).

    Raises:
        PromptError: the file cannot be read (P801, P802) or is no JSON (P806).
        SpecError: it holds no list of tools (P420).
    """
    file = name_of(path)
    specs: list[ToolSpec] = []
    diagnostics: list[Diagnostic] = []
    names: set[str] = set()
    for place, tool in _listed(read_json(path), file):
        try:
            spec = ToolSpec.of(tool)
        except SpecError as error:
            diagnostics.append(_invalid(placed(error, path=place, template=file)))
            continue
        if spec.name in names:
            diagnostics.append(_named_twice(spec.name, place, file))
        names.add(spec.name)
        specs.append(spec)
    return Found(specs, diagnostics)


def _listed(value: Any, file: str) -> Iterator[tuple[str, Any]]:
    """Each tool of a file with its path."""
    path = "$"
    if isinstance(value, dict) and "tools" in value:
        value, path = value["tools"], "$.tools"
    if not isinstance(value, list):
        raise placed(
            invalid_tool(
                f"expected a list of tools, got `{type(value).__name__}` - at `{path}`",
                "write a JSON list, or an object whose `tools` is one",
            ),
            template=file,
        )
    for index, tool in enumerate(value):
        yield f"{path}[{index}]", tool


def _invalid(error: SpecError) -> Diagnostic:
    return Diagnostic(error.code, error.message, None, error.template, "error", error.hint)


def _named_twice(name: str, place: str, file: str) -> Diagnostic:
    return Diagnostic(
        "P421",
        f"the name {shown(name)} is taken by a tool before it - at `{place}`",
        None,
        file,
        "warning",
        "rename one of them: a model tells tools apart by their names",
    )

"""The tools that a skill restricts itself to. What cannot be understood is never dropped."""

from __future__ import annotations

import re
from typing import Any

from ..frontmatter import split_names

__all__ = ["RESTRICTION", "is_restriction", "read_tools"]

RESTRICTION = "allowed-tools"


def is_restriction(key: str) -> bool:
    """Whether a key of a header is meant as `allowed-tools`, however it is spelled."""
    return re.sub(r"[^a-z]", "", key.lower()) in ("allowedtools", "allowedtool")


def read_tools(value: Any) -> tuple[str, ...]:
    """The tools in a text that commas or blanks part, or in a list of texts.

    Args:
        value: the header's value; null allows no tool.

    Returns:
        The tools in their order, each once.

    Raises:
        ValueError: it is something else, or its parentheses do not match, or stand apart
            from their tool: without them `Bash (git add:*)` would allow all of `Bash`.
    """
    tools = split_names(value, blanks=True)
    for tool in tools:
        if tool.startswith("("):
            raise ValueError("has a parenthesis apart from its tool")
        if not _is_balanced(tool):
            raise ValueError("has a parenthesis without its other half")
    return tuple(dict.fromkeys(tools))


def _is_balanced(tool: str) -> bool:
    depth = 0
    for character in tool:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0

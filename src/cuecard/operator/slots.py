"""Slots: the variables that a task's prompt gives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

__all__ = ["slots_from_prompt"]

_MAX_JSON_DEPTH = 128


def slots_from_prompt(prompt: Any) -> dict[str, Any]:
    """The slots that a task's prompt gives.

    Args:
        prompt: text, of which a JSON object gives its keys as slots; a mapping, which is
            used as it is; or any other value.

    Returns:
        The slots. Whatever is no object is the one slot `directive`.

    Examples:
        >>> from cuecard import slots_from_prompt
        >>> slots_from_prompt('{"directive": "fix the build", "intent": "bug"}')
        {'directive': 'fix the build', 'intent': 'bug'}
        >>> slots_from_prompt("just do it")
        {'directive': 'just do it'}
    """
    if isinstance(prompt, Mapping):
        return dict(prompt)
    if isinstance(prompt, str):
        slots = _json_object(prompt)
        if slots is not None:
            return slots
    return {"directive": prompt}


def _json_object(text: str) -> dict[str, Any] | None:
    if not text.lstrip(" \t\r\n").startswith("{"):
        return None
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        # A lone surrogate is no text, though Python's reader takes it for such.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and _depth_within(value, _MAX_JSON_DEPTH) else None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _depth_within(value: Any, limit: int) -> bool:
    level = [value]
    depth = 0
    while level:
        depth += 1
        if depth >= limit:
            return False
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, (dict, list))
        ]
    return True

"""The list of skills for a prompt, which no description can break out of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import SpecError

__all__ = ["skills_catalog"]

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def skills_catalog(skills: Iterable[Any]) -> str:
    """The block `<available_skills>` that tells a model which skills there are.

    `&`, `<` and `>` of values are escaped and quotes left alone. A line break in a value
    becomes a blank, so that each element is one line.

    Args:
        skills: skills, or mappings and objects with `name`, `description`, and `path` or
            `location`.

    Returns:
        One element a line, without a line break at the end; "" when there are no skills.

    Raises:
        SpecError: a name is missing (P410), or a value is no text (P405).

    Examples:
        >>> from cuecard import skills_catalog
        >>> print(skills_catalog([{"name": "pdf", "description": "Reads <PDF>", "path": "pdf"}]))
        <available_skills>
        <skill>
        <name>pdf</name>
        <description>Reads &lt;PDF&gt;</description>
        <location>pdf</location>
        </skill>
        </available_skills>
    """
    lines = [line for skill in skills for line in _lines(skill)]
    if not lines:
        return ""
    return "\n".join(("<available_skills>", *lines, "</available_skills>"))


def _lines(skill: Any) -> list[str]:
    name = _text(skill, "name")
    if not name:
        raise SpecError("a skill has no `name`", code="P410")
    location = _text(skill, "location") or _text(skill, "path")
    return [
        "<skill>",
        f"<name>{name}</name>",
        f"<description>{_text(skill, 'description')}</description>",
        *([f"<location>{location}</location>"] if location else []),
        "</skill>",
    ]


def _text(skill: Any, key: str) -> str:
    value = skill.get(key) if isinstance(skill, Mapping) else getattr(skill, key, None)
    if value is None:
        return ""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise SpecError(
            f"`{key}` of a skill must be text, not `{type(value).__name__}`", code="P405"
        )
    return " ".join(filter(None, map(str.strip, value.splitlines()))).translate(_ESCAPES)

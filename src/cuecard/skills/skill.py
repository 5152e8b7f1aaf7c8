"""A skill: what the header of its `SKILL.md` says, and the body when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import SpecError
from ..files import read_text
from ..frontmatter import read_document

__all__ = ["Skill", "skill_values"]


@dataclass(frozen=True, slots=True)
class Skill:
    """What an agent may learn when it needs to. Templates see every field, and not the body.

    Args:
        name: its name, which is the folder's.
        description: what it does, and when to use it.
        license: the name of its licence, or of the file that holds it.
        compatibility: what it needs to run.
        allowed_tools: the tools that it may use, `Bash(git add:*)` among them; None when the
            header does not restrict them, `()` when it allows none.
        metadata: the header's `metadata`, as it was written.
        path: its `SKILL.md`.
        extras: all other keys of the header.
    """

    name: str
    description: str
    license: str | None = None
    compatibility: str | None = None
    allowed_tools: tuple[str, ...] | None = None
    metadata: dict[str, Any] = field(default_factory=dict, hash=False)
    path: Path = field(kw_only=True)
    extras: dict[str, Any] = field(default_factory=dict, hash=False, kw_only=True)

    @property
    def body(self) -> str:
        """The text after the header. The file is read at each call, and nothing is kept.

        Raises:
            PromptError: the file cannot be read (P801) or is not UTF-8 (P802).
            SpecError: its header is gone (P404), not closed (P402) or not valid (P401).
        """
        document = read_document(read_text(self.path), str(self.path), recover=True)
        if not document.has_header:
            raise SpecError("the file has no front matter", code="P404", template=str(self.path))
        return document.body.text

    def as_mapping(self, *, body: bool = False) -> dict[str, Any]:
        """The skill as plain data.

        Args:
            body: whether to read the body too.

        Raises:
            PromptError: as `body`.
        """
        tools = self.allowed_tools
        mapping: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "license": self.license,
            "compatibility": self.compatibility,
            "allowed_tools": None if tools is None else list(tools),
            "metadata": self.metadata,
            "path": str(self.path),
            "extras": self.extras,
        }
        if body:
            mapping["body"] = self.body
        return mapping


def skill_values(skills: Iterable[Any], *, body: bool = False) -> list[Any]:
    """Skills as the values that a template sees.

    Args:
        skills: skills; anything else, such as a mapping, is taken as it is.
        body: whether the template reads bodies, which are read from the files for it.

    Raises:
        PromptError: as `Skill.body`.
    """
    return [
        skill.as_mapping(body=True) if body and isinstance(skill, Skill) else skill
        for skill in skills
    ]

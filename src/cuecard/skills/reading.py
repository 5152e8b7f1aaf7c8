"""Reading a `SKILL.md`: what its header gives, and every rule that it breaks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import PromptError
from ..frontmatter import Document
from ..source import Diagnostic, Severity
from .header import read_header
from .restriction import RESTRICTION, is_restriction, read_tools
from .skill import Skill

__all__ = ["Reading", "check_header", "read_skill"]

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_MAX_NAME = 64
_MAX_DESCRIPTION = 1024
_MAX_COMPATIBILITY = 500


class Reading(NamedTuple):
    """What became of a file.

    Attributes:
        skill: None when an error leaves it out.
        name: the skill's name, or that of its folder.
        diagnostics: what is wrong with it.
    """

    skill: Skill | None
    name: str
    diagnostics: tuple[Diagnostic, ...] = ()


def read_skill(path: str, folder: str) -> Reading:
    """Read a file.

    Args:
        path: the file.
        folder: the name of its folder, which should be the skill's.
    """
    try:
        document = read_header(path)
    except PromptError as error:
        found = Diagnostic(error.code, error.message, error.span, path, "error", error.hint)
        return Reading(None, folder, (found,))
    return check_header(document, path, folder)


def check_header(document: Document, path: str, folder: str) -> Reading:
    """What a header gives that has been read.

    Args:
        document: the file, of which the body does not matter.
        path: the file.
        folder: the name of its folder, which should be the skill's.
    """
    return _Check(document, path).skill(folder)


class _Check:
    """A header's keys, each read once; those that are left over are the extras."""

    def __init__(self, document: Document, path: str) -> None:
        self._document = document
        self._path = path
        self._left = dict(document.metadata)
        self._diagnostics = list(document.diagnostics)

    def skill(self, folder: str) -> Reading:
        """The skill, unless one of its faults is an error."""
        skill = Skill(
            name=self._name(folder),
            description=self._description(),
            license=self._text("license"),
            compatibility=self._limited("compatibility", _MAX_COMPATIBILITY),
            allowed_tools=self._allowed_tools(),
            metadata=self._metadata(),
            path=Path(self._path),
            extras=self._left,
        )
        diagnostics = tuple(self._diagnostics)
        failed = any(found.severity == "error" for found in diagnostics)
        return Reading(None if failed else skill, skill.name, diagnostics)

    def _name(self, folder: str) -> str:
        before = len(self._diagnostics)
        name = self._text("name", instead="the folder's name is used")
        if name is None:
            if len(self._diagnostics) == before:
                self._note("P410", "`name` is missing, the folder's name is used", "name")
            name = folder
        if len(name) > _MAX_NAME:
            self._note("P414", f"the name has more than {_MAX_NAME} characters", "name")
        if not _NAME.fullmatch(name):
            self._note(
                "P411",
                "the name is not made of lower-case letters, digits and single hyphens",
                "name",
                "write a-z and 0-9, with a hyphen between words",
            )
        if name != folder:
            self._note(
                "P412", "the name differs from the folder's", "name", "rename one of the two"
            )
        return name

    def _description(self) -> str:
        before = len(self._diagnostics)
        text = self._limited("description", _MAX_DESCRIPTION, severity="error")
        if text is None and len(self._diagnostics) == before:
            self._note(
                "P413",
                "`description` is missing",
                "description",
                "say what the skill does, and when to use it",
                "error",
            )
        return text or ""

    def _limited(self, key: str, limit: int, severity: Severity = "warning") -> str | None:
        text = self._text(key, severity=severity)
        if text is not None and len(text) > limit:
            self._note("P414", f"`{key}` has more than {limit:,} characters", key)
        return text

    def _text(
        self,
        key: str,
        *,
        instead: str = "it is left out",
        severity: Severity = "warning",
    ) -> str | None:
        """A text without white space around it; None when there is nothing else."""
        value = self._left.pop(key, None)
        if value is None or isinstance(value, str):
            return (value or "").strip() or None
        message = f"`{key}` must be a text"
        if severity == "warning":
            message += f": {instead}"
        self._note("P405", message, key, "write one text, in quotes if need be", severity)
        return None

    def _metadata(self) -> dict[str, Any]:
        value = self._left.pop("metadata", None) or {}
        if not isinstance(value, dict):
            self._note("P405", "`metadata` must be a mapping: it is left out", "metadata")
            return {}
        return value

    def _allowed_tools(self) -> tuple[str, ...] | None:
        self._refuse_nested()
        keys = [key for key in self._left if is_restriction(key)]
        if not keys:
            return None
        values = [self._left.pop(key) for key in keys]
        if len(keys) > 1:
            self._refuse(f"`{RESTRICTION}` is given in two spellings", keys[1], "keep one of them")
            return ()
        (key,) = keys
        if key != RESTRICTION:
            self._note("P417", f"`{key}` is read as `{RESTRICTION}`", key, f"write `{RESTRICTION}`")
        try:
            return read_tools(values[0])
        except ValueError as error:
            self._refuse(f"`{key}` {error}", key, f"write `{RESTRICTION}: Read Bash(git add:*)`")
            return ()

    def _refuse_nested(self) -> None:
        for key, value in self._document.metadata.items():
            if isinstance(value, dict) and any(map(is_restriction, value)):
                self._refuse(
                    f"`{RESTRICTION}` stands within `{key}`, where it would restrict nothing",
                    key,
                    "begin its line without blanks",
                )

    def _refuse(self, message: str, key: str, hint: str) -> None:
        self._note("P417", message, key, hint, "error")

    def _note(
        self,
        code: str,
        message: str,
        key: str,
        hint: str | None = None,
        severity: Severity = "warning",
    ) -> None:
        place = self._document.place(key)
        self._diagnostics.append(Diagnostic(code, message, place, self._path, severity, hint))

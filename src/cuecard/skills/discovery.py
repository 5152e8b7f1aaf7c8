"""Discovery: the skills of several folders, and what is wrong with the others."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..source import Diagnostic, Found
from .places import Fault, SkillFile, find_files
from .reading import Reading, read_skill
from .skill import Skill

__all__ = ["SkillFolders", "discover_skills"]

_UNSETTLED = 100_000_000
"""Nanoseconds: a file that changed so shortly before may change again at the same time."""


def discover_skills(
    *folders: str | os.PathLike[str], disabled: Iterable[str] = (), strict: bool = False
) -> Found[Skill]:
    """The skills below some folders, sorted by name.

    Args:
        folders: where to look. A skill in an earlier folder hides one of the same name in a
            later one. A folder that does not exist holds none.
        disabled: names of skills that are left out, with all that is wrong with them.
        strict: whether a skill that would be loaded with a warning is left out.

    Returns:
        The skills, with a diagnostic for each file that is left out or breaks a rule.
    """
    return SkillFolders(*folders, disabled=disabled, strict=strict).discover()


class SkillFolders:
    """Folders whose skills are discovered again and again: only files that changed are read.

    Threads may share it. It holds the headers of the files that are there, and no bodies.

    Args:
        folders: as in `discover_skills`.
        disabled: as in `discover_skills`.
        strict: as in `discover_skills`.
    """

    def __init__(
        self,
        *folders: str | os.PathLike[str],
        disabled: Iterable[str] = (),
        strict: bool = False,
    ) -> None:
        self.folders = tuple(map(Path, folders))
        self.disabled = frozenset((disabled,) if isinstance(disabled, str) else disabled)
        self.strict = strict
        self._known: dict[str, _Known] = {}

    def __repr__(self) -> str:
        return f"SkillFolders({', '.join(repr(str(folder)) for folder in self.folders)})"

    def discover(self) -> Found[Skill]:
        """The skills that are there now."""
        # Replaced as a whole at the end: threads never see it half made.
        before, now = self._known, dict[str, _Known]()
        selection = _Selection(self.disabled, self.strict)
        for found in find_files(self.folders):
            if isinstance(found, Fault):
                selection.add(Reading(None, found.folder, (found.diagnostic,)))
                continue
            known = before.get(found.path)
            if known is None or known.stamp != found.stamp:
                known = _read(found)
            if known.stamp:
                now[found.path] = known
            selection.add(known.reading)
        self._known = now
        return selection.found()


class _Known(NamedTuple):
    """A file that was read, and its stamp; empty when it has to be read again."""

    stamp: tuple[int, ...]
    reading: Reading


def _read(file: SkillFile) -> _Known:
    reading = read_skill(file.path, file.folder)
    settled = abs(time.time_ns() - file.stamp[0]) > _UNSETTLED
    readable = all(found.code != "P801" for found in reading.diagnostics)
    return _Known(file.stamp if settled and readable else (), reading)


class _Selection:
    """Which of the skills count: the first of each name that is neither disabled nor faulty."""

    def __init__(self, disabled: frozenset[str], strict: bool) -> None:
        self._disabled = disabled
        self._strict = strict
        self._skills: dict[str, Skill] = {}
        self._diagnostics: list[Diagnostic] = []

    def add(self, reading: Reading) -> None:
        """Take a file that was read, in the order of precedence."""
        if reading.name in self._disabled:
            return
        for found in reading.diagnostics:
            self._note(found)
        skill = reading.skill
        if skill is None or (self._strict and reading.diagnostics):
            return
        first = self._skills.setdefault(skill.name, skill)
        if first is not skill:
            self._note(
                Diagnostic(
                    "P415",
                    f"the name is taken by `{first.path}`, which hides this skill",
                    None,
                    str(skill.path),
                    "warning",
                    "rename one of the two, or disable the name",
                )
            )

    def _note(self, found: Diagnostic) -> None:
        self._diagnostics.append(found._replace(severity="error") if self._strict else found)

    def found(self) -> Found[Skill]:
        """The skills, sorted by name."""
        return Found([self._skills[name] for name in sorted(self._skills)], self._diagnostics)

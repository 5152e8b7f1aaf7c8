"""The workspace: what the folder of an agent gives to its prompt, fetched when it is asked for.

workspace     the folder's path
skills        the skills of the project and of the user
environment   facts about the machine
user          the user's preferences
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from .environment import probe_environment
from .errors import PromptError
from .files import read_text
from .skills import Skill, SkillFolders, skill_folders
from .source import Diagnostic, Found

__all__ = ["Workspace", "WorkspaceValues"]

_USER_FILE = Path(".agents", "USER.md")


class WorkspaceValues(NamedTuple):
    """What a workspace knows of some names.

    Attributes:
        values: the value of each name that it knows.
        diagnostics: what was noticed about the files that were read for them.
    """

    values: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...] = ()


class Workspace:
    """A folder that an agent works in. Threads may share it.

    Args:
        folder: the folder.
        home: the user's folder; by default the one that the system names, if any.
        notice: a text that ends the facts about the machine, such as what a sandbox forbids.
        timeout: seconds that finding these facts may take.

    Attributes:
        folder: its path, absolute and without symbolic links.
        home: the user's folder, or None.

    Raises:
        PromptError: there is no such folder (P803).
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        home: str | os.PathLike[str] | None = None,
        notice: str | None = None,
        timeout: float = 5.0,
    ) -> None:
        self.folder = _resolved(folder)
        self.home = _home() if home is None else Path(home)
        self._notice = notice
        self._timeout = timeout
        self._skills = SkillFolders(*skill_folders(self.folder, self.home))
        self._environment: str | None = None
        self._probing = Lock()

    def __repr__(self) -> str:
        return f"Workspace({str(self.folder)!r})"

    def skills(self) -> Found[Skill]:
        """The skills that are there now; those of the project hide the user's."""
        return self._skills.discover()

    def environment(self) -> str:
        """Facts about the machine. They are found once; every call gives the same text."""
        with self._probing:
            if self._environment is None:
                self._environment = probe_environment(
                    self.folder, notice=self._notice, timeout=self._timeout
                )
            return self._environment

    def user(self) -> str | None:
        """The user's preferences, as they stand in `.agents/USER.md` now.

        The file of the project counts, else the one of the home folder. An empty file says
        that there are none.

        Raises:
            PromptError: the file cannot be read (P801), is not UTF-8 (P802), or is a link of
                the project that leads out of it (P804).
        """
        for place in filter(None, (self.folder, self.home)):
            file = place / _USER_FILE
            if _exists(file):
                if place == self.folder != self.home:
                    self._check_inside(file)
                text = read_text(file)
                return text if text.strip() else None
        return None

    def values(self, names: Iterable[str]) -> WorkspaceValues:
        """The values of those of the names that a workspace knows; no others are fetched.

        Args:
            names: such as the variables of a template. Names that it does not know are
                passed over.

        Raises:
            PromptError: as `user` does, if that is asked for.
        """
        known: dict[str, Callable[[], Any]] = {
            "workspace": lambda: str(self.folder),
            "skills": self.skills,
            "environment": self.environment,
            "user": self.user,
        }
        asked = set(names)
        values = {name: fetch() for name, fetch in known.items() if name in asked}
        return WorkspaceValues(values, getattr(values.get("skills"), "diagnostics", ()))

    def _check_inside(self, file: Path) -> None:
        """A project may come from a stranger, and must not have the user's other files read."""
        if not Path(os.path.realpath(file)).is_relative_to(self.folder):
            raise PromptError(
                "the link leads out of the workspace",
                code="P804",
                template=str(file),
                hint="copy the file into the workspace, or put it into the home folder",
            )


def _resolved(folder: str | os.PathLike[str]) -> Path:
    try:
        path = Path(folder).resolve()
        if path.is_dir():
            return path
    except (OSError, RuntimeError, ValueError):
        pass
    raise PromptError(
        "no such folder", code="P803", template=os.fspath(folder), hint="make the folder first"
    )


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None


def _exists(file: Path) -> bool:
    """Whether there is something to read.

    Raises:
        PromptError: it is no file that could be read to its end (P801).
    """
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, RuntimeError):
        return True
    if not stat.S_ISREG(mode):
        raise PromptError("cannot read the file: it is no file", code="P801", template=str(file))
    return True

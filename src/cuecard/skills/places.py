"""Where skills are: folders with a `SKILL.md`, and links that stay among the given folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ..source import Diagnostic

__all__ = ["Fault", "SkillFile", "find_files"]

_NAMES = ("SKILL.md", "skill.md")
_LEVELS = 4
_IGNORED = frozenset(("node_modules",))

Stamp = tuple[int, ...]


class SkillFile(NamedTuple):
    """A `SKILL.md`.

    Attributes:
        path: as the given folder leads to it.
        folder: the name of the folder that holds it.
        stamp: changes when the file does.
    """

    path: str
    folder: str
    stamp: Stamp


class Fault(NamedTuple):
    """A place that could not be looked at, and the name of the folder there."""

    folder: str
    diagnostic: Diagnostic


def find_files(folders: Iterable[Path]) -> list[SkillFile | Fault]:
    """Every `SKILL.md` below the folders, each once, in the order of the folders.

    Within a folder they come in the order of their names, those behind a link last. A folder
    that does not exist has none.
    """
    given = [_root(folder) for folder in folders]
    search = _Search([root.real for root in given if isinstance(root, _Root)])
    for root in given:
        if isinstance(root, Fault):
            search.found.append(root)
        elif root is not None:
            search.look_into(root.path, root.real, root.name, 0)
    return search.found


class _Root(NamedTuple):
    """A given folder: its path as text, without links, and its name."""

    path: str
    real: str
    name: str


def _root(folder: Path) -> _Root | Fault | None:
    path = str(folder)
    try:
        name = os.path.basename(os.path.abspath(path))
        real = os.path.realpath(path)
        if not stat.S_ISDIR(os.stat(path).st_mode):
            return _fault(path, name, "P801", "this is no folder")
    except (FileNotFoundError, NotADirectoryError):
        return _fault(path, name, "P801", "the link leads nowhere") if _is_link(path) else None
    except (OSError, ValueError) as error:
        return _fault(path, "", "P801", f"cannot read the folder: {_reason(error)}")
    if not _is_text(real):
        return _fault(path, name, "P802", "the folder's name is not UTF-8")
    return _Root("" if path == "." else path, real, name)


class _Search:
    """One search: what it has found, which files it came by, and what links may lead to."""

    def __init__(self, roots: Sequence[str]) -> None:
        self.found: list[SkillFile | Fault] = []
        self._roots = roots
        self._seen: set[str] = set()

    def look_into(self, path: str, real: str, name: str, level: int) -> None:
        """Find the skill that a folder is, or those below it."""
        try:
            if self._is_skill(path, real, name):
                return
            entries = _entries(path)
        except FileNotFoundError:  # it has gone since
            return
        except OSError as error:
            self._fault(path, name, "P801", f"cannot read the folder: {_reason(error)}")
            return
        inside, really_inside = os.path.join(path, ""), os.path.join(real, "")
        for entry in entries:
            inner = entry.name
            if entry.is_symlink():
                self._follow(inside + inner, inner)
            elif level < _LEVELS and entry.is_dir(follow_symlinks=False):
                if _is_text(inner):
                    self.look_into(inside + inner, really_inside + inner, inner, level + 1)
                else:
                    self._fault(inside + inner, inner, "P802", "the folder's name is not UTF-8")

    def _is_skill(self, path: str, real: str, name: str) -> bool:
        """Whether a folder is a skill, which is then found, unless it was before.

        Raises:
            OSError: the folder cannot be looked into.
        """
        inside = path + os.sep if path else ""
        for file_name in _NAMES:
            file = inside + file_name
            try:
                status = os.lstat(file)
            except FileNotFoundError:
                continue
            target = real + os.sep + file_name
            if stat.S_ISLNK(status.st_mode):
                target = os.path.realpath(file)
                if self._is_refused(file, target, name):
                    return True
                status = os.stat(file)
            if not stat.S_ISREG(status.st_mode):
                self._fault(file, name, "P801", "this is no file")
            elif target not in self._seen:
                self._seen.add(target)
                self.found.append(SkillFile(file, name, _stamp(status)))
            return True
        return False

    def _follow(self, path: str, name: str) -> None:
        """Find the skill that a link to a folder leads to.

        Nothing is searched behind a link: what lies among the given folders is found where
        it is, and a link to a folder above would never end.
        """
        target = os.path.realpath(path)
        if os.path.isfile(target) or self._is_refused(path, target, name):
            return
        try:
            self._is_skill(path, target, name)
        except OSError as error:
            self._fault(path, name, "P801", f"cannot read the folder: {_reason(error)}")

    def _is_refused(self, path: str, target: str, name: str) -> bool:
        if not os.path.exists(path):
            self._fault(path, name, "P801", "the link leads nowhere")
        elif not any(_is_within(target, root) for root in self._roots):
            self._fault(
                path,
                name,
                "P416",
                "the symbolic link leaves the folder, and is not followed",
                "give the folder that it leads to as well, or put a copy here",
            )
        else:
            return False
        return True

    def _fault(self, path: str, name: str, code: str, message: str, hint: str = "") -> None:
        self.found.append(_fault(path, name, code, message, hint or None))


def _entries(path: str) -> list[os.DirEntry[str]]:
    with os.scandir(path or ".") as entries:
        wanted = [e for e in entries if e.name[0] != "." and e.name not in _IGNORED]
    wanted.sort(key=lambda entry: (entry.is_symlink(), entry.name))
    return wanted


def _stamp(status: os.stat_result) -> Stamp:
    # The time of change too: rights do not show in the others, nor does a time that was set.
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root if root.endswith(os.sep) else root + os.sep)


def _is_link(path: str) -> bool:
    try:
        return os.path.islink(path)
    except ValueError:
        return False


def _is_text(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return "invalid name"


def _fault(path: str, name: str, code: str, message: str, hint: str | None = None) -> Fault:
    shown = path.encode("utf-8", "backslashreplace").decode() or "."
    return Fault(name, Diagnostic(code, message, None, shown, "error", hint))

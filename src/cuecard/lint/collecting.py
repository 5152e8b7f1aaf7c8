"""Which files are checked, and as what."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import PromptError, TemplateNotFoundError
from .document import Kind
from .settings import Settings

__all__ = ["Target", "collect", "is_checked", "kind_of"]

_TEMPLATES = (".j2", ".jinja", ".jinja2")
_NAMES = (*_TEMPLATES, ".md")
_SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages"))
_PLAIN = frozenset(("agents.md", "claude.md", "gemini.md", "readme.md", "changelog.md"))
"""Files that are known to be no templates; they are checked when they are named themselves."""


class Target(NamedTuple):
    """A file to check, and what it is taken for; or why it cannot be found."""

    path: str
    kind: Kind
    error: PromptError | None = None


def collect(paths: Iterable[str | os.PathLike[str]], settings: Settings) -> list[Target]:
    """The files to check: those that are named, and those in the folders that are named.

    In a folder they are `SKILL.md`, `SYSTEM.md`, `*.md` with front matter, and `*.j2`,
    `*.jinja` and `*.jinja2`. Hidden folders but `.agents`, `.claude` and `.github` are passed
    over, as are links.
    """
    found: dict[str, Target] = {}
    for given in paths:
        path = os.fspath(given)
        if path == "-" or os.path.isfile(path):
            found.setdefault(_identity(path), Target(path, kind_of(path, settings)))
        elif os.path.isdir(path):
            for target in _in_folder(path, settings):
                found.setdefault(_identity(target.path), target)
        else:
            found.setdefault(path, Target(path, "template", _why_not(path)))
    return list(found.values())


def _identity(path: str) -> str:
    """One for all ways to write a path, so that `.` and `a.md` name a file once."""
    return os.path.normpath(path)


def _why_not(path: str) -> PromptError:
    try:
        os.stat(path)
    except FileNotFoundError:
        return TemplateNotFoundError("no such file or folder", template=path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "invalid name"
        return PromptError(f"cannot read the file: {why}", code="P801", template=path)
    message = "cannot read the file: it is neither a file nor a folder"
    return PromptError(message, code="P801", template=path)


def _in_folder(folder: str, settings: Settings) -> Iterator[Target]:
    errors: list[OSError] = []
    for place, folders, files in os.walk(folder, onerror=errors.append):
        folders[:] = sorted(f for f in folders if _is_searched(f, place, settings))
        for name in sorted(files):
            lowered = name.lower()
            if not lowered.endswith(_NAMES) or lowered in _PLAIN:
                continue
            path = os.path.normpath(os.path.join(place, name))
            if not _is_plain_file(path) or _is_excluded(path, settings):
                continue
            if lowered.endswith(_TEMPLATES) or _is_prompt(path, lowered):
                yield Target(path, kind_of(path, settings))
    for failed in errors:
        why = failed.strerror or type(failed).__name__
        name = os.path.normpath(failed.filename or folder)
        error = PromptError(f"cannot read the folder: {why}", code="P801", template=name)
        yield Target(name, "template", error)


def _is_searched(name: str, place: str, settings: Settings) -> bool:
    if name in _SKIPPED or (name[0] == "." and name not in (".agents", ".claude", ".github")):
        return False
    return not _is_excluded(os.path.join(place, name), settings)


def _is_excluded(path: str, settings: Settings) -> bool:
    return any(settings.matches(path, pattern) for pattern in settings.exclude)


def _is_plain_file(path: str) -> bool:
    """Whether it is a file that may be opened: links are passed over, a pipe would wait."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return True  # so that the error is told


def _is_prompt(path: str, lowered: str) -> bool:
    """Whether a Markdown file has front matter, or is called what prompts are called."""
    if _is_prompt_name(lowered):
        return True
    try:
        with open(path, "rb") as file:
            start = file.read(8)
    except OSError:
        return True  # so that the error is told
    return start.removeprefix(b"\xef\xbb\xbf").startswith(b"---")


def _is_prompt_name(lowered: str) -> bool:
    return lowered in ("system.md", "agent.md", "skill.md") or lowered.endswith(".agent.md")


def is_checked(path: str, text: str, settings: Settings) -> bool:
    """Whether a check of its folder would take a file, by its text in an editor."""
    lowered = os.path.basename(path).lower()
    if not lowered.endswith(_NAMES) or lowered in _PLAIN or _is_excluded(path, settings):
        return False
    prompt = _is_prompt_name(lowered) or text.removeprefix("\ufeff").startswith("---")
    return prompt or lowered.endswith(_TEMPLATES)


def kind_of(path: str, settings: Settings) -> Kind:
    """What a file is taken for, by its name and its place."""
    name = os.path.basename(path).lower()
    if name == "skill.md":
        return "skill"
    if settings.partials is not None and _is_within(path, settings.partials):
        return "partial"
    return "template" if name.endswith(_TEMPLATES) or name == "system.md" else "agent"


def _is_within(path: str, folder: str) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))

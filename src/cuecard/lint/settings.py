"""Settings of the checks, from `cuecard.toml` or the table `tool.cuecard` of `pyproject.toml`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from ..profile import PROFILES, Limits
from .tables import Table, read_table

__all__ = ["Settings", "common_folder", "find_settings", "read_settings"]

_SCOPES = ("static", "session", "day", "turn")
_FILES = ("cuecard.toml", "pyproject.toml")


@dataclass(frozen=True)
class Settings:
    """What is configured. Every key of the table is one of these, with `-` for `_`.

    Attributes:
        select: codes or their beginnings, of the rules that run; every rule when empty.
        ignore: codes or their beginnings, of the rules that do not run.
        per_file_ignores: such codes by a pattern of files, like `tests/*.md`.
        exclude: patterns of files and folders that are not checked.
        profiles: the name of a profile by a pattern of files, for files whose header has none.
        partials: the folder that `include`, `import` and `extends` read from.
        variables: the variables that a runtime gives, by name, with their scopes.
        only_declared: whether nothing but what is declared somewhere gives a variable.
        providers: the variables of the runtime's own providers, by provider and name, with
            their scopes.
        entry_points: whether the providers of installed packages count.
        tools: the names of the tools that there are; any when empty.
        limits: bounds, by the names of `cuecard.Limits`.
        path: the file of the settings.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    profiles: Mapping[str, str] = field(default_factory=dict)
    partials: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    only_declared: bool = False
    providers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    entry_points: bool = True
    tools: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    path: str | None = None

    @property
    def root(self) -> Path:
        """The folder that patterns and paths are relative to."""
        return Path(self.path).parent if self.path is not None else Path()

    def wants(self, code: str, path: str = "") -> bool:
        """Whether findings of a code are to be reported, in a file if one is given."""
        if self.select and not code.startswith(self.select):
            return False
        if self.ignore and code.startswith(self.ignore):
            return False
        return not any(
            code.startswith(codes) and self.matches(path, pattern)
            for pattern, codes in self.per_file_ignores.items()
        )

    def matches(self, path: str, pattern: str) -> bool:
        """Whether a file, or a folder that it is in, is of a pattern."""
        relative = os.path.relpath(path, self.root) if path else ""
        parts = Path(relative).parts
        beginnings = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        pattern = pattern.removesuffix("/")
        return any(fnmatch(each, pattern) for each in (*beginnings, *parts))

    def profile_name(self, path: str) -> str | None:
        """The name of the profile that is configured for a file."""
        for pattern, name in self.profiles.items():
            if self.matches(path, pattern):
                return name
        return None


def common_folder(paths: Iterable[str | os.PathLike[str]]) -> str:
    """The innermost folder that holds all of some files and folders; `-` is in the current one."""
    folders = []
    for path in paths:
        place = os.curdir if path == "-" else os.fspath(path)
        is_folder = "\0" not in place and os.path.isdir(place)
        folders.append(os.path.abspath(place if is_folder else os.path.dirname(place)))
    try:
        return os.path.commonpath(folders)
    except ValueError:  # there is none, or they are on several drives
        return os.getcwd()


def find_settings(start: str | os.PathLike[str] = ".") -> Settings:
    """The settings for files in a folder: those of the nearest folder above that has some.

    Raises:
        PromptError: a file of settings cannot be read (P801), or says what cannot be (P810).
    """
    folder = Path(start).absolute()
    for place in (folder, *folder.parents):
        for name in _FILES:
            file = place / name
            if file.is_file():
                table = read_table(file)
                if table is not None:
                    return _settings(table, file)
    return Settings()


def read_settings(path: str | os.PathLike[str]) -> Settings:
    """The settings in a file.

    Raises:
        PromptError: the file cannot be read (P801), or says what cannot be (P810).
    """
    file = Path(path)
    table = read_table(file)
    return Settings(path=str(file)) if table is None else _settings(table, file)


def _settings(table: Table, file: Path) -> Settings:
    settings = Settings(
        select=table.codes("select"),
        ignore=table.codes("ignore"),
        per_file_ignores=table.codes_by_pattern("per-file-ignores"),
        exclude=table.texts("exclude"),
        profiles=table.choices("profiles", PROFILES),
        partials=table.folder("partials"),
        variables=table.choices("variables", _SCOPES, "turn"),
        only_declared=table.flag("only-declared", False),
        providers=table.choices_by_name("providers", _SCOPES, "turn"),
        entry_points=table.flag("entry-points", True),
        tools=table.texts("tools"),
        limits=table.limits("limits"),
        path=str(file),
    )
    table.refuse_others()
    return settings

"""Settings of open files: those of the nearest folder, read again when they change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from ..errors import PromptError
from ..lint import Checker, Settings, find_settings

__all__ = ["SETTINGS_FILES", "Configured"]

SETTINGS_FILES = ("cuecard.toml", "pyproject.toml")

_Stamps = tuple[tuple[int, int], ...]


class _Known(NamedTuple):
    stamps: _Stamps
    checker: Checker
    error: PromptError | None


class Configured:
    """The checkers of folders. While a file of settings is faulty, the last good ones hold."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def checker(self, folder: str) -> Checker:
        """What checks the files of a folder; the same object until its settings change."""
        return self._of(folder).checker

    def error(self, folder: str) -> PromptError | None:
        """Why the settings of a folder cannot be read."""
        return self._of(folder).error

    def _of(self, folder: str) -> _Known:
        stamps = _stamps(folder)
        known = self._known.get(folder)
        if known is not None and known.stamps == stamps:
            return known
        error = None
        try:
            checker = Checker(find_settings(folder))
        except PromptError as failure:
            error = failure
            checker = known.checker if known is not None else Checker(Settings())
        known = self._known[folder] = _Known(stamps, checker, error)
        return known


def _stamps(folder: str) -> _Stamps:
    """What changes when a file of settings does, in a folder or above it."""
    place = Path(folder).absolute()
    return tuple(
        _stamp(os.path.join(above, name))
        for above in (place, *place.parents)
        for name in SETTINGS_FILES
    )


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return -1, -1
    return status.st_mtime_ns, status.st_size

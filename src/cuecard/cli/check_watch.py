"""`cuecard check --watch`: checks again when a file changes.

The files are looked at again and again: that needs nothing but the standard library, and
works on every file system.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ..lint import Settings, collect, common_folder
from .check_run import Run, check_once
from .output import print_line

__all__ = ["watch"]

_PAUSE = 0.3
_Stamps = dict[str, tuple[int, ...]]


def watch(options: argparse.Namespace, report: Callable[[Run], int]) -> int:
    """Check, and again whenever something has changed, until Ctrl-C.

    Args:
        options: the command's options.
        report: prints what a run found.
    """
    try:
        settings = Settings()
        while True:
            # Taken before the run, so that no change while it runs is missed.
            before = _stamps(options, settings)
            run = check_once(options)
            if run.settings != settings:
                settings = run.settings
                before = _stamps(options, settings)
            report(run)
            print_line("Watching for changes; Ctrl-C ends this.")
            while _stamps(options, settings) == before:
                time.sleep(_PAUSE)
    except KeyboardInterrupt:
        return 0


def _stamps(options: argparse.Namespace, settings: Settings) -> _Stamps:
    """What tells whether a file, the settings or a partial has changed."""
    return {path: _stamp(path) for path in _watched(options, settings)}


def _watched(options: argparse.Namespace, settings: Settings) -> Iterator[str]:
    yield from (target.path for target in collect(options.paths, settings))
    if options.config is not None:
        yield options.config
    else:
        here = Path(common_folder(options.paths))
        for folder in (here, *here.parents):
            yield from (str(folder / name) for name in ("cuecard.toml", "pyproject.toml"))
    if settings.partials is not None:
        yield from (str(path) for path in Path(settings.partials).rglob("*"))


def _stamp(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino

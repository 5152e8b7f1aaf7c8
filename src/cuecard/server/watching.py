"""Watching: agents are read again when their files change, once writing has come to rest."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from watchfiles import awatch

__all__ = ["watch"]

_logger = logging.getLogger("cuecard.server")

_REST_MS = 60
"""Milliseconds without a change after which files are read."""

_LOOK_MS = 5_000
_AGAIN_SECONDS = 2.0


async def watch(places: Iterable[Path], reload: Callable[[], Awaitable[None]]) -> None:
    """Have files read again whenever some changed, until it is cancelled.

    Where the system cannot tell of changes, the files are looked at every two seconds; and
    every five where it can, since what changed before it was asked is not told.

    Args:
        places: the files and folders.
        reload: reads them again.
    """
    folders = _folders(places)
    while True:
        try:
            async for _ in awatch(
                *folders, step=_REST_MS, rust_timeout=_LOOK_MS, yield_on_timeout=True
            ):
                await reload()
        except Exception as error:
            _logger.warning("files cannot be watched: `%s`", type(error).__name__)
        await asyncio.sleep(_AGAIN_SECONDS)
        try:
            await reload()
        except Exception as error:
            # Whatever is wrong with the files now, they may be mended.
            _logger.warning("files cannot be read: `%s`", type(error).__name__)


def _folders(places: Iterable[Path]) -> set[Path]:
    """Folders, also of single files: one that is replaced would not be seen any more."""
    return {path if path.is_dir() else path.parent for path in places}

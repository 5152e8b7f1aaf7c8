"""The surroundings: packages that the application has loaded, and its event loop.

What nobody has loaded cannot be in use, so nothing is imported to find out.
"""

from __future__ import annotations

import sys
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["in_trio", "loaded", "outcome_of"]

T = TypeVar("T")


def loaded(name: str) -> Any:
    """A module that the application has loaded; None when it has not, or not yet all of it.

    Args:
        name: the module's full name.
    """
    module = sys.modules.get(name)
    # Another thread may be in the middle of the import, as the import system itself notes.
    if getattr(getattr(module, "__spec__", None), "_initializing", False):
        return None
    return module


def in_trio() -> bool:
    """Whether this is a task of trio."""
    trio = loaded("trio")
    return trio is not None and bool(trio.lowlevel.in_trio_run())


async def outcome_of(future: Future[T]) -> T:
    """What a future of a thread returns or raises, in a task of asyncio or trio.

    A task that is cancelled leaves it at once.
    """
    if in_trio():
        return await _in_trio(future)
    import asyncio

    return await asyncio.wrap_future(future)


async def _in_trio(future: Future[T]) -> T:
    import trio

    done = trio.Event()
    token = trio.lowlevel.current_trio_token()

    def tell(_: object) -> None:
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(done.set)

    future.add_done_callback(tell)
    await done.wait()
    return future.result()

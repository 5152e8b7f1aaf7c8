"""Waiting in a task, of asyncio or trio, for what a thread does."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from ..runtime import in_trio

__all__ = ["outcome_of"]

T = TypeVar("T")


async def outcome_of(future: Future[T]) -> T:
    """What a future of a thread returns or raises; a cancelled task leaves it at once."""
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

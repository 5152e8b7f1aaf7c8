"""Running what blocks in a worker thread, under asyncio or trio."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from ..errors import MissingExtraError
from ..surroundings import loaded

__all__ = ["in_thread"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


async def in_thread(call: Callable[[*Ts], T], *arguments: *Ts, abandon: bool = False) -> T:
    """What a call returns or raises, made in a worker thread.

    Args:
        call: the function.
        arguments: what it is given.
        abandon: whether a cancelled task leaves the call to itself at once. Otherwise it is
            waited for, so that a write is known to be done or not, even when the task is
            cancelled before it begins, and by whatever means.

    Raises:
        MissingExtraError: anyio is not installed (P807).
    """
    try:
        from anyio import CancelScope, to_thread
    except ModuleNotFoundError:
        raise MissingExtraError(
            "async stores need the package `anyio`", hint="pip install 'cuecard[live]'"
        ) from None
    with CancelScope() as scope:
        scope.shield = not abandon
        if not abandon and _in_task_of_asyncio():
            return await _uninterrupted(call, *arguments)
        return await to_thread.run_sync(call, *arguments, abandon_on_cancel=abandon)
    raise AssertionError("the scope is never cancelled by itself")


def _in_task_of_asyncio() -> bool:
    asyncio = loaded("asyncio")
    try:
        return asyncio is not None and asyncio.current_task() is not None
    except RuntimeError:
        return False


async def _uninterrupted(call: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """The same in a task that nobody else knows, since `Task.cancel` heeds no scope."""
    import asyncio

    from anyio import to_thread

    made = asyncio.ensure_future(to_thread.run_sync(call, *arguments))
    interruption: asyncio.CancelledError | None = None
    while not made.done():
        try:
            await asyncio.wait([made])
        except asyncio.CancelledError as error:
            interruption = error
    if interruption is None or made.cancelled():
        return made.result()
    made.exception()  # what failed is seen by whoever looks, and nobody is left to
    raise interruption

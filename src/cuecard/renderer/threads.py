"""Threads: where an asynchronous render calls plain functions, so that its loop goes on."""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock, Thread
from typing import Any, TypeVar

from ..errors import MissingExtraError
from ..surroundings import loaded, outcome_of

__all__ = ["Threads", "load_anyio", "outer_context"]

R = TypeVar("R")

_MOST = 40
"""Calls that are waited for at once; as many as anyio has for a loop."""


class Threads:
    """Threads that calls are made in. Threads and event loops may share it.

    A call costs two rounds of the loop, where anyio's threads take four, and a loop that
    serves many requests has much to do in each. When very many wait, anyio has them queue.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0
        self._waiting = 0
        self._lock = Lock()

    async def call(self, function: Callable[..., R], *arguments: Any, apart: bool = False) -> R:
        """What a function returns or raises; a cancelled task leaves it to itself at once.

        Args:
            function: the function.
            arguments: what it is given.
            apart: whether it has a thread of its own, which the end of the process does not
                wait for.
        """
        pool = self._entered()
        if pool is None:
            anyio = load_anyio()
            queued: R = await anyio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True)
            return queued
        try:
            submit = _apart if apart else pool.submit
            future: Future[R] = submit(outer_context().run, function, *arguments)
            try:
                return await outcome_of(future)
            finally:
                future.cancel()
        finally:
            with self._lock:
                self._waiting -= 1

    def _entered(self) -> ThreadPoolExecutor | None:
        with self._lock:
            if self._pool is None or self._process != os.getpid():
                # A process that was forked has the pool, but not its threads. A thread that
                # never comes back takes no place from others: nothing is queued in here.
                self._pool = ThreadPoolExecutor(1 << 30, "cuecard-provider")
                self._process, self._waiting = os.getpid(), 0
            if self._waiting >= _MOST:
                return None
            self._waiting += 1
            return self._pool


def _apart(function: Callable[..., R], *arguments: Any) -> Future[R]:
    future: Future[R] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = function(*arguments)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    Thread(target=run, name="cuecard-provider-apart", daemon=True).start()
    return future


def outer_context() -> contextvars.Context:
    """A copy of the context, for a thread in which no event loop runs."""
    context = contextvars.copy_context()
    sniffio = loaded("sniffio")
    if sniffio is not None:
        context.run(sniffio.current_async_library_cvar.set, None)
    return context


def load_anyio() -> Any:
    """The module `anyio`.

    Raises:
        MissingExtraError: it is not installed (P807).
    """
    try:
        import anyio
        import anyio.to_thread
    except ImportError as error:
        raise MissingExtraError(
            "asynchronous providers need the package `anyio`",
            hint="pip install 'cuecard[live]'",
        ) from error
    return anyio

"""Isolation: renders in worker processes, so that what a template breaks is one call."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import lru_cache
from types import TracebackType
from typing import Any, Self

import msgspec

from ..errors import ContextError, FallbackWarning, PromptError, TemplateLimitError
from ..profile import STRICT, Profile
from ..surroundings import outcome_of
from .failures import BAD_ANSWER, MEMORY, Lost, LostError, error_of, loss
from .given import ANY, given, plain
from .pool import Pool, Rules, Ticket
from .wire import HEADER, Answer, Ask, Settings, packed, text_of

__all__ = ["Isolation"]

_RENDER = "cuecard.isolation.work:render"
_ALARM = 1.0
"""Seconds beyond the time of a call after which it ends even if nobody waits for it."""


class Isolation:
    """Worker processes that render the templates of strangers.

    A crash, a hang or a bomb in a template costs its own call an error. Threads and tasks
    share one `Isolation`; their calls wait in line. It starts its workers at once, in the
    background, and `close`, or leaving a `with` block, ends them.

    Args:
        workers: calls that are served at the same time.
        memory: bytes that a worker may map beyond what it needs to begin with.
        seconds: wall clock time of a call, not counting the wait for a worker.
        spare: workers that stand ready for the place of one that is lost.
        recycle: calls after which a worker is replaced. With 1 each call has a process of
            its own.
        max_waiting: calls that may wait for a worker; more are refused with P120. None is
            no bound.
        request: bytes of a call: the template, and all of its context.
        answer: bytes of an answer.
        preload: modules that workers import before they are ready, and that are no part of
            `memory`: those of the operations that `call` is to make.

    Raises:
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        workers: int = 2,
        *,
        memory: int = 512 << 20,
        seconds: float = 1.0,
        spare: int = 1,
        recycle: int = 1_000,
        max_waiting: int | None = None,
        request: int = 32 << 20,
        answer: int = 32 << 20,
        preload: Iterable[str] = (),
    ) -> None:
        _check(workers=workers, memory=memory, recycle=recycle, request=request, answer=answer)
        if not 0 < seconds < 1 << 20:
            raise ValueError("`seconds` must be above 0")
        if spare < 0 or (max_waiting is not None and max_waiting < 0):
            raise ValueError("`spare` and `max_waiting` must not be below 0")
        self._seconds = seconds
        self._memory = memory
        self._request = request
        self._workers = workers
        settings = Settings(memory, seconds + _ALARM, answer, tuple(preload))
        self._pool = Pool(settings, Rules(workers, spare, seconds, recycle, max_waiting))
        self._threads = ThreadPoolExecutor(workers, "cuecard-isolation-call")
        # Without a reference to this object, which could otherwise never be collected.
        self._end = weakref.finalize(self, _close, self._pool, self._threads)

    def __repr__(self) -> str:
        return f"Isolation(workers={self._workers})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pids(self) -> list[int]:
        """Numbers of the worker processes that there are now, also of those that start."""
        return self._pool.pids

    def close(self) -> None:
        """End all workers. Calls that wait or are served fail with P119. May be repeated."""
        self._end()

    # rendering -----------------------------------------------------------------------------------

    def render(
        self, template: str, context: Any = None, *, profile: Profile = STRICT, name: str = "system"
    ) -> str:
        """Render a template in a worker. Partials are not to be had there.

        Args:
            template: the template's text.
            context: as for `cuecard.render`. All of it is sent, as plain data.
            profile: how the template is read and rendered.
            name: what errors call the template.

        Returns:
            The text that `cuecard.render` gives.

        Raises:
            PromptError: as `cuecard.render`; or the render took too long (P117), took too
                much memory (P118), lost its process (P119) or had to wait with too many
                others (P120).
        """
        frame = self._render_frame(template, context, profile, name)
        return _text(self._value(self._answer(frame), name))

    async def arender(
        self, template: str, context: Any = None, *, profile: Profile = STRICT, name: str = "system"
    ) -> str:
        """As `render`, under asyncio or trio."""
        frame = self._render_frame(template, context, profile, name)
        return _text(self._value(await self._aanswer(frame), name))

    def call(self, operation: str, data: Any = None, *, name: str | None = None) -> Any:
        """Have a worker call a function.

        Args:
            operation: the function as `module:function`. It gets `data`, and returns plain
                data; what it raises is raised here, if it is a `PromptError`. Which one is
                called is for the program to say, never for a stranger.
            data: plain data.
            name: what errors call the template that it is about.

        Returns:
            What the function returned, tuples as lists.

        Raises:
            PromptError: as `render`; or the function raised another error (P206).
        """
        return self._value(self._answer(self._frame(operation, data)), name)

    async def acall(self, operation: str, data: Any = None, *, name: str | None = None) -> Any:
        """As `call`, under asyncio or trio. A task that is cancelled ends the worker."""
        return self._value(await self._aanswer(self._frame(operation, data)), name)

    # frames --------------------------------------------------------------------------------------

    def _render_frame(self, template: str, context: Any, profile: Profile, name: str) -> bytes:
        if not isinstance(template, str):
            raise TypeError(f"expected a template of type `str`, got `{type(template).__name__}`")
        if not isinstance(profile, Profile):
            raise TypeError(f"expected a `Profile`, got `{type(profile).__name__}`")
        if len(template) > self._request:
            raise TemplateLimitError(
                f"the source is longer than {self._request:,} bytes", code="P110", template=name
            )
        call = text_of(template), _packed_profile(profile), text_of(name)
        return self._frame(_RENDER, [*call, *given(context, profile)])

    def _frame(self, operation: str, data: Any) -> bytes:
        try:
            frame = packed(Ask(operation, data))
        except (OverflowError, TypeError, ValueError, RecursionError):
            # What the encoder does not know, the freezer may; it names what neither does.
            frame = packed(Ask(operation, plain(data, ANY)))
        if len(frame) - HEADER > self._request:
            raise ContextError(
                f"the context takes more than {self._request:,} bytes",
                code="P704",
                hint="pass only what the template needs, or raise `request`",
            )
        return frame

    # answers -------------------------------------------------------------------------------------

    def _answer(self, frame: bytes) -> Answer | Lost:
        self._pool.enter()
        try:
            return self._run(frame, Ticket())
        finally:
            self._pool.leave()

    async def _aanswer(self, frame: bytes) -> Answer | Lost:
        ticket = Ticket()
        self._pool.enter()
        try:
            future = self._threads.submit(self._run, frame, ticket)
        except BaseException:
            self._pool.leave()
            raise
        future.add_done_callback(lambda _: self._pool.leave())
        try:
            return await outcome_of(future)
        except BaseException:
            # Cancelled, as a rule; for a call that has failed by itself it does nothing.
            future.cancel()
            self._pool.cancel(ticket)
            raise

    def _run(self, frame: bytes, ticket: Ticket) -> Answer | Lost:
        try:
            return self._pool.run(frame, ticket)
        except LostError as error:
            return error.lost

    def _value(self, answer: Answer | Lost, name: str | None) -> Any:
        if isinstance(answer, Lost):
            raise loss(answer, self._seconds, self._memory, name)
        for message in answer.warnings:
            warnings.warn(message, FallbackWarning, stacklevel=3)
        failure = answer.failure
        if failure is None:
            return answer.value
        error = error_of(failure)
        if error is None:
            lost = Lost(MEMORY) if failure.kind == MEMORY else Lost("process", BAD_ANSWER)
            error = loss(lost, self._seconds, self._memory, name)
        raise error


def _close(pool: Pool, threads: ThreadPoolExecutor) -> None:
    pool.close()
    threads.shutdown(wait=False, cancel_futures=True)


def _check(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"`{name}` must be a whole number above 0")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise PromptError("the worker process answered with no text", code="P119")
    return value


@lru_cache(maxsize=64)
def _packed_profile(profile: Profile) -> bytes:
    return msgspec.msgpack.encode(asdict(profile))

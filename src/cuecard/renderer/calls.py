"""Calls of providers: one flow asks for them, a plain and an asynchronous loop carry them out.

A flow is a generator without I/O. It yields the calls that it needs next, gets their
outcomes, and returns the result of the render.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import Any, NamedTuple, TypeVar

from ..providers import ProviderRequest, Registered
from ..surroundings import in_trio
from .telemetry import provider_span
from .threads import Threads, load_anyio, outer_context

__all__ = ["Call", "Flow", "Outcome", "call_in_place", "call_now", "drive", "drive_async"]

R = TypeVar("R")


class Call(NamedTuple):
    """A call of a provider: for its variables, or for its stamp; in a span when traced."""

    provider: Registered
    request: ProviderRequest
    timeout: float | None
    stamp: bool = False
    traced: bool = True

    @property
    def is_async(self) -> bool:
        """Whether what a plain render calls is a coroutine function."""
        return self.provider.is_stamp_async if self.stamp else self.provider.is_async

    @property
    def async_function(self) -> Callable[[ProviderRequest], Any] | None:
        """What an asynchronous render calls, if it is a coroutine function."""
        provider = self.provider
        if self.stamp:
            if provider.astamp is not None:
                return provider.astamp
            return provider.stamp if provider.is_stamp_async else None
        if provider.acontribute is not None:
            return provider.acontribute
        return provider.contribute if provider.is_async else None


class Outcome(NamedTuple):
    """What came of a call: a value, or the exception; and the seconds that it took."""

    value: Any = None
    error: Exception | None = None
    seconds: float = 0.0


Flow = Generator[Sequence[Call], Sequence[Outcome], R]


def call_in_place(call: Call) -> Outcome | Call:
    """Make a call in place; or what is left to make when it needs a loop or a clock."""
    if call.timeout is not None or call.is_async:
        return call
    outcome = call_now(call)
    if type(outcome.value) is dict or not inspect.isawaitable(outcome.value):
        return outcome
    return call._replace(provider=_awaiting(call.provider, outcome.value))


def call_now(call: Call) -> Outcome:
    """Make a call in place."""
    provider, request, _, stamp, traced = call
    function = provider.stamp if stamp and provider.stamp else provider.contribute
    start = time.perf_counter()
    try:
        if traced:
            with provider_span(provider.name):
                value = function(request)
        else:
            value = function(request)
    except Exception as error:
        return Outcome(None, error, time.perf_counter() - start)
    return Outcome(value, None, time.perf_counter() - start)


# plain -----------------------------------------------------------------------------------------


def drive(flow: Flow[R]) -> R:
    """Carry a flow out: calls one after another, coroutines of one group at the same time."""
    return _drive(flow, _make_calls)


def _drive(flow: Flow[R], make: Callable[[Sequence[Call]], Sequence[Outcome]]) -> R:
    try:
        calls = next(flow)
        while True:
            calls = flow.send(make(calls))
    except StopIteration as end:
        result: R = end.value
        return result
    finally:
        flow.close()


def _make_calls(calls: Sequence[Call]) -> list[Outcome]:
    outcomes = [Outcome()] * len(calls)
    waiting: list[int] = []
    for index, call in enumerate(calls):
        if call.is_async:
            waiting.append(index)
        elif call.timeout is not None:
            outcomes[index] = _call_in_time(call)
        else:
            outcomes[index] = _settled(call_now(call), call)
    if waiting:
        found = _run_async([calls[index] for index in waiting])
        for index, outcome in zip(waiting, found, strict=True):
            outcomes[index] = outcome
    return outcomes


def _settled(outcome: Outcome, call: Call) -> Outcome:
    """The outcome of a plain function that returned an awaitable: what that gives."""
    if type(outcome.value) is dict or not inspect.isawaitable(outcome.value):
        return outcome
    return _run_async([call._replace(provider=_awaiting(call.provider, outcome.value))])[0]


def _awaiting(provider: Registered, awaitable: Awaitable[Any]) -> Registered:
    async def wait(request: ProviderRequest) -> Any:
        return await awaitable

    return provider._replace(
        contribute=wait,
        acontribute=wait,
        stamp=wait,
        astamp=wait,
        is_async=True,
        is_stamp_async=True,
    )


def _call_in_time(call: Call) -> Outcome:
    """Make a call in a thread, which is left to itself when its time is over."""
    start = time.perf_counter()
    outcomes = _in_thread(lambda: call_now(call), call.provider.name, call.timeout)
    if outcomes:
        return _settled(outcomes[0], call)
    return Outcome(None, TimeoutError(), time.perf_counter() - start)


def _in_thread(function: Callable[[], R], name: str, timeout: float | None = None) -> list[R]:
    """What a function returns in a thread of its own; nothing when its time is over.

    What it raises is raised here, so that an interruption goes through.
    """
    import threading

    returned: list[R] = []
    raised: list[BaseException] = []
    context = outer_context()

    def run() -> None:
        try:
            returned.append(context.run(function))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name=f"cuecard-{name}", daemon=True)
    thread.start()
    thread.join(None if timeout is None else min(timeout, threading.TIMEOUT_MAX))
    if raised:
        raise raised[0]
    return returned


def _run_async(calls: Sequence[Call]) -> list[Outcome]:
    """Make asynchronous calls in an event loop of their own."""
    anyio = load_anyio()

    def run() -> list[Outcome]:
        found: list[Outcome] = anyio.run(_make_calls_async, calls, Threads())
        return found

    # A loop that runs in this thread cannot run another.
    return _in_thread(run, "loop")[0] if _in_event_loop() else run()


def _in_event_loop() -> bool:
    import asyncio

    if in_trio():
        return True
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


# asynchronous ------------------------------------------------------------------------------------


async def drive_async(flow: Flow[R], threads: Threads) -> R:
    """Carry a flow out under asyncio or trio: coroutines of one group at the same time.

    Args:
        flow: what asks for the calls.
        threads: where plain functions are called.
    """
    try:
        calls = next(flow)
        while True:
            calls = flow.send(await _make_calls_async(calls, threads))
    except StopIteration as end:
        result: R = end.value
        return result
    finally:
        flow.close()


async def _make_calls_async(calls: Sequence[Call], threads: Threads) -> list[Outcome]:
    plain = [index for index, call in enumerate(calls) if call.async_function is None]
    # A task more is two rounds more of a loop, which may have much else to do in each.
    if len(calls) == 1 and not plain:
        return [await _await_call(calls[0])]
    if len(plain) == len(calls):
        return [await _call_in_thread(call, threads) for call in calls]
    anyio = load_anyio()
    outcomes = [Outcome()] * len(calls)

    async def await_one(index: int) -> None:
        outcomes[index] = await _await_call(calls[index])

    async def call_plain_ones() -> None:
        # One after another, as a plain render calls them.
        for index in plain:
            outcomes[index] = await _call_in_thread(calls[index], threads)

    try:
        async with anyio.create_task_group() as group:
            for index in range(len(calls)):
                if index not in plain:
                    group.start_soon(await_one, index)
            if plain:
                group.start_soon(call_plain_ones)
    except BaseExceptionGroup as several:
        # Failures of providers are outcomes. This is an interruption, and goes through.
        rest = several.split(anyio.get_cancelled_exc_class())[1] or several
        raise rest.exceptions[0] from None
    return outcomes


async def _await_call(call: Call) -> Outcome:
    function = call.async_function
    assert function is not None
    start = time.perf_counter()
    try:
        with provider_span(call.provider.name):
            value = await _in_time(lambda: function(call.request), call.timeout)
    except Exception as error:
        return Outcome(None, error, time.perf_counter() - start)
    return Outcome(value, None, time.perf_counter() - start)


async def _in_time(begin: Callable[[], Awaitable[Any]], timeout: float | None) -> Any:
    if timeout is None:
        return await begin()
    with load_anyio().fail_after(timeout):
        return await begin()


async def _call_in_thread(call: Call, threads: Threads) -> Outcome:
    start = time.perf_counter()
    try:
        # What has a limit may never come back.
        outcome: Outcome = await _in_time(
            lambda: threads.call(call_now, call, apart=call.timeout is not None), call.timeout
        )
    except (TimeoutError, RuntimeError) as error:  # its time is over, or there is no thread
        return Outcome(None, error, time.perf_counter() - start)
    if inspect.isawaitable(outcome.value):
        return await _await_call(call._replace(provider=_awaiting(call.provider, outcome.value)))
    return outcome

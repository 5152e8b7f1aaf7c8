"""A worker process: reads calls from its standard input, writes answers to its output.

It ends when its input ends, or its parent is another process than the one that started it:
a program that is killed leaves no worker behind. While it works it cannot look, so an alarm
of the operating system ends a call that takes too long even then.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

from ..errors import FallbackWarning, PromptError, TemplateLimitError
from .failures import MEMORY, failure_of
from .given import ANY, plain
from .limits import Memory, set_limits
from .pipes import receive
from .wire import HEADER, Answer, Ask, Failure, Settings, mended, packed, unpacker

__all__ = ["main"]

_LOOKS = 10_000
"""Milliseconds between looks at who the parent is."""

# What explains a failure is loaded when it is needed, and might not find the memory then.
_NEEDED = (
    *("cuecard.compiler.failure", "cuecard.compiler.faults", "cuecard.compiler.syntax_faults"),
    *("cuecard.isolation.work", "concurrent.futures.thread"),
    *("datetime", "decimal", "difflib", "json", "uuid"),
)


def main() -> NoReturn:
    """Serve calls until the parent goes away."""
    parent = os.getppid()
    given, taken = _take_pipes()
    settings: Settings = unpacker(Settings).decode(_read(given, parent))
    for module in (*_NEEDED, *settings.preload):
        import_module(module)
    _restore_signals()
    memory = set_limits(settings.memory)
    _write(taken, packed(os.getpid()))
    decode = unpacker(Ask).decode
    while True:
        frame = _read(given, parent)
        _alarm(settings.alarm)
        answer = _framed(_answer(decode, frame), memory, settings.answer)
        _alarm(0.0)
        _write(taken, answer)
        del frame, answer


def _take_pipes() -> tuple[int, int]:
    """The pipes under numbers that nothing else prints to or reads from."""
    given, taken = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    # Only what is no Python, such as the engine that runs out of memory, says its last words.
    sys.stderr = sys.stdout
    if os.name != "nt":
        # What it says is read when it has ended; until then too much is dropped.
        os.set_blocking(2, False)
    return given, taken


def _restore_signals() -> None:
    if hasattr(signal, "setitimer"):
        # The program that started this one may have had its own way with signals.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())


if hasattr(signal, "setitimer"):

    def _alarm(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds)

else:

    def _alarm(seconds: float) -> None:
        """There is no such alarm; the parent's clock has to do."""


def _read(pipe: int, parent: int) -> bytes:
    _await(pipe, parent)
    try:
        return receive(lambda: os.read(pipe, 1 << 16), 1 << 32)
    except EOFError:
        os._exit(0)


def _await(pipe: int, parent: int) -> None:
    if not hasattr(select, "poll"):
        return
    poll = _poll(pipe)
    while not poll.poll(_LOOKS):
        if os.getppid() != parent:
            os._exit(0)


@cache
def _poll(pipe: int) -> Any:
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return poll


def _write(pipe: int, frame: bytes) -> None:
    view = memoryview(frame)
    try:
        while view:
            view = view[os.write(pipe, view) :]
    except BrokenPipeError:
        os._exit(0)


def _answer(decode: Callable[[bytes], Ask], frame: bytes) -> Answer:
    name = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", FallbackWarning)
        try:
            ask = decode(frame)
            name = ask.operation
            answer = Answer(_operation(name)(ask.data))
        except MemoryError:
            return Answer(failure=Failure(MEMORY), worn=True)
        except PromptError as error:
            if _lacked_memory(error):
                return Answer(failure=Failure(MEMORY), worn=True)
            answer = Answer(failure=failure_of(error))
        except BaseException as error:
            # Its words may hold values.
            answer = Answer(failure=_unexpected(name, error), worn=not isinstance(error, Exception))
    answer.warnings = tuple(str(found.message) for found in caught)
    return answer


def _lacked_memory(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, MemoryError):
        error = error.__cause__ or error.__context__
    return error is not None


def _unexpected(name: str, error: BaseException) -> Failure:
    return failure_of(PromptError(f"`{name}` raised `{type(error).__name__}`", code="P206"))


@cache
def _operation(name: str) -> Callable[[Any], Any]:
    module, _, function = name.partition(":")
    operation: Callable[[Any], Any] = getattr(import_module(module), function)
    return operation


def _framed(answer: Answer, memory: Memory, most: int) -> bytes:
    try:
        answer.worn = answer.worn or memory.is_worn()
        frame = _packed(answer)
        if len(frame) - HEADER <= most:
            return frame
        answer.failure = failure_of(
            TemplateLimitError(
                f"the answer is longer than {most:,} bytes",
                code="P115",
                hint="make less of it, or raise `answer`",
            )
        )
    except MemoryError:
        answer.failure, answer.worn = Failure(MEMORY), True
    except Exception as error:
        answer.failure = _unexpected("the answer", error)
    answer.value = None
    return packed(answer)


def _packed(answer: Answer) -> bytes:
    try:
        return packed(answer)
    except UnicodeEncodeError:
        return packed(mended(answer))
    except (OverflowError, TypeError):
        answer.value = plain(answer.value, ANY)
        return packed(answer)

"""Pipes to a worker: a frame out, a frame back, and a clock on both.

Where pipes can be polled, nothing that a worker does or leaves undone holds its caller
longer than agreed. On Windows they cannot be: there a timer ends the process, and with it
whatever waits for it.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol

from .wire import HEADER

__all__ = ["BlockingPipes", "Pipes", "PolledPipes", "pipes_for"]

_MOST_AT_ONCE = 1 << 16


class Pipes(Protocol):
    """The two pipes of a worker.

    Both methods raise `TimeoutError` when time is up, `EOFError` when the worker has closed
    a pipe, and `ValueError` for what is no frame or too large a one.
    """

    def exchange(self, frame: bytes, ends: float) -> bytes:
        """Send a frame, if it is not empty, and receive one, without its header.

        Args:
            frame: what to send, with its header.
            ends: the time, as `time.monotonic` tells it, at which to give up.
        """
        ...

    def is_quiet(self) -> bool:
        """Whether nothing is to be read, as far as that can be seen without waiting."""
        ...


def pipes_for(into: int, out: int, most: int, kill: Callable[[], None]) -> Pipes:
    """The pipes of a worker, as this system can use them.

    Args:
        into: what the worker reads from.
        out: what it writes to.
        most: bytes of the largest frame to receive.
        kill: ends the worker.
    """
    if hasattr(select, "poll"):
        return PolledPipes(into, out, most)
    return BlockingPipes(into, out, most, kill)


class PolledPipes:
    """Pipes that never block for longer than agreed. See `Pipes`."""

    def __init__(self, into: int, out: int, most: int) -> None:
        self._into, self._out, self._most = into, out, most
        os.set_blocking(into, False)
        os.set_blocking(out, False)
        self._writable, self._readable = select.poll(), select.poll()
        self._writable.register(into, select.POLLOUT)
        self._readable.register(out, select.POLLIN)

    def is_quiet(self) -> bool:
        """See `Pipes`."""
        return not self._readable.poll(0)

    def exchange(self, frame: bytes, ends: float) -> bytes:
        """See `Pipes`."""
        view = memoryview(frame)
        while view:
            try:
                view = view[os.write(self._into, view) :]
            except BlockingIOError:
                _wait(self._writable, ends)
            except BrokenPipeError:
                raise EOFError from None
        return receive(self._read_by(ends), self._most)

    def _read_by(self, ends: float) -> Callable[[], bytes]:
        def read() -> bytes:
            _wait(self._readable, ends)
            return os.read(self._out, _MOST_AT_ONCE)

        return read


def _wait(poll: Any, ends: float) -> None:
    left = ends - monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise TimeoutError


class BlockingPipes:
    """Pipes that cannot be polled: a timer kills the worker when time is up. See `Pipes`."""

    def __init__(self, into: int, out: int, most: int, kill: Callable[[], None]) -> None:
        self._into, self._out, self._most, self._kill = into, out, most, kill
        self._is_late = False

    def is_quiet(self) -> bool:
        """See `Pipes`."""
        return True

    def exchange(self, frame: bytes, ends: float) -> bytes:
        """See `Pipes`."""
        timer = threading.Timer(max(0.0, ends - monotonic()), self._expire)
        timer.start()
        try:
            view = memoryview(frame)
            while view:
                view = view[os.write(self._into, view) :]
            return receive(lambda: os.read(self._out, _MOST_AT_ONCE), self._most)
        except (OSError, EOFError):
            raise (TimeoutError if self._is_late else EOFError) from None
        finally:
            timer.cancel()

    def _expire(self) -> None:
        self._is_late = True
        self._kill()


def receive(read: Callable[[], bytes], most: int) -> bytes:
    """The frame that a peer sends, without its header, when it may send nothing after it.

    Args:
        read: reads some bytes, at least one; none when the peer has gone.
        most: bytes of the largest frame.

    Raises:
        EOFError: the peer has gone.
        ValueError: the frame is too large, or something follows it.
    """
    part = _some(read)
    while len(part) < HEADER:
        part += _some(read)
    size = int.from_bytes(part[:HEADER], "big")
    if size > most:
        raise ValueError("too large")
    parts, left = [part[HEADER:]], size - len(part) + HEADER
    while left > 0:
        part = _some(read)
        parts.append(part)
        left -= len(part)
    if left < 0:
        raise ValueError("more than a frame")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _some(read: Callable[[], bytes]) -> bytes:
    part = read()
    if not part:
        raise EOFError
    return part

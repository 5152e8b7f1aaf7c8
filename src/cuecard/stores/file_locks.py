"""Locks that processes and threads share, as locked files."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["file_lock"]

_LONGEST_PAUSE = 0.02


@contextmanager
def file_lock(path: str, timeout: float) -> Iterator[None]:
    """Hold the lock of a file, which is made when it is missing, and stays.

    Args:
        path: the file.
        timeout: seconds to wait for whoever holds it.

    Raises:
        TimeoutError: it is still held by then.
        OSError: the file cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        deadline = time.monotonic() + timeout
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                raise TimeoutError
            # Pauses of one length would let the same writer win again and again.
            time.sleep(random.uniform(0.001, _LONGEST_PAUSE))
        try:
            yield
        finally:
            _unlock(descriptor)
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        # A process that was forked meanwhile holds the file too: closing it is not enough.
        fcntl.flock(descriptor, fcntl.LOCK_UN)

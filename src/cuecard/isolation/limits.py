"""Limits that the operating system puts on a worker, set by the worker before any call."""

from __future__ import annotations

import os
import sys

__all__ = ["Memory", "set_limits"]

_FILES = 32
_STATUS = "/proc/self/statm"


class Memory:
    """The memory that this process may map, and whether much of it is in use.

    Args:
        memory: bytes beyond what is mapped now.
    """

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._status: int | None = None
        if os.path.exists(_STATUS):
            self._page = os.sysconf("SC_PAGE_SIZE")
            self._status = os.open(_STATUS, os.O_RDONLY | os.O_CLOEXEC)
        self._base = self._mapped()

    @property
    def limit(self) -> int:
        """Bytes that may be mapped in all."""
        return self._base + self._memory

    def _mapped(self) -> int:
        if self._status is not None:
            return int(os.pread(self._status, 64, 0).split()[0]) * self._page
        if sys.platform == "win32":
            return 0
        import resource

        # Kilobytes, but for macOS; the most that there ever was.
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale

    def is_worn(self) -> bool:
        """Whether less than three quarters of the memory are left for the next call."""
        return self._mapped() - self._base > self._memory // 4


def set_limits(memory: int) -> Memory:
    """Bound this process, as far as its system can.

    Args:
        memory: bytes that it may map beyond what it has mapped now.
    """
    sys.dont_write_bytecode = True
    known = Memory(memory)
    if sys.platform == "win32":
        return known
    import resource

    def bound(what: int, most: int) -> None:
        hard = resource.getrlimit(what)[1]
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        resource.setrlimit(what, (most, most))

    bound(resource.RLIMIT_CORE, 0)
    bound(resource.RLIMIT_FSIZE, 0)
    bound(resource.RLIMIT_NOFILE, _FILES)
    if sys.platform != "darwin":
        # Where it exists, but is not kept, setting it below what is mapped is an error.
        bound(resource.RLIMIT_AS, known.limit)
    return known

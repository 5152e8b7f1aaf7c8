"""Operations for workers, most of which do to a worker what a template should not be able to."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import cuecard

Data = Any
_ANSWER_PIPE = 4
"""The number under which a worker keeps the pipe for its answers."""


def echo(data: Data) -> Data:
    return data


def pid(data: Data) -> int:
    return os.getpid()


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def mark_and_sleep(data: Data) -> None:
    """Say that the call has begun, by ending a process that waits for that, then hang."""
    os.kill(data, signal.SIGTERM)
    time.sleep(60)


def spin(data: Data) -> None:
    """Hold the interpreter for a long time."""
    sum(range(10**12))


def segfault(data: Data) -> None:
    ctypes.string_at(0)


def leave(status: int) -> None:
    os._exit(status)


def abort(data: Data) -> None:
    os.abort()


def kill_itself(data: Data) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def allocate(size: int) -> int:
    return len(bytearray(size))


def hoard(size: int) -> None:
    """Keep memory for ever, as a leak would."""
    _hoarded.append(bytearray(b"x") * size)


def raise_(name: str) -> None:
    raise getattr(__import__("builtins"), name)("a value of the context")


def raise_error(name: str) -> None:
    raise getattr(cuecard, name)("message", code="P301", hint="hint", template="file")


def warn(data: Data) -> str:
    warnings.warn("first", cuecard.FallbackWarning, stacklevel=1)
    warnings.warn("not this one", UserWarning, stacklevel=1)
    warnings.warn("second", cuecard.FallbackWarning, stacklevel=1)
    return "warned"


def print_much(data: Data) -> str:
    for stream in (sys.stdout, sys.stderr):
        stream.write("text" * 100_000)
        stream.flush()
    return "printed"


def write_raw(data: bytes) -> None:
    """Write to the pipe of answers, and hang."""
    os.write(_ANSWER_PIPE, data)
    time.sleep(60)


def write_later(data: bytes) -> str:
    """Answer as it should be, and write what nobody asked for a moment later."""
    if os.fork() == 0:
        time.sleep(0.05)
        os.write(_ANSWER_PIPE, data)
        os._exit(0)
    return "answered"


def close_pipe(data: Data) -> None:
    os.close(_ANSWER_PIPE)
    time.sleep(60)


def child(data: Data) -> int:
    """Start a process that would stay."""
    return subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL).pid


def write_file(path: str) -> str:
    try:
        Path(path).write_text("text")
    except OSError as error:
        return type(error).__name__ + ":" + (error.strerror or "")
    return "written"


def open_many(path: str) -> int:
    """How many files can be open beside those that are."""
    files: list[int] = []
    try:
        while len(files) < 1000:
            files.append(os.open(path, os.O_RDONLY))
    except OSError:
        pass
    for file in files:
        os.close(file)
    return len(files)


def is_loaded(module: str) -> bool:
    return module in sys.modules


def about_itself(data: Data) -> dict[str, Any]:
    import resource

    limits = {
        name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[0]
        for name in ("CORE", "FSIZE", "NOFILE", "AS")
    }
    return {
        "environment": sorted(os.environ),
        "folder": os.getcwd(),
        "limits": limits,
        "descriptors": sorted(map(int, os.listdir("/proc/self/fd")))[:-1],
        "session": os.getsid(0) == os.getpid(),
    }


_hoarded: list[bytearray] = []

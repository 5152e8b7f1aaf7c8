"""The seam to the machine: one child process, with bounds on its time and on what it says."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

__all__ = ["Answer", "ask"]

_MOST_BYTES = 64 << 10
_GRACE = 0.5
"""Seconds to wait for a child that was killed."""


class Answer(NamedTuple):
    """What a child printed, and why there is no more of it, if that is known."""

    output: bytes
    failure: str | None = None


def ask(command: Sequence[str], given: bytes, until: bytes, timeout: float) -> Answer:
    """What a command prints up to some last words. It and its children are ended then.

    Args:
        command: the program and its arguments.
        given: its standard input.
        until: the last words.
        timeout: seconds that all may take.
    """
    ends = monotonic() + timeout
    try:
        child = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # A session of its own: no terminal to ask questions at, and one group to kill.
            start_new_session=True,
        )
    except (FileNotFoundError, NotADirectoryError, PermissionError, IndexError, ValueError):
        return Answer(b"", "no such shell")
    except OSError:
        return Answer(b"", "the shell did not start")
    try:
        answer = _converse(child, given, until, ends)
    except OSError:
        answer = Answer(b"", "the shell cannot be read")
    finally:
        status = _end(child)
    if answer.failure or answer.output.endswith(until):
        return answer
    return Answer(answer.output, _ending(status))


def _converse(child: subprocess.Popen[bytes], given: bytes, until: bytes, ends: float) -> Answer:
    assert child.stdin is not None
    assert child.stdout is not None
    output = bytearray()
    os.set_blocking(child.stdin.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdin, selectors.EVENT_WRITE)
        selector.register(child.stdout, selectors.EVENT_READ)
        while not output.endswith(until):
            left = ends - monotonic()
            if left <= 0:
                return Answer(bytes(output), "timed out")
            for key, _ in selector.select(left):
                if key.fd != child.stdout.fileno():
                    given = _send(key.fd, given)
                    if not given:
                        selector.unregister(child.stdin)
                        child.stdin.close()
                    continue
                read = os.read(key.fd, _MOST_BYTES)
                if not read:
                    return Answer(bytes(output))
                output += read
                if len(output) > _MOST_BYTES:
                    return Answer(bytes(output[:_MOST_BYTES]), "too much output")
    return Answer(bytes(output))


def _send(pipe: int, given: bytes) -> bytes:
    """What is still to be sent after a write, which is nothing if nobody reads it."""
    try:
        return given[os.write(pipe, given) :]
    except BlockingIOError:
        return given
    except BrokenPipeError:
        return b""


def _end(child: subprocess.Popen[bytes]) -> int | None:
    """End a child and its group; the status that it ended with, None if it does not end."""
    # The group is killed before the child is waited for: until then nobody else can have
    # its number. It may not be killed when the shell works for another user.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    with suppress(subprocess.TimeoutExpired):
        return child.wait(_GRACE)
    return None


def _ending(status: int | None) -> str:
    """How a child ended that has closed its output too early."""
    if status is None or status in (0, -signal.SIGKILL):
        return "unexpected output"
    return f"exit code {status}" if status > 0 else f"ended by signal {-status}"

"""Processes: a worker as its parent sees it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from time import monotonic, sleep

import msgspec

from .failures import BAD_ANSWER, Lost, LostError, lost_by
from .pipes import pipes_for
from .wire import Answer, Settings, packed, unpacker

__all__ = ["Worker"]

_GRACE = 0.5
"""Seconds for a process to end after it closed its pipes, before it is killed."""

_STARTS = 60.0
"""Seconds that a start may take, on a machine that is very busy."""

_PASSED_ON = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "SYSTEMROOT")
_decode_answer = unpacker(Answer).decode


class Worker:
    """A worker process. One thread at a time asks it; any thread may kill it.

    Args:
        settings: what it is told first.

    Raises:
        OSError: no process can be started.
    """

    def __init__(self, settings: Settings) -> None:
        self.calls = 0
        self._settings = settings
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-P", "-m", "cuecard.isolation"],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=os.path.abspath(os.sep),
            env=_environment(),
            # No signal of a terminal reaches it, and all that it starts can be killed with it.
            start_new_session=True,
        )
        into, out, self._said = self._numbers()
        self._pipes = pipes_for(into, out, settings.answer, self.kill)

    def _numbers(self) -> tuple[int, int, int]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        said = process.stderr.fileno()
        if os.name != "nt":
            # Nobody reads it while the worker lives, and what is too much for it is dropped.
            os.set_blocking(said, False)
        return process.stdin.fileno(), process.stdout.fileno(), said

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def wait_until_ready(self) -> None:
        """Wait for a process that was started to say that it is there.

        Raises:
            LostError: it ended instead, or said something else.
        """
        settings = packed(self._settings)
        if self._exchange(settings, _STARTS) != msgspec.msgpack.encode(self.pid):
            raise LostError(Lost("process", BAD_ANSWER))

    def is_idle(self) -> bool:
        """Whether it lives and says nothing, as it should between calls."""
        return self._pipes.is_quiet() and self._process.returncode is None

    def ask(self, frame: bytes, seconds: float) -> Answer:
        """The answer to a call.

        Args:
            frame: the call.
            seconds: the time that all may take.

        Raises:
            LostError: there is no answer in time, or none that can be read.
        """
        self.calls += 1
        body = self._exchange(frame, seconds)
        try:
            answer: Answer = _decode_answer(body)
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError, MemoryError):
            raise LostError(Lost("process", BAD_ANSWER)) from None
        return answer

    def _exchange(self, frame: bytes, seconds: float) -> bytes:
        try:
            return self._pipes.exchange(frame, monotonic() + seconds)
        except TimeoutError:
            lost = Lost("time")
        except ValueError:
            lost = Lost("process", BAD_ANSWER)
        except (EOFError, OSError):
            lost = self._ending()
        raise LostError(lost)

    def _ending(self) -> Lost:
        """How a process that has closed its pipes ended."""
        if not self._has_ended(monotonic() + _GRACE):
            return Lost("process", "it closed its output")
        self._end_process()
        said = b""
        with suppress(OSError):
            said = os.read(self._said, 1 << 16)
        return lost_by(self._process.returncode, said)

    def _has_ended(self, ends: float) -> bool:
        """Whether the process ends by itself in time."""
        if not hasattr(os, "waitid"):
            with self._lock, suppress(subprocess.TimeoutExpired):
                self._process.wait(max(0.0, ends - monotonic()))
            return self._process.returncode is not None
        # Its status is left where it is, so that its group can still be killed by its number.
        look = os.WEXITED | os.WNOWAIT | os.WNOHANG
        pause = 0.0005
        while not os.waitid(os.P_PID, self.pid, look):
            if monotonic() > ends:
                return False
            sleep(pause := min(2 * pause, 0.02))
        return True

    def kill(self) -> None:
        """Kill the process, whoever waits for it, and all that it started."""
        with self._lock:
            if self._process.returncode is not None:
                return
            # Until it is waited for nobody else can have its number.
            with suppress(ProcessLookupError, PermissionError):
                if os.name == "nt":
                    self._process.kill()
                else:
                    os.killpg(self.pid, signal.SIGKILL)

    def _end_process(self) -> None:
        self.kill()
        with self._lock:
            self._process.wait()

    def end(self) -> None:
        """Kill the process, wait until it is gone, and close its pipes."""
        self._end_process()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()


def _environment() -> dict[str, str]:
    """As little as a worker needs: no secret of the program's own environment."""
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    places = [os.path.abspath(place) for place in sys.path]
    path = os.pathsep.join(place for place in places if os.pathsep not in place)
    # Else the C library would reserve much of the memory for a second thread.
    return {**kept, "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1", "PYTHONPATH": path}

"""The pool: which worker serves which call, and that there is always another one.

A thread of its own starts workers in place of those that are gone, and keeps one more than
may be busy, so that a call rarely waits for a start.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import NamedTuple

from ..errors import PromptError
from .failures import LostError
from .process import Worker
from .wire import Answer, Settings

__all__ = ["Pool", "Rules", "Ticket"]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 30.0
_ATTEMPTS = 3
"""Starts in a row that must fail until calls are told so."""

_CLOSES = 10.0


class Rules(NamedTuple):
    """How a pool works. See `Isolation`."""

    workers: int
    spare: int
    seconds: float
    recycle: int
    max_waiting: int | None


class Ticket:
    """A call: the worker that serves it, and whether somebody still waits for it."""

    __slots__ = ("cancelled", "worker")

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.cancelled = False


class Pool:
    """Workers, and the calls that wait for one.

    Args:
        settings: what workers are told.
        rules: how many there are, and how long they serve.
    """

    def __init__(self, settings: Settings, rules: Rules) -> None:
        self._settings = settings
        self._rules = rules
        self._process = os.getpid()
        lock = threading.RLock()
        self._free = threading.Condition(lock)
        self._short = threading.Condition(lock)
        self._idle: deque[Worker] = deque()
        self._all: set[Worker] = set()
        self._dismissed: list[Worker] = []
        self._admitted = 0
        self._busy = 0
        self._closed = False
        self._broken: str | None = None
        self._starter = threading.Thread(
            target=self._keep_full, name="cuecard-isolation", daemon=True
        )
        self._starter.start()

    # calls ---------------------------------------------------------------------------------------

    def enter(self) -> None:
        """Let a call in; `leave` lets it out.

        Raises:
            PromptError: too many wait already (P120), or there are no workers here (P119).
        """
        if os.getpid() != self._process:
            raise PromptError(
                "the workers belong to the process that this one was forked from",
                code="P119",
                hint="make an `Isolation` in each process",
            )
        with self._free:
            if self._closed:
                raise _closed()
            waiting = self._rules.max_waiting
            if waiting is not None and self._admitted >= self._rules.workers + waiting:
                raise PromptError(
                    f"{waiting:,} calls wait already",
                    code="P120",
                    hint="try again later, or raise `workers` or `max_waiting`",
                )
            self._admitted += 1

    def leave(self) -> None:
        """Let a call out."""
        with self._free:
            self._admitted -= 1

    def run(self, frame: bytes, ticket: Ticket) -> Answer:
        """The answer to a call, by the next worker that is free.

        Raises:
            LostError: the worker was lost.
            PromptError: there are no workers (P119).
        """
        sound = False
        try:
            worker = self._take(ticket)
            answer = worker.ask(frame, self._rules.seconds)
            sound = not answer.worn and worker.calls < self._rules.recycle
            return answer
        except (LostError, OSError):
            if self._closed:
                raise _closed() from None
            raise
        finally:
            self._give_back(ticket, sound)

    def _take(self, ticket: Ticket) -> Worker:
        with self._free:
            while True:
                self._check(ticket)
                if self._busy >= self._rules.workers or not self._idle:
                    self._free.wait()
                    continue
                worker = self._idle.pop()
                if worker.is_idle():
                    self._busy += 1
                    ticket.worker = worker
                    return worker
                # It was killed from outside, or says what nobody asked for.
                self._dismiss(worker)

    def _check(self, ticket: Ticket) -> None:
        if self._closed or ticket.cancelled:
            raise _closed()
        if self._broken is not None and not self._all:
            raise PromptError(
                f"no worker process can be started: {self._broken}",
                code="P119",
                hint="see whether `python -m cuecard.isolation` starts",
            )

    def _give_back(self, ticket: Ticket, sound: bool) -> None:
        worker = ticket.worker
        with self._free:
            ticket.worker = None
            if worker is not None:
                self._busy -= 1
                if sound and not self._closed and not ticket.cancelled:
                    self._idle.append(worker)
                else:
                    self._dismiss(worker)
            # Also when this call was woken by a chance that it cannot use.
            self._free.notify()

    def _dismiss(self, worker: Worker) -> None:
        """Count a worker out, and kill it. To wait for its end is not the caller's to do."""
        self._all.discard(worker)
        self._dismissed.append(worker)
        worker.kill()
        self._short.notify_all()

    def cancel(self, ticket: Ticket) -> None:
        """End a call for which nobody waits any more, and the worker that serves it."""
        with self._free:
            ticket.cancelled = True
            if ticket.worker is not None:
                ticket.worker.kill()
            self._free.notify_all()

    # workers -------------------------------------------------------------------------------------

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes that there are now."""
        with self._free:
            return sorted(worker.pid for worker in self._all)

    def _keep_full(self) -> None:
        failures = 0
        while True:
            with self._short:
                if failures:
                    pause = min(_FIRST_PAUSE * 2**failures, _LONGEST_PAUSE)
                    self._short.wait_for(lambda: self._closed, pause)
                self._short.wait_for(self._has_work)
                if self._closed:
                    return
            self._bury()
            failure = self._fill()
            failures = 0 if failure is None else min(failures + 1, 16)
            with self._free:
                self._broken = failure if failures >= _ATTEMPTS else None
                self._free.notify_all()

    def _has_work(self) -> bool:
        return self._closed or bool(self._dismissed) or self._missing() > 0

    def _bury(self) -> None:
        """Wait for the end of those who were dismissed."""
        with self._free:
            dismissed, self._dismissed = self._dismissed, []
        for worker in dismissed:
            worker.end()

    def _missing(self) -> int:
        return self._rules.workers + self._rules.spare - len(self._all)

    def _fill(self) -> str | None:
        """Start what is missing, all at once; what is wrong when nothing starts."""
        started = []
        failure = None
        try:
            for _ in range(self._missing()):
                worker = Worker(self._settings)
                with self._free:
                    self._all.add(worker)
                    started.append(worker)
                    if self._closed:
                        break
        except Exception as error:
            # Nothing may end this thread, on which all calls rely.
            failure = getattr(error, "strerror", None) or type(error).__name__
        failures = [self._greet(worker) for worker in started]
        return None if None in failures else next(iter(failures), failure)

    def _greet(self, worker: Worker) -> str | None:
        """Add a worker to those that are free once it is ready; else what is wrong with it."""
        try:
            worker.wait_until_ready()
        except (LostError, OSError) as error:
            with self._free:
                self._dismiss(worker)
            return str(error) or "it does not answer"
        with self._free:
            self._idle.append(worker)
            self._free.notify()
        return None

    def close(self) -> None:
        """End all workers, and the calls that they serve."""
        if os.getpid() != self._process:
            return
        with self._free:
            self._closed = True
            for worker in self._all:
                worker.kill()
            self._free.notify_all()
            self._short.notify_all()
        if threading.current_thread() is not self._starter:
            self._starter.join()
        with self._free:
            idle, self._idle = list(self._idle), deque()
            for worker in idle:
                self._dismiss(worker)
            # The rest are dismissed by the threads whose calls they serve.
            self._short.wait_for(lambda: not self._all, _CLOSES)
        self._bury()


def _closed() -> PromptError:
    return PromptError("the isolation is closed", code="P119")

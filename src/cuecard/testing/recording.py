"""Recording: the values of each turn as lines of JSON, to replay what happened in production."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, Self

from ..errors import ContextError, PromptError
from ..profile import Limits
from ..renderer import Observed, PromptRenderer
from ..values import NULL, BigInt, Freezer
from .redacting import SECRET_NAMES, Redact, Redaction

__all__ = ["TOO_LARGE", "Recorder", "record"]

_logger = logging.getLogger("cuecard.testing")

TOO_LARGE = "[left out: too large]"
"""What takes the place of a variable that is larger than is recorded."""


def record(
    renderer: PromptRenderer,
    file: str | os.PathLike[str],
    *,
    redact: Redact | None = None,
    secrets: Iterable[str] = SECRET_NAMES,
    agent: str | None = None,
    session: str | None = None,
    max_value: int = 1_000_000,
    max_file: int = 64 << 20,
) -> Recorder:
    """Record each turn of a renderer from now on, as `cuecard explain --turns` reads it.

    A line is a JSON object: the variables that the template reads, as they were. A turn that
    failed is recorded too. No failure to record reaches the turn: it goes to the log.

    Args:
        renderer: the renderer.
        file: the file, which is made for its owner alone, or added to.
        redact: takes the dotted name of a value, such as `user.email`, and the value; gives
            what to record. It is asked about each variable, and what is within it, when the
            variable has changed.
        secrets: patterns of names, like `*token*`, whose texts and numbers are not recorded;
            `redact` is not asked about them.
        agent: only turns of the agent of this id or name.
        session: only turns of the session of this id.
        max_value: so many bytes of JSON are recorded of a variable; a text stands for more.
        max_file: nothing is added that would make the file larger, in bytes.

    Returns:
        The recorder, which ends with `close`, or as a context manager.

    Raises:
        PromptError: the file cannot be written (P801).
    """
    recorder = Recorder(file, Redaction(secrets, redact), max_value=max_value, max_file=max_file)

    def take(observed: Observed) -> None:
        request = observed.request
        if session is not None and request.session_id != session:
            return
        names = {request.agent_id, observed.definition.name if observed.definition else None}
        if agent is None or agent in names:
            recorder.take(observed.values)

    recorder.end = renderer.observe(take)
    return recorder


class Recorder:
    """Writes turns to a file, each as one whole line. Threads may share it.

    Args:
        file: the file.
        redaction: what is not to be recorded.
        max_value: so many bytes of JSON are recorded of a variable.
        max_file: nothing is added that would make the file larger, in bytes.

    Attributes:
        turns: so many turns were recorded.
        missed: so many were not, for want of room or because of a failure.

    Raises:
        PromptError: the file cannot be written (P801).
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        redaction: Redaction,
        *,
        max_value: int,
        max_file: int,
    ) -> None:
        self.path = os.fspath(file)
        self.turns = self.missed = 0
        self.end: Callable[[], None] | None = None
        self._redaction = redaction
        self._max_value, self._max_file = max_value, max_file
        self._freezer = Freezer(Limits(), guarded=False)
        # By name: the value of the last turn, and what was written of it.
        self._kept: dict[str, tuple[Any, str]] = {}
        self._lock = Lock()
        self._file: int | None = _open(self.path)

    def __repr__(self) -> str:
        return f"Recorder({self.path!r}, turns={self.turns}, missed={self.missed})"

    def take(self, values: Any) -> None:
        """Record the values of a turn."""
        try:
            written = self._write(self._line(values))
        except Exception as error:
            # What it says may hold values.
            self._miss(f"it raised `{type(error).__name__}`")
            return
        if written is None:
            self._miss("the file is full")

    def close(self) -> None:
        """Record nothing more, and close the file. It may be called again."""
        if self.end is not None:
            self.end()
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _miss(self, why: str) -> None:
        with self._lock:
            self.missed += 1
            first = self.missed == 1
        if first:
            _logger.warning("a turn could not be recorded: %s", why)

    # a line ------------------------------------------------------------------------------------

    def _line(self, values: Any) -> bytes:
        """The turn as JSON; a value that no template can take is not there."""
        written: list[str] = []
        for name, value in values.items():
            try:
                frozen = self._freezer.freeze(name, value)
            except ContextError:
                continue
            # The freezer gives the same copy of what did not change, as most of a turn.
            kept = self._kept.get(name)
            if kept is None or kept[0] is not frozen:
                kept = self._kept[name] = frozen, self._text(name, frozen)
            written.append(kept[1])
        return f"{{{', '.join(written)}}}\n".encode()

    def _text(self, name: str, value: Any) -> str:
        text = _json(self._redaction.of(name, value))
        if len(text.encode()) > self._max_value:
            text = _json(TOO_LARGE)
        return f"{_json(name)}: {text}"

    # the file ----------------------------------------------------------------------------------

    def _write(self, line: bytes) -> bool | None:
        """Add a line as a whole; None when there is no room, False when all is closed."""
        with self._lock:
            if self._file is None:
                return False
            before = os.fstat(self._file).st_size
            if before + len(line) > self._max_file:
                return None
            _append(self._file, line, before)
            self.turns += 1
            return True


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_unfrozen)


def _unfrozen(value: Any) -> Any:
    if value is NULL:
        return None
    if isinstance(value, BigInt):
        return int(value)
    raise TypeError(type(value).__name__)


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    try:
        file = os.open(path, flags, 0o600)
        status = os.fstat(file)
        if stat.S_ISREG(status.st_mode) and status.st_size:
            os.lseek(file, -1, os.SEEK_END)
            if os.read(file, 1) != b"\n":
                os.write(file, b"\n")
    except OSError as error:
        raise PromptError(
            f"cannot write the file: {error.strerror or type(error).__name__}",
            code="P801",
            template=path,
        ) from error
    return file


def _append(file: int, line: bytes, before: int) -> None:
    """Add a line by one call, so that processes which share the file do not mix theirs."""
    written = os.write(file, line)
    if written < len(line):
        # The disk is full. A part of a line would spoil the next one.
        if os.fstat(file).st_size == before + written:
            os.ftruncate(file, before)
        raise OSError("no room for the whole line")

"""Failures: errors as data and back, and what to say of a process that is lost."""

from __future__ import annotations

import signal
from typing import NamedTuple

from .. import errors
from ..errors import CODES, PromptError, TemplateError, TemplateLimitError
from ..source import Span
from .wire import Failure

__all__ = [
    "BAD_ANSWER",
    "MEMORY",
    "Lost",
    "LostError",
    "error_of",
    "failure_of",
    "loss",
    "lost_by",
]

MEMORY = "memory"
"""The kind of a failure for want of memory."""

BAD_ANSWER = "its answer cannot be read"
_KINDS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, PromptError)
}
_MORE = {
    errors.UndefinedVariableError: "variables",
    errors.ContextError: "path",
    errors.SpawnError: "reason",
}
"""What errors of a class know besides."""

_OUT_OF_MEMORY = (b"memory allocation of", b"MemoryError")


class Lost(NamedTuple):
    """How a worker was lost.

    Attributes:
        kind: `"time"`, `"memory"` or `"process"`.
        detail: what is known, such as `ended by signal 11 (SIGSEGV)`.
    """

    kind: str
    detail: str = ""


class LostError(Exception):
    """Raised to whoever waits for a worker that is lost."""

    def __init__(self, lost: Lost) -> None:
        super().__init__(lost.detail)
        self.lost = lost


def failure_of(error: PromptError) -> Failure:
    """An error as data."""
    more = {name: getattr(error, name) for kind, name in _MORE.items() if isinstance(error, kind)}
    return Failure(
        _known(type(error)).__name__,
        error.code,
        error.message,
        error.hint,
        error.template,
        error.span,
        error.line_text,
        **more,
    )


def _known(kind: type[PromptError]) -> type[PromptError]:
    """The class itself, or what it derives from of those that both sides know."""
    return next(base for base in kind.__mro__ if _KINDS.get(base.__name__) is base)


def error_of(failure: Failure) -> PromptError | None:
    """The error that was made data; None when there is no such class or code."""
    kind = _KINDS.get(failure.kind)
    if kind is None or failure.code not in CODES:
        return None
    error = kind.__new__(kind)
    PromptError.__init__(
        error,
        failure.message,
        code=failure.code,
        template=failure.template,
        hint=failure.hint,
    )
    error.span = Span(*failure.span) if failure.span is not None else None
    error.line_text = failure.line_text
    for known, name in _MORE.items():
        if issubclass(kind, known):
            setattr(error, name, getattr(failure, name))
    return error


def lost_by(status: int, said: bytes) -> Lost:
    """How a worker was lost, from its exit status and the end of what it said."""
    if status >= 0:
        return Lost("process", f"exit code {status}")
    if -status == signal.SIGABRT and any(words in said for words in _OUT_OF_MEMORY):
        return Lost(MEMORY)
    if -status == getattr(signal, "SIGALRM", None):
        return Lost("time")
    try:
        name = f" ({signal.Signals(-status).name})"
    except ValueError:
        name = ""
    return Lost("process", f"ended by signal {-status}{name}")


def loss(lost: Lost, seconds: float, memory: int, template: str | None) -> PromptError:
    """The error of a call whose worker is lost."""
    if lost.kind == "time":
        return TemplateLimitError(
            f"took more than {seconds:g} seconds",
            code="P117",
            template=template,
            hint="loop over less, or raise `seconds`",
        )
    if lost.kind == MEMORY:
        return TemplateLimitError(
            f"took more than {memory / 2**20:,.4g} MiB of memory",
            code="P118",
            template=template,
            hint="make less at once, or raise `memory`",
        )
    return TemplateError(
        f"the worker process was lost: {lost.detail}",
        code="P119",
        template=template,
        hint="another process serves the next call; this template may crash the engine",
    )

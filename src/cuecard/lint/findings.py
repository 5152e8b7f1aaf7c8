"""Findings: what a rule has to say, where, and how it could be mended."""

from __future__ import annotations

from typing import NamedTuple

from ..source import Diagnostic, Severity, Span

__all__ = ["Edit", "Finding", "Fix"]


class Edit(NamedTuple):
    """A replacement of a range of a file; offsets are characters of the whole file.

    A byte order mark is not counted: it stands at -1.
    """

    start: int
    end: int
    text: str


class Fix(NamedTuple):
    """How a finding could be mended.

    Attributes:
        message: what it does, such as "Write `elif`".
        edits: replacements that do not overlap.
        safe: whether every text that could be rendered stays the same.
    """

    message: str
    edits: tuple[Edit, ...]
    safe: bool = True


class Finding(NamedTuple):
    """What a rule found in a file. The rule's code and severity are added when it has run.

    Attributes:
        message: one sentence, with names but without values.
        span: the place.
        hint: what to do about it.
        fix: how it could be mended by a program.
        code: the code, when it is not the rule's own.
        severity: the severity, when it is not the rule's own.
        path: the file.
    """

    message: str
    span: Span | None
    hint: str | None = None
    fix: Fix | None = None
    code: str = ""
    severity: Severity | None = None
    path: str = ""

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding as the diagnostic that other parts of the library speak of."""
        severity = self.severity or "error"
        return Diagnostic(self.code, self.message, self.span, self.path, severity, self.hint)

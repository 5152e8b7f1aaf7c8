"""Text with places: a template's source, spans in it, and diagnostics about it.

All offsets are character offsets (Python's), starting at 0; lines and columns start at 1
and count characters. The engine speaks of UTF-8 byte offsets: `Source.offset_of_byte`
is the one place where those are converted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeVar

__all__ = ["Diagnostic", "Found", "Severity", "Source", "Span"]

T = TypeVar("T")

Severity = Literal["error", "warning", "info"]


class Span(NamedTuple):
    """A range of a source text.

    Attributes:
        start: offset of the first character, counted from the start of the template.
        end: offset after the last character.
        line: line of `start` in its file, from 1.
        column: column of `start` in its line, from 1, in characters.
        end_line: line of `end`.
        end_column: column of `end`.
    """

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int


class Diagnostic(NamedTuple):
    """One finding about a template, a file or a render.

    Attributes:
        code: stable identifier, the same in exceptions, commands and documentation.
        message: one sentence without any value of the context.
        span: the place it speaks of, when there is one.
        template: name of the template or file.
        severity: `"error"`, `"warning"` or `"info"`.
        hint: what to do about it, when known.
    """

    code: str
    message: str
    span: Span | None = None
    template: str | None = None
    severity: Severity = "error"
    hint: str | None = None

    def data(self) -> dict[str, Any]:
        """The finding as data for programs."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "hint": self.hint,
            "template": self.template,
            "line": self.span.line if self.span else None,
            "column": self.span.column if self.span else None,
        }

    def __str__(self) -> str:
        place = self.template or "template"
        if self.span is not None:
            place += f":{self.span.line}:{self.span.column}"
        return f"{place}: {self.code} {self.message}"


class Found(list[T]):
    """What was found in files, with what was wrong in them.

    Args:
        items: what was found.
        diagnostics: what was noticed on the way. One of severity `"error"` tells of a file
            that is left out.

    Attributes:
        diagnostics: as given, as a tuple.
    """

    def __init__(self, items: Iterable[T] = (), diagnostics: Iterable[Diagnostic] = ()) -> None:
        super().__init__(items)
        self.diagnostics = tuple(diagnostics)


class Source:
    """A template's text, its name, and where it starts in its file.

    Args:
        text: the template.
        name: what errors call it; a file's path, or a name such as `system`.
        first_line: line of the file on which `text` begins, from 1. A body that follows
            front matter starts further down than its own first line.
    """

    def __init__(self, text: str, name: str = "system", *, first_line: int = 1) -> None:
        self.text = text
        self.name = name
        self.first_line = first_line

    def __repr__(self) -> str:
        return f"Source(name={self.name!r}, characters={len(self.text)})"

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return starts

    @cached_property
    def _bytes(self) -> bytes | None:
        return None if self.text.isascii() else self.text.encode("utf-8", "surrogatepass")

    def offset_of_byte(self, byte_offset: int) -> int:
        """Character offset of a UTF-8 byte offset, kept within the text."""
        encoded = self._bytes
        if encoded is None:
            return max(0, min(byte_offset, len(self.text)))
        return len(encoded[: max(0, byte_offset)].decode("utf-8", "ignore"))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of a character offset."""
        offset = max(0, min(offset, len(self.text)))
        index = bisect_right(self._line_starts, offset) - 1
        return index + self.first_line, offset - self._line_starts[index] + 1

    def span(self, start: int, end: int) -> Span:
        """The span of two character offsets."""
        size = len(self.text)
        start = max(0, min(start, size))
        end = max(start, min(end, size))
        return Span(start, end, *self.position(start), *self.position(end))

    def line_text(self, line: int) -> str:
        """Text of a line (as numbered in the file), without its line break."""
        index = line - self.first_line
        if not 0 <= index < len(self._line_starts):
            return ""
        starts = self._line_starts
        end = starts[index + 1] if index + 1 < len(starts) else len(self.text)
        return self.text[starts[index] : end].rstrip("\r\n")

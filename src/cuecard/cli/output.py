"""What the command prints: texts byte for byte, errors and warnings with their place."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from ..errors import PromptError
from ..files import replace_file
from ..source import Diagnostic

__all__ = [
    "error_data",
    "has_colours",
    "print_diagnostics",
    "print_error",
    "print_json",
    "print_line",
    "write_text",
]


def print_error(error: PromptError) -> None:
    """An error on standard error: place, code, message, source line, caret and hint."""
    first, *rest = error.report().split("\n")
    place, _, message = first.partition(f"{error.code} ")
    print_line(_styled(place, "1") + _styled(f"{error.code} ", "31") + message)
    for line in rest:
        bare = line.strip()
        style = "36" if bare.startswith("hint:") else "31" if bare.startswith("|") else ""
        print_line(_styled(line, style))


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Findings that are no errors, a line each, on standard error."""
    for finding in diagnostics:
        hint = f" ({finding.hint})" if finding.hint else ""
        print_line(f"{_styled(f'{finding.severity}:', '33')} {finding}{hint}")


def print_line(text: str) -> None:
    """A line on standard error, whatever characters its encoding has."""
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def has_colours(path: str | None) -> bool:
    """Whether what is written goes to a terminal, and NO_COLOR (no-color.org) is unset."""
    return path in (None, "-") and _takes_colours(sys.stdout)


def _takes_colours(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR")


def _styled(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and _takes_colours(sys.stderr) else text


def error_data(error: PromptError) -> dict[str, Any]:
    """An error as data for programs."""
    span = error.span
    return {
        "code": error.code,
        "kind": error.kind,
        "message": error.message,
        "hint": error.hint,
        "template": error.template,
        "line": span.line if span else None,
        "column": span.column if span else None,
    }


def print_json(data: Any) -> None:
    """Data for programs, on standard output."""
    write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", None)


def write_text(text: str, path: str | None) -> None:
    """Write a text as UTF-8, with its line breaks as they are.

    Args:
        text: the text.
        path: a file, which is replaced as a whole or not at all; None or `-` is standard
            output.

    Raises:
        PromptError: the file cannot be written (P801).
    """
    data = text.encode()
    if path is None or path == "-":
        _write_all(data)
        return
    replace_file(path, data)


def _write_all(data: bytes) -> None:
    # An unbuffered standard output (PYTHONUNBUFFERED) writes what the pipe takes, and no more.
    left = memoryview(data)
    while left:
        left = left[sys.stdout.buffer.write(left) or 0 :]
    sys.stdout.buffer.flush()

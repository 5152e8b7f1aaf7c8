"""What a report says of a prompt in words: lines, scopes, counters."""

from __future__ import annotations

from ..prompt import Scope
from ..source import Span
from ..tokens import TokenCounter

__all__ = ["counter_note", "lines_of", "scope_name"]


def lines_of(span: Span) -> str:
    """The lines of a span, such as `7` or `7-9`."""
    last = span.end_line
    if last > span.line and span.end_column == 1:
        # It ends with the line break of the line before.
        last -= 1
    return str(span.line) if last == span.line else f"{span.line}-{last}"


def scope_name(scope: Scope) -> str:
    """A scope as the command line writes it."""
    return scope.name.lower()


def counter_note(counter: TokenCounter) -> str:
    """Which counter counted, and whether it only estimates."""
    if counter.exact:
        return f"tokens: {counter.name}"
    return "tokens: an estimate, one for every four characters"

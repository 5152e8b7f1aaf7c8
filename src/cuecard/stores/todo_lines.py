r"""Todo lists as Markdown that a person can edit.

    - [ ] Write the page
    - [~] Run the tests (active: Running the tests)
    - [x] "two\nlines"

A text that would be read otherwise (line breaks, blanks at its ends, a quote in front, the
words of the separator) stands as a JSON string.
"""

from __future__ import annotations

import json
import re

from ..errors import StoreError
from .todos import Status, TodoItem, check_item, check_todos

__all__ = ["format_todos", "parse_todos"]

_MARKS: dict[str, Status] = {" ": "pending", "~": "in_progress", "x": "completed"}
_MARK_OF = {status: mark for mark, status in _MARKS.items()}
_LINE = re.compile(r"\s*[-*+] \[([ ~xX])\] (.+)")
_ACTIVE = " (active: "
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def format_todos(items: tuple[TodoItem, ...]) -> str:
    """The items as lines, each with a line break at its end."""
    return "".join(f"- [{_MARK_OF[item.status]}] {_text(item)}\n" for item in items)


def parse_todos(text: str) -> tuple[TodoItem, ...]:
    """The items of a list; empty lines and headings (`#`) are left out.

    Raises:
        StoreError: a line is no item, or more than one is in progress (P605).
    """
    lines = enumerate(text.split("\n"), 1)
    return check_todos(
        _item(line.strip(), number)
        for number, line in lines
        if line.strip() and not line.lstrip().startswith("#")
    )


def _text(item: TodoItem) -> str:
    text = _quoted(item.content)
    if item.active_form in (None, item.content):
        return text
    return f"{text}{_ACTIVE}{_quoted(item.active_form or '')})"


def _quoted(text: str) -> str:
    is_plain = text == text.strip() and not text.startswith('"')
    if is_plain and _ACTIVE not in f" {text} " and not _UNPRINTABLE.search(text):
        return text
    # JSON itself escapes what is below the space, and leaves other line breaks as they are.
    return _UNPRINTABLE.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(text, ensure_ascii=False))


def _item(line: str, number: int) -> TodoItem:
    found = _LINE.fullmatch(line)
    if found is None:
        raise StoreError(
            f"line {number} of the todo list is no item",
            code="P605",
            hint="write `- [ ] text`, `- [~] text` or `- [x] text`",
        )
    content, rest = _content(found[2])
    active = None
    if rest.startswith(_ACTIVE) and rest.endswith(")"):
        active = _unquoted(rest[len(_ACTIVE) : -1])
        rest = ""
    content, status = content + rest, _MARKS[found[1].lower()]
    check_item(content, status, active, f" of line {number}")
    return TodoItem(content, status, active)


def _content(text: str) -> tuple[str, str]:
    """The content at the start of a line, and what follows it."""
    if text.startswith('"'):
        try:
            content, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            pass
        else:
            if end == len(text) or text.startswith(_ACTIVE, end):
                return content, text[end:]
    content, separator, rest = text.partition(_ACTIVE)
    return (content, separator + rest) if rest.endswith(")") else (text, "")


def _unquoted(text: str) -> str:
    content, rest = _content(text) if text.startswith('"') else (text, "")
    return content if not rest else text

"""Todo lists: their items, and reading them from JSON-like data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, get_args

from ..errors import StoreError
from .checks import flaw_of_text

__all__ = ["Status", "TodoItem", "check_item", "check_todos", "read_todos"]

Status = Literal["pending", "in_progress", "completed"]

_STATUSES = get_args(Status)
_STATUS_HINT = f"one of {', '.join(_STATUSES)}"


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One item of a todo list.

    Attributes:
        content: what is to be done: "Run the tests".
        status: `"pending"`, `"in_progress"` or `"completed"`.
        active_form: the same while it is being done: "Running the tests". The content when
            it is not given.

    Raises StoreError when one of them is of another type or not valid (P605).
    """

    content: str
    status: Status = "pending"
    active_form: str | None = None

    def __post_init__(self) -> None:
        check_item(self.content, self.status, self.active_form)
        if not self.active_form:
            object.__setattr__(self, "active_form", self.content)

    @property
    def display_text(self) -> str:
        """The active form while the item is in progress, else its content."""
        return (self.active_form or self.content) if self.status == "in_progress" else self.content


def read_todos(value: Any) -> tuple[TodoItem, ...]:
    """The items of a todo list that came as data, such as the arguments of a tool call.

    Args:
        value: a list of mappings with `content`, `status` (pending when absent), and
            `active_form` or `activeForm`. Other keys are left out.

    Raises:
        StoreError: it is no such list, or more than one item is in progress (P605).
    """
    if not isinstance(value, list | tuple):
        hint = "give the list itself, without the mapping around it"
        raise _invalid(
            f"a todo list must be a list, got `{type(value).__name__}`",
            hint if isinstance(value, Mapping) else "a list of items, each with `content`",
        )
    return check_todos(_read_item(item, f"item {n}") for n, item in enumerate(value, 1))


def check_todos(items: Iterable[TodoItem]) -> tuple[TodoItem, ...]:
    """The items, of which at most one may be in progress.

    Raises:
        StoreError: several are, or there is something else among them (P605).
    """
    checked = tuple(items)
    active = []
    for position, item in enumerate(checked, 1):
        if not isinstance(item, TodoItem):
            raise _invalid(
                f"item {position} must be a `TodoItem`, got `{type(item).__name__}`",
                "`read_todos` makes items from plain data",
            )
        if item.status == "in_progress":
            active.append(str(position))
    if len(active) > 1:
        raise _invalid(
            f"items {', '.join(active)} are in progress, and only one may be",
            "leave the others `pending`, or mark them `completed`",
        )
    return checked


def _read_item(value: Any, place: str) -> TodoItem:
    if isinstance(value, TodoItem):
        return value
    if not isinstance(value, Mapping):
        raise _invalid(
            f"{place} must be a mapping, got `{type(value).__name__}`",
            'such as {"content": "Run the tests", "status": "pending"}',
        )
    if "content" not in value:
        near = get_close_matches("content", [key for key in value if isinstance(key, str)], 1)
        raise _invalid(f"{place} has no `content`", f"rename `{near[0]}`" if near else None)
    key = "active_form" if value.get("active_form") is not None else "activeForm"
    content, status, active = value["content"], value.get("status", "pending"), value.get(key)
    check_item(content, status, active, f" of {place}", key)
    return TodoItem(content, status, active)


def check_item(
    content: Any, status: Any, active: Any, of: str = "", active_key: str = "active_form"
) -> None:
    """Check what an item is to be made of.

    Args:
        content: its text.
        status: its status.
        active: its active form, or None.
        of: whose they are, for errors: ` of item 2`.
        active_key: what the active form is called where it came from.

    Raises:
        StoreError: one of them is not valid (P605).
    """
    for key, value in (("content", content), (active_key, active)):
        if value is None and key != "content":
            continue
        flaw = flaw_of_text(value)
        if flaw is not None:
            raise _invalid(f"`{key}`{of} {flaw}")
    if not content.strip():
        raise _invalid(f"`content`{of} is blank", "say what is to be done")
    if not isinstance(status, str):
        raise _invalid(f"`status`{of} must be text, got `{type(status).__name__}`", _STATUS_HINT)
    if status not in _STATUSES:
        raise _invalid(f"`status`{of} is none that there is", _STATUS_HINT)


def _invalid(message: str, hint: str | None = None) -> StoreError:
    return StoreError(message, code="P605", hint=hint)

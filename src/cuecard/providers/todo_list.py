"""The plan of a session: its todo list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..prompt import Scope
from ..stores import Store, TodoItem
from .contract import ProviderRequest

__all__ = ["TodoListProvider", "todo_list_markdown"]

_MARKS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}
_GO_ON = "use `todo_write` to mark items completed or refine the plan"
_ALL_DONE = "all done, call `todo_write` with a fresh plan if more work is needed"


class TodoListProvider:
    """`todos`, the items, and `todo_list_md`, the list as Markdown.

    Args:
        store: where the lists are; None for no lists.
    """

    name = "todo_list"
    priority = 10
    provides: ClassVar = {"todos": Scope.TURN, "todo_list_md": Scope.TURN}

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self.instant = store is None

    def contribute(self, request: ProviderRequest) -> dict[str, Any]:
        """The list of the session; without a session or items `[]` and null."""
        if self._store is None or request.session_id is None:
            return _variables(())
        return _variables(self._store.todos(request.session_id))

    async def acontribute(self, request: ProviderRequest) -> dict[str, Any]:
        """As `contribute`."""
        if self._store is None or request.session_id is None:
            return _variables(())
        return _variables(await self._store.atodos(request.session_id))


def _variables(items: Sequence[TodoItem]) -> dict[str, Any]:
    return {
        "todos": [
            {
                "content": item.content,
                "active_form": item.active_form,
                "status": item.status,
                "display_text": item.display_text,
            }
            for item in items
        ],
        "todo_list_md": todo_list_markdown(items),
    }


def todo_list_markdown(items: Sequence[TodoItem]) -> str | None:
    """A todo list as Markdown, also when all of it is done; None for an empty one."""
    if not items:
        return None
    done = sum(item.status == "completed" for item in items)
    still_open = len(items) - done
    hint = _GO_ON if still_open else _ALL_DONE
    lines = [
        "",
        "",
        "## Current Todo List",
        f"({len(items)} items: {still_open} open · {done} done — {hint})",
        "",
        *(f"{_MARKS[item.status]} {_in_one_line(item.display_text)}" for item in items),
    ]
    return "\n".join(lines) + "\n"


def _in_one_line(text: str) -> str:
    return " ".join(text.splitlines())

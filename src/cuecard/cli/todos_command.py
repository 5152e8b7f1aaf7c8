"""`cuecard todos`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from ..errors import PromptError
from ..layout import visible
from ..stores import TodoItem
from ..stores.todo_lines import format_todos
from .arguments import add_store_argument
from .inputs import UsageError
from .output import error_data, print_json, print_line, write_text
from .stores import asked_store, read_todo_file

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Read and write the todo list of a session (`todos` and `todo_list_md` in templates).

A list is replaced as a whole. It is a JSON list of items with `content`, `status` (pending,
in_progress or completed; at most one is in progress) and, if wanted, `active_form`. The exit
code is 1 when it is none, or when the store fails."""

EXAMPLES = """\
examples:
  cuecard todos set plan.json --store sqlite:agent.db --session s1
  cuecard todos show --store sqlite:agent.db --session s1
  cuecard todos set - --store file:memory --session s1 < plan.json
  CUECARD_STORE=file:memory cuecard todos clear --session s1
"""

_ACTIONS = {
    "show": "print the list",
    "set": "replace the list",
    "clear": "remove the list",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in _ACTIONS.items():
        action = actions.add_parser(name, help=text, description=text, allow_abbrev=False)
        if name == "set":
            action.add_argument(
                "file", metavar="FILE.json", help="a JSON list of items; - is standard input"
            )
        add_store_argument(action)
        action.add_argument("--session", metavar="ID", required=True, help="the session's id")
        action.add_argument("--json", action="store_true", help="print what is kept now as JSON")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Do what is asked, and give the exit code."""
    try:
        with asked_store(options) as store:
            if options.action != "show":
                items = read_todo_file(options.file) if options.action == "set" else ()
                store.set_todos(options.session, items)
            if options.json:
                print_json(_data(store.todos(options.session), options.session))
            elif options.action == "show":
                _show(store.todos(options.session))
    except UsageError as error:
        parser.error(str(error))
    except PromptError as error:
        if options.json:
            print_json({"error": error_data(error)})
        raise
    return 0


def _show(items: Sequence[TodoItem]) -> None:
    if items:
        write_text(visible(format_todos(tuple(items))), None)
    else:
        print_line("no todo list")


def _data(items: Sequence[TodoItem], session: str) -> dict[str, Any]:
    return {
        "session": session,
        "todos": [
            {"content": i.content, "status": i.status, "active_form": i.active_form} for i in items
        ],
    }

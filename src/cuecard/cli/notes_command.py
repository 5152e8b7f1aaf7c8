"""`cuecard notes`."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import PromptError
from ..stores.text_store import TextStore
from .arguments import add_store_argument
from .inputs import UsageError
from .output import error_data, print_json, print_line, write_text
from .stores import asked_store, read_given_text

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Read and write what an agent remembers of a user (`user_notes` in templates), or with
--profile what all agents know of the user (`user_profile`).

A render sees a change at its next turn. The exit code is 1 when the store fails."""

EXAMPLES = """\
examples:
  cuecard notes append --store file:memory --agent argus --user ann 'likes tea'
  cuecard notes show --store sqlite:agent.db --agent argus --user ann
  cuecard notes set --store file:memory --user ann --profile - < ann.md
  CUECARD_STORE=file:memory cuecard notes clear --agent argus --user ann
"""

_ACTIONS = {
    "show": "print the text as it is kept",
    "set": "replace the text",
    "append": "add a text on a line of its own",
    "clear": "remove the text",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in _ACTIONS.items():
        action = actions.add_parser(name, help=text, description=text, allow_abbrev=False)
        if name in ("set", "append"):
            action.add_argument("text", metavar="TEXT", help="the text; - is standard input")
        add_store_argument(action)
        action.add_argument("--user", metavar="ID", required=True, help="the user's id")
        kind = action.add_mutually_exclusive_group(required=True)
        kind.add_argument("--agent", metavar="NAME", help="the agent's `id`, else its name")
        kind.add_argument(
            "--profile", action="store_true", help="the user's profile, which no agent owns"
        )
        action.add_argument("--json", action="store_true", help="print what is kept now as JSON")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Do what is asked, and give the exit code."""
    try:
        with asked_store(options) as store:
            _change(store, options)
            if options.json:
                print_json(_data(store, options))
            elif options.action == "show":
                _show(_text(store, options), options)
    except UsageError as error:
        parser.error(str(error))
    except PromptError as error:
        if options.json:
            print_json({"error": error_data(error)})
        raise
    return 0


def _change(store: TextStore, options: argparse.Namespace) -> None:
    if options.action == "show":
        return
    text = None if options.action == "clear" else read_given_text(options.text)
    if options.action == "append" and text is not None:
        if options.profile:
            raise UsageError("a profile is not appended to: set it as a whole")
        store.append_note(options.agent, options.user, text)
    elif options.profile:
        store.set_profile(options.user, text)
    else:
        store.set_notes(options.agent, options.user, text)


def _text(store: TextStore, options: argparse.Namespace) -> str | None:
    if options.profile:
        return store.profile(options.user)
    return store.notes(options.agent, options.user)


def _show(text: str | None, options: argparse.Namespace) -> None:
    if text is None:
        print_line("no profile" if options.profile else "no notes")
    else:
        write_text(text if text.endswith("\n") or not text else f"{text}\n", None)


def _data(store: TextStore, options: argparse.Namespace) -> dict[str, Any]:
    return {
        "kind": "profile" if options.profile else "notes",
        "agent": options.agent,
        "user": options.user,
        "text": _text(store, options),
    }

"""The options of a render that is made as a runtime makes it before a turn."""

from __future__ import annotations

import argparse

from .arguments import STORE_HELP, add_partials_argument
from .inputs import UsageError

__all__ = [
    "add_entry_point_argument",
    "add_live_arguments",
    "add_runtime_arguments",
    "is_live",
]

_CHOOSING = ("session", "user", "store", "set_todo", "now", "zone")


def add_live_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare for whom and when a turn is rendered."""
    group = parser.add_argument_group(
        "before a turn",
        "Any of these but the last two renders as a runtime does: providers give the context,\n"
        "--var and its like override them, and the profile is `live` unless the header or\n"
        "--profile names another.",
    )
    group.add_argument("--session", metavar="ID", help="the session's id: gives its todo list")
    group.add_argument("--user", metavar="ID", help="the user's id: gives notes and profile")
    group.add_argument("--store", metavar="URL", help=f"{STORE_HELP} (default: none)")
    group.add_argument(
        "--set-todo",
        metavar="FILE",
        help="first replace the session's todo list in the store by this JSON list; - is "
        "standard input",
    )
    group.add_argument(
        "--now",
        metavar="ISO",
        help="the time, such as 2026-11-29T18:42 (in --zone), or with a zone (default: now)",
    )
    group.add_argument(
        "--zone",
        metavar="ZONE",
        help="the user's time zone, such as Europe/Berlin (default: the machine's)",
    )
    add_entry_point_argument(group)
    group.add_argument(
        "--strict",
        action="store_true",
        help="exit with 1 at any warning, such as a provider left out",
    )


def add_runtime_arguments(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Declare what a server's renderer knows; what is added to the group comes last in it."""
    group = parser.add_argument_group("what prompts are rendered with")
    group.add_argument("--store", metavar="URL", help=f"{STORE_HELP} (default: none)")
    group.add_argument("--workspace", metavar="DIR", help="the folder that agents work in")
    group.add_argument("--tools", metavar="FILE.json", help="a JSON list of tools, in any form")
    group.add_argument(
        "--zone", metavar="ZONE", help="the user's time zone (default: the machine's)"
    )
    add_partials_argument(parser)
    add_entry_point_argument(parser)
    return group


def add_entry_point_argument(parser: argparse._ActionsContainer) -> None:
    """Declare whether providers of installed packages take part."""
    parser.add_argument(
        "--no-entry-points",
        action="store_true",
        help="without the providers of installed packages",
    )


def is_live(options: argparse.Namespace) -> bool:
    """Whether a render is that of a turn.

    Raises:
        UsageError: it is not, and an option makes sense for a turn only.
    """
    if any(getattr(options, name) is not None for name in _CHOOSING):
        return True
    if options.strict or options.no_entry_points:
        raise UsageError("--strict and --no-entry-points go with --session, --user, --now, …")
    return False

"""`cuecard lsp`."""

from __future__ import annotations

import argparse
import sys

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Help an editor with prompts: diagnostics, hover, completion, definitions, renaming, fixes.

An editor starts this command and talks to it on standard input and output, by the Language
Server Protocol. docs/editors.md shows how to set up some editors."""

EXAMPLES = """\
examples:
  cuecard lsp                 what to enter in an editor as the server's command
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--stdio", action="store_true", help="does nothing: this is the only way to talk"
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Serve an editor until it is done, and give the exit code."""
    if sys.stdin.isatty():
        parser.error("standard input is a terminal; this command is started by an editor")
    from ..lsp import serve

    return serve()

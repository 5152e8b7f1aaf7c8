"""The subcommands: their names, and their parsers, each of which loads only its own module."""

from __future__ import annotations

import argparse
import textwrap
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

__all__ = ["COMMANDS", "Command", "HelpFormatter", "load_command"]

COMMANDS = {
    "render": "render a template, or the body of a Markdown file",
    "vars": "list the variables that a template reads",
    "explain": "show where a prompt comes from, and what breaks its cache",
    "check": "find the mistakes in agent files, skills and templates",
    "rule": "explain a rule of `check`, or list them",
    "fmt": "give what stands inside the tags of templates one form",
    "diff": "compare the prompts that a template makes of two contexts",
    "batch": "render a prompt for each row of a table",
    "agents": "list the agent files of a folder and their problems",
    "skills": "list the skills that an agent would see",
    "notes": "read and write notes on a user, and the user's profile",
    "todos": "read and write the todo list of a session",
    "serve": "serve agents over HTTP, with a page to see their prompts",
    "mcp": "serve agents as the prompts of an MCP server",
    "lsp": "help an editor with prompts, by the Language Server Protocol",
    "init": "write a commented agent file to start from",
    "doctor": "say what is installed, what can be reached, and what is wrong",
    "completion": "print what has a shell complete the command",
}
"""What there is, in the order of the help, and what each is for."""


_AS_WRITTEN = ("commands:", "examples:")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Fills paragraphs to the width of the terminal, and leaves examples as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith(_AS_WRITTEN):
            return super()._fill_text(text, width, indent)
        return "\n\n".join(
            textwrap.fill(
                paragraph,
                width,
                initial_indent=indent,
                subsequent_indent=indent,
                break_on_hyphens=False,
            )
            for paragraph in text.strip().split("\n\n")
        )


class Command(NamedTuple):
    """A subcommand: its module, and its parser."""

    module: ModuleType
    parser: argparse.ArgumentParser


def load_command(name: str) -> Command:
    """Load a subcommand; the others stay unloaded, as starting is most of a short command."""
    module = import_module(f".{name}_command", __package__)
    parser = argparse.ArgumentParser(
        prog=f"cuecard {name}",
        description=module.DESCRIPTION,
        epilog=module.EXAMPLES,
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    return Command(module, parser)

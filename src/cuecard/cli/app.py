"""The command's root: its subcommands, loaded when they are called, and its last resort.

The parser is the standard library's: starting is most of the time of a short command, and
this one starts in half the time of the others.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from .. import __version__
from ..errors import PromptError
from .output import print_error, print_line

__all__ = ["main"]

_COMMANDS = {
    "render": "render a template, or the body of a Markdown file",
    "vars": "list the variables that a template reads",
    "explain": "show where each part of a prompt comes from, and what breaks its cache",
    "check": "find the mistakes in agent files, skills and templates",
    "rule": "explain a rule of `check`, or list them",
    "fmt": "give what stands inside the tags of templates one form",
    "diff": "compare the prompts that a template makes of two contexts",
    "agents": "list the agent files of a folder, with their variables and problems",
    "skills": "list the skills that an agent would see",
    "notes": "read and write what an agent remembers of a user, and the user's profile",
    "todos": "read and write the todo list of a session",
    "lsp": "help an editor with prompts, by the Language Server Protocol",
    "mcp": "serve agents as the prompts of an MCP server",
    "init": "write a commented agent file to start from",
}
_EXAMPLES = """\
commands:
{commands}

examples:
  cuecard render agent.md --var workspace=/src
  cuecard render SYSTEM.md --profile markdown --vars context.json --output prompt.txt
  cuecard vars agent.md
  cuecard explain agent.md --vars context.json --html agent.html
  cuecard check agents/ --fix

`cuecard COMMAND --help` says more. Exit codes: 0 all is well, 1 findings or a failed
render, 2 wrong usage.
"""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command, and end the process.

    Args:
        arguments: the command's arguments; the process's own by default.
    """
    try:
        sys.exit(_run(list(sys.argv[1:] if arguments is None else arguments)))
    except PromptError as error:
        print_error(error)
        sys.exit(1)
    except BrokenPipeError:
        # Whoever read the output has gone; Python's own flush at the end must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if os.environ.get("CUECARD_TRACEBACK"):
            raise
        print_line(
            f"cuecard: internal error: {type(error).__name__} "
            "(set CUECARD_TRACEBACK=1 to see where)"
        )
        sys.exit(1)


def _run(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="cuecard",
        usage="cuecard [--help] [--version] COMMAND ...",
        description="Render the system prompt of an LLM agent from a template and live context.",
        epilog=_EXAMPLES.format(
            commands="\n".join(f"  {name.ljust(8)} {text}" for name, text in _COMMANDS.items())
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cuecard {__version__}")
    if not arguments:
        parser.print_help(sys.stderr)
        return 2
    name = arguments[0]
    if name.startswith("-"):
        parser.parse_args(arguments[:1])
        parser.error("a command is missing")
    if name not in _COMMANDS:
        from ..language.vocabulary import nearest

        hint = nearest(name, _COMMANDS)
        parser.error(f"no command {name!r}" + (f". {hint}" if hint else ""))
    command = import_module(f".{name}_command", __package__)
    subparser = argparse.ArgumentParser(
        prog=f"cuecard {name}",
        description=command.DESCRIPTION,
        epilog=command.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(subparser)
    status: int = command.run(subparser.parse_args(arguments[1:]), subparser)
    return status

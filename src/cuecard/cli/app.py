"""The command's root: its subcommands, loaded when they are called, and its last resort.

The parser is the standard library's: starting is most of the time of a short command, and
this one starts in half the time of the others.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from .. import __version__
from ..errors import PromptError
from .commands import COMMANDS, HelpFormatter, load_command
from .output import print_error, print_line

__all__ = ["main"]

_EXAMPLES = """\
commands:
{commands}

examples:
  cuecard render agent.md --var workspace=/src
  cuecard render SYSTEM.md --profile markdown --vars context.json
  cuecard vars agent.md
  cuecard explain agent.md --vars context.json --html agent.html
  cuecard check agents/ --fix

`cuecard COMMAND --help` says more. Exit codes: 0 all is well, 1 findings or a
failed render, 2 wrong usage.
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
            commands="\n".join(f"  {name.ljust(11)} {text}" for name, text in COMMANDS.items())
        ),
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cuecard {__version__}")
    if not arguments:
        parser.print_help(sys.stderr)
        return 2
    name = arguments[0]
    if name.startswith("-"):
        parser.parse_args(arguments[:1])
        parser.error("a command is missing")
    if name not in COMMANDS:
        from ..language.vocabulary import nearest

        hint = nearest(name, COMMANDS)
        parser.error(f"no command {name!r}" + (f". {hint}" if hint else ""))
    command = load_command(name)
    status: int = command.module.run(command.parser.parse_args(arguments[1:]), command.parser)
    return status

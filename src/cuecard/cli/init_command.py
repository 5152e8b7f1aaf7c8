"""`cuecard init`."""

from __future__ import annotations

import argparse
import re
from importlib.resources import files
from pathlib import Path

from ..errors import PromptError
from .output import print_line

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Write an agent file to start from, with a comment on each part of it.

Nothing is ever overwritten: when the file is there, the command fails."""

EXAMPLES = """\
examples:
  cuecard init                  writes agent.md
  cuecard init reviewer         writes reviewer.md
  cuecard render reviewer.md --var directive='Review the last commit.'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="the agent's name, and the file's: letters, digits, `-`, `_` (default: agent)",
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Write the file, and give the exit code."""
    name = options.name or "agent"
    if not re.fullmatch(r"\w[\w-]{0,63}", name):
        parser.error("NAME takes 1 to 64 letters, digits, `-` and `_`")
    path = Path(f"{name}.md")
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(_text(name))
    except FileExistsError:
        hint = "give another NAME, or remove the file first"
        raise PromptError(
            "the file exists already", code="P808", template=str(path), hint=hint
        ) from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise PromptError(
            f"cannot write the file: {why}", code="P801", template=str(path)
        ) from error
    print_line(f"{path} is written. Try: cuecard render {path} --var directive='Say hello.'")
    return 0


def _text(name: str) -> str:
    starter = files(__package__).joinpath("starter.md").read_text(encoding="utf-8")
    # A name of digits, or such as `on`, is text to this reader, and needs no quotes.
    return starter.replace("NAME", name)

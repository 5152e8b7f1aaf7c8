"""`cuecard completion`."""

from __future__ import annotations

import argparse
from importlib.resources import files

from .output import write_text

__all__ = ["DESCRIPTION", "EXAMPLES", "SHELLS", "add_arguments", "run"]


SHELLS = ("bash", "zsh", "fish")

DESCRIPTION = """\
Print what has a shell complete the command: subcommands, options, their values, and files."""

EXAMPLES = """\
examples:
  cuecard completion bash > ~/.local/share/bash-completion/completions/cuecard
  cuecard completion zsh > "${fpath[1]}/_cuecard"
  cuecard completion fish > ~/.config/fish/completions/cuecard.fish
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Print, and give the exit code."""
    folder = files("cuecard.cli").joinpath("completions")
    write_text(folder.joinpath(f"cuecard.{options.shell}").read_text("utf-8"), None)
    return 0

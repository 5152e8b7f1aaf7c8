"""Writes docs/commands.md, what every subcommand's help says, and the shells' completions.

`make format` runs it; a test sees that what it writes is current.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import shtab

from cuecard.cli.commands import COMMANDS, load_command
from cuecard.cli.completion_command import SHELLS

DOCS = Path(__file__).parent
COMPLETIONS = DOCS.parent / "src" / "cuecard" / "cli" / "completions"
WIDTH = 80

HEAD = """\
# The command

`cuecard COMMAND --help` prints what stands here. Exit codes: 0 all is well, 1 findings or a \
failed render, 2 wrong usage; `diff` exits with 1 when the prompts differ. Errors go to standard \
error as `path:line:column: CODE message`, with the source line, a caret and a hint; `--json` \
prints for programs. A shell completes all of it after `cuecard completion SHELL`.
"""
FILE_LIKE = ("FILE", "PATH", "TEMPLATE", "INPUT", "OUTPUT", ".json", ".jsonl")


def reference() -> str:
    """The page of all commands."""
    rows = "\n".join(f"| [`{name}`](#{name}) | {text} |" for name, text in COMMANDS.items())
    table = f"| command | what it is for |\n|---|---|\n{rows}\n"
    return "\n".join((HEAD, table, *_sections()))


def _sections() -> Iterator[str]:
    os.environ["COLUMNS"] = str(WIDTH)
    os.environ["NO_COLOR"] = "1"
    for name in COMMANDS:
        parser = load_command(name).parser
        yield f"## {name}\n\n```text\n{parser.format_help().rstrip()}\n```\n"
        for action, inner in _inner(parser):
            yield f"### {name} {action}\n\n```text\n{inner.format_help().rstrip()}\n```\n"


def _inner(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def completion(shell: str) -> str:
    """What has a shell complete the command."""
    root = argparse.ArgumentParser(prog="cuecard", description="Render system prompts.")
    root.add_argument("--version", action="version", version="")
    commands = root.add_subparsers(dest="command")
    for name, text in COMMANDS.items():
        parser = load_command(name).parser
        _complete_files(parser)
        commands.add_parser(
            name, help=text, parents=[parser], add_help=False, description=parser.description
        )
    return shtab.complete(root, shell).rstrip() + "\n"


def _complete_files(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        metavar = action.metavar if isinstance(action.metavar, str) else ""
        if any(part in metavar for part in ("DIR", "FOLDER")):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif any(part in metavar for part in FILE_LIKE):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    for _, inner in _inner(parser):
        _complete_files(inner)


def written() -> dict[Path, str]:
    """What is written, by its file."""
    scripts = {COMPLETIONS / f"cuecard.{shell}": completion(shell) for shell in SHELLS}
    return {DOCS / "commands.md": reference(), **scripts}


def main() -> None:
    """Write all of it."""
    COMPLETIONS.mkdir(exist_ok=True)
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

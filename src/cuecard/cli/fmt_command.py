"""`cuecard fmt`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from io import StringIO

from ..errors import PromptError
from ..formatting import format_template
from ..lint import Document, Settings, Target, collect, find_settings, read_target
from .output import print_error, print_line, write_text

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Give the inside of tags one form: blanks, quotes, commas. Literal text, raw blocks and front
matter stay as they are, and a template renders the same text as before.

In a FOLDER the same files are found as by `cuecard check`, but for skills, whose text is no
template. A file that cannot be read is left alone, and never keeps another from being
formatted.

Exits with 0 when all is in form, with 1 when a file could not be read, or would change under
--check or --diff, and with 2 for wrong usage."""

EXAMPLES = """\
examples:
  cuecard fmt agent.md prompts/
  cuecard fmt --check --diff .
  cat agent.md | cuecard fmt -
"""

# Failures that say the text is no template. Others, such as an unknown filter, do not matter.
_UNREADABLE = frozenset(("P101", "P102", "P110", "P111", "P112", "P113"))
_MOST_BLANKS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="+", help="a file or a folder; - is standard input"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 if a file would change"
    )
    parser.add_argument(
        "--diff", action="store_true", help="write nothing; print what would change"
    )
    parser.add_argument(
        "--indent",
        type=_blanks,
        metavar="N",
        help="indent block tags by N blanks for each block around them, where they stand alone "
        "on their line and that is not printed (default: leave it)",
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Format, and give the exit code."""
    settings = find_settings()
    writes = not (options.check or options.diff)
    counts = {"formatted": 0, "left": 0, "failed": 0}
    for target in _targets(options.paths, settings):
        try:
            document = _read(target, settings)
            changed = _formatted(document, options.indent)
            outcome = "left" if changed == document.text else "formatted"
            if options.diff:
                write_text("".join(_diff(document, changed)), None)
            elif writes and (target.path == "-" or outcome == "formatted"):
                write_text(document.mark + changed, target.path)
        except PromptError as error:
            print_error(error)
            outcome = "failed"
        counts[outcome] += 1
        if outcome == "formatted" and target.path != "-":
            print_line(f"{'formatted' if writes else 'would format'} {target.path}")
    if options.paths != ["-"]:
        print_line(_summary(counts, writes))
    return 1 if counts["failed"] or (counts["formatted"] and not writes) else 0


def _blanks(text: str) -> int:
    if not text.isdecimal() or int(text) > _MOST_BLANKS:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to {_MOST_BLANKS}")
    return int(text)


def _targets(paths: list[str], settings: Settings) -> Iterator[Target]:
    for target in collect(paths, settings):
        if target.kind != "skill" or target.path in paths:
            yield target


def _read(target: Target, settings: Settings) -> Document:
    """A file whose template can be read.

    Raises:
        PromptError: it cannot.
    """
    if target.error is not None:
        raise target.error
    document = read_target(target, settings)
    if document.header_error is not None:
        raise document.header_error
    if document.failure is not None and document.failure.code in _UNREADABLE:
        raise document.failure
    return document


def _formatted(document: Document, indent: int | None) -> str:
    body = format_template(document.body, profile=document.profile, indent=indent)
    return document.text[: document.body_start] + body


def _diff(document: Document, changed: str) -> Iterable[str]:
    # Only line feeds part lines: text may hold what else Python takes for a line break.
    before, after = (list(StringIO(text, "\n")) for text in (document.text, changed))
    for line in unified_diff(before, after, document.path, document.path):
        yield line if line.endswith("\n") else line + "\n\\ no newline at the end\n"


def _summary(counts: dict[str, int], writes: bool) -> str:
    words = {
        "formatted": "formatted" if writes else "to format",
        "left": "in form",
        "failed": "left alone because of errors",
    }
    parts = [
        f"{count} {'file' if count == 1 else 'files'} {words[outcome]}"
        for outcome, count in counts.items()
        if count
    ]
    return ", ".join(parts) or "no files"

"""`cuecard check`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable

from ..errors import CODES
from ..language.vocabulary import nearest
from ..lint import Report
from .check_formats import concise, full, github, json_text, statistics, summary
from .check_run import Run, check_once
from .check_watch import watch
from .output import has_colours, print_line, write_text

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Find the mistakes in agent files, skills and templates before anything runs.

In a folder, these are checked: SKILL.md, SYSTEM.md, *.md with front matter, *.j2, *.jinja and
*.jinja2. Settings come from the nearest cuecard.toml, or pyproject.toml with a table
tool.cuecard, in the folder that holds all PATHs or above. `cuecard rule CODE` explains a
finding."""

EXAMPLES = """\
examples:
  cuecard check .
  cuecard check agents/ --fix
  cuecard check agents/ --select P1,P2 --format concise
  cuecard check . --format sarif --output check.sarif
  cuecard check - --stdin-filename agents/reviewer.md < reviewer.md

Exit codes: 0 nothing found, 1 findings, 2 wrong usage.
"""

_FORMATS = ("full", "concise", "json", "github", "sarif", "junit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        default=["."],
        help="files and folders (default: the current folder); - is standard input",
    )
    parser.add_argument(
        "--select", action="append", metavar="CODES", help="only these codes, or their beginnings"
    )
    parser.add_argument(
        "--ignore", action="append", metavar="CODES", help="not these codes, or their beginnings"
    )
    parser.add_argument("--config", metavar="FILE", help="the file of settings")
    parser.add_argument("--stdin-filename", metavar="NAME", help="what standard input is called")
    _add_output_arguments(parser)
    _add_mending_arguments(parser)
    parser.add_argument("--no-cache", action="store_true", help="forget what earlier runs found")
    parser.add_argument(
        "--watch", action="store_true", help="check again when a file changes, until Ctrl-C"
    )


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=_FORMATS, default="full", help="default: full")
    parser.add_argument("--statistics", action="store_true", help="print how often codes are found")
    parser.add_argument(
        "--output", metavar="FILE", help="write the findings there, whole or not at all"
    )
    parser.add_argument(
        "--exit-zero", action="store_true", help="end with 0 although there are findings"
    )


def _add_mending_arguments(parser: argparse.ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--fix", action="store_true", help="mend what can be mended, in the files")
    how.add_argument("--diff", action="store_true", help="print what --fix would change")
    parser.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="with --fix or --diff: mend also what may change the rendered text",
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Check, and give the exit code."""
    _check_usage(options, parser)
    options.select = _codes(options.select, parser)
    options.ignore = _codes(options.ignore, parser)
    if options.watch:
        return watch(options, lambda run: _report(run, options))
    return _report(check_once(options), options)


def _check_usage(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Refuse what makes no sense together."""
    has_input = "-" in options.paths
    text_only = options.format not in ("full", "concise")
    wrong = {
        "standard input can be read only once": options.paths.count("-") > 1,
        "--stdin-filename goes with the path -": options.stdin_filename and not has_input,
        "--unsafe-fixes goes with --fix or --diff": options.unsafe_fixes
        and not (options.fix or options.diff),
        "--diff prints a difference, and goes with no --format and no --statistics": options.diff
        and (text_only or options.statistics),
        "--statistics goes with the formats full, concise and json": options.statistics
        and options.format not in ("full", "concise", "json"),
        "--watch prints what it finds in files: not with -, --diff or --output": options.watch
        and (has_input or options.diff or options.output),
        "--watch goes with the formats full and concise": options.watch and text_only,
        "--fix with the path - prints the mended text: give --output for the findings": options.fix
        and has_input
        and text_only
        and not options.output,
        "there is no such file of settings": options.config is not None
        and not os.path.isfile(options.config),
    }
    for message, is_wrong in wrong.items():
        if is_wrong:
            parser.error(message)


def _codes(given: Iterable[str] | None, parser: argparse.ArgumentParser) -> tuple[str, ...] | None:
    if given is None:
        return None
    codes = [code.strip().upper() for listed in given for code in listed.split(",")]
    for code in filter(None, codes):
        if not any(known.startswith(code) for known in CODES):
            hint = nearest(code, CODES)
            parser.error(f"there is no code {code!r}" + (f". {hint}" if hint else ""))
    return tuple(filter(None, codes))


def _report(run: Run, options: argparse.Namespace) -> int:
    """Print what a run found, and give the exit code."""
    if options.diff:
        write_text(run.difference(has_colours(options.output)), options.output)
        print_line(run.mended_summary())
        found = bool(run.fixed)
    else:
        if run.mended_input is not None:
            write_text(run.mended_input, None)
        _print_findings(run, options)
        print_line(summary(run.reports, len(run.fixed), unsafe=options.unsafe_fixes))
        found = any(report.findings for report in run.reports)
    return 1 if found and not options.exit_zero else 0


def _print_findings(run: Run, options: argparse.Namespace) -> None:
    text = _formatted(run.reports, len(run.fixed), options)
    if run.mended_input is not None and options.output is None:
        # Standard output holds the mended text, so that an editor can take it.
        for line in text.splitlines():
            print_line(line)
    elif text or options.output is not None:
        write_text(text, options.output)


def _formatted(reports: list[Report], fixed: int, options: argparse.Namespace) -> str:
    colour = has_colours(options.output)
    if options.statistics:
        return statistics(reports, options.format == "json")
    if options.format == "full":
        return full(reports, colour)
    if options.format == "concise":
        return concise(reports, colour)
    if options.format == "github":
        return github(reports)
    if options.format == "json":
        return json_text(reports, fixed)
    # Only now: XML and URLs take time to import.
    from .check_exchange import junit, sarif

    return sarif(reports) if options.format == "sarif" else junit(reports)

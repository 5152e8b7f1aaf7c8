"""`cuecard batch`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from ..errors import PromptError
from ..layout import plural
from ..profile import OPERATOR, PROFILES, STRICT
from .arguments import add_partials_argument, add_scope_arguments, read_scopes
from .inputs import TemplateFile, UsageError, read_template
from .output import error_data, print_diagnostics, print_json, print_line, write_text

if TYPE_CHECKING:
    from ..batch import BatchOptions, BatchResult

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Render a template for each row of a table: the columns are its variables.

INPUT is Parquet, JSON Lines or CSV: a file, a folder or a glob, here or at a URL that Daft
reads. OUTPUT is a folder of parts in the same format, or one file whose name says its format.
It has all columns of the input, the prompt, and the error (code and message) of each row that
failed.

A run that was ended is finished with --resume: parts that are there for the same template,
options and input stay. Exits with 1 when a file could not be read, when all rows failed, and
with --on-error stop when any did."""

EXAMPLES = """\
examples:
  cuecard batch agent.md tasks.parquet prompts.parquet
  cuecard batch agent.md 'tasks/*.jsonl' prompts/ --map directive=question
  cuecard batch triage.md tasks.parquet prompts/ --slots task --on-error drop
  cuecard batch agent.md tasks/ prompts/ --engine ray:10.0.0.1:6379
  cuecard batch agent.md tasks.parquet prompts.parquet --resume
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="TEMPLATE", help="the template, or an agent's file")
    parser.add_argument("input", metavar="INPUT", help="a file, a folder, a glob or a URL")
    parser.add_argument("output", metavar="OUTPUT", help="a folder, a file or a URL of a folder")
    _add_variables(parser)
    add_partials_argument(parser)
    add_scope_arguments(
        parser,
        tokens="count the tokens of each prompt, and the characters of its cacheable front: "
        "auto, estimate, quicktok, … (see cuecard explain)",
    )
    _add_work(parser)
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def _add_variables(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--column", metavar="NAME", default="prompt", help="the column of prompts (prompt)"
    )
    parser.add_argument(
        "--slots",
        metavar="COLUMN",
        help="a column of tasks, whose keys are the variables; the profile is then operator "
        "unless the header or --profile names another",
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        dest="columns",
        metavar="VARIABLE=COLUMN",
        help="the column of a variable, where the names differ; may be repeated",
    )
    parser.add_argument(
        "--profile",
        choices=list(PROFILES),
        help="how to read and render (default: the header's, else strict)",
    )


def _add_work(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on-error",
        choices=("keep", "drop", "stop"),
        default="keep",
        help="a row that fails is kept without a prompt, dropped, or ends the run (keep)",
    )
    parser.add_argument(
        "--engine",
        metavar="local|processes|ray[:ADDRESS]",
        default="local",
        help="where it runs: on this machine, there in processes only, or on a Ray cluster (local)",
    )
    parser.add_argument(
        "--workers", type=_count, metavar="N", help="parts at a time (one a processor)"
    )
    parser.add_argument("--limit", type=_count, metavar="N", help="render the first N rows only")
    parser.add_argument("--resume", action="store_true", help="finish what an earlier run began")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


_count.__name__ = "number above 0"


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Render, print the summary, and give the exit code."""
    try:
        columns = _columns(options.columns)
        result = _render(options, columns)
    except UsageError as error:
        parser.error(str(error))
    except PromptError as error:
        if options.json:
            print_json({"error": error_data(error)})
        raise
    except KeyboardInterrupt:
        print_line("interrupted: what is done stays, add --resume to do the rest")
        sys.stderr.flush()
        # Threads of the engine still run, which the interpreter's own end would not survive.
        os._exit(130)
    _print(result, options)
    return 0 if result.ok else 1


def _columns(assignments: list[str]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for assignment in assignments:
        variable, equals, column = assignment.partition("=")
        if not equals or not variable.strip() or not column.strip():
            raise UsageError(f"--map takes VARIABLE=COLUMN, not {assignment!r}")
        columns[variable.strip()] = column.strip()
    return columns


def _render(options: argparse.Namespace, columns: Mapping[str, str]) -> BatchResult:
    from ..batch import render_files
    from .batch_progress import shown_progress

    asked = PROFILES[options.profile] if options.profile else None
    default = STRICT if options.slots is None else OPERATOR
    scopes = read_scopes(options.scopes)
    read = read_template(options.file, asked, options.partials, scopes, default=default)
    print_diagnostics(read.diagnostics)
    # An engine's own words, as when a worker was lost, are no part of the summary.
    with redirect_stdout(sys.stderr), shown_progress(sys.stderr) as progress:
        return render_files(
            read.template,
            options.input,
            options.output,
            _options(options, columns, read),
            engine=options.engine,
            progress=progress,
        )


def _options(
    options: argparse.Namespace, columns: Mapping[str, str], read: TemplateFile
) -> BatchOptions:
    from ..batch import BatchOptions

    return BatchOptions(
        column=options.column,
        columns=columns,
        slots=options.slots,
        context=_defaults(read),
        tokens=options.tokens,
        scopes=read.template.scopes,
        on_error=options.on_error,
        limit=options.limit,
        resume=options.resume,
        workers=options.workers,
    )


def _defaults(read: TemplateFile) -> dict[str, Any]:
    """What the inputs that an agent declares are where there is no column."""
    guarded = read.template.optional
    return {
        entry.name: entry.default
        for entry in read.agent.inputs
        if not entry.required and (entry.default is not None or entry.name not in guarded)
    }


def _print(result: BatchResult, options: argparse.Namespace) -> None:
    from .batch_summary import summary_lines

    if options.json:
        print_json(result.as_dict())
    else:
        write_text("\n".join(summary_lines(result)) + "\n", None)
    for fault in result.faults:
        hint = f" ({fault.hint})" if fault.hint else ""
        print_line(f"{fault.name}: {fault.code} {fault.message}{hint}")
    if result.stopped:
        left = plural(result.of - result.parts, "part")
        print_line(f"stopped, with {left} left: add --resume to do the rest")

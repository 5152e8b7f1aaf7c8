"""`cuecard vars`."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import PromptError
from ..profile import PROFILES
from ..template import Template
from .arguments import add_partials_argument
from .inputs import TemplateFile, read_template
from .output import error_data, print_diagnostics, print_json, write_text

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
List the variables that a template reads, with the lines on which it does.

A variable is optional when every use of it is guarded: by `is defined`, by `default(...)`,
or, under a profile that takes absent names for empty, by an `if` that tests it. Of an input
that the header declares, the header says so."""

EXAMPLES = """\
examples:
  cuecard vars agent.md
  cuecard vars SYSTEM.md --profile markdown --partials parts/ --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE", help="the template; - is standard input")
    parser.add_argument(
        "--profile",
        choices=list(PROFILES),
        help="what counts as required depends on it (default: the header's, else strict)",
    )
    add_partials_argument(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """List, and give the exit code."""
    try:
        asked = PROFILES[options.profile] if options.profile else None
        read = read_template(options.file, asked, options.partials)
        if read.template.failure is not None:
            raise read.template.failure
    except PromptError as error:
        if options.json:
            print_json({"error": error_data(error)})
        raise
    if options.json:
        print_json({kind: _listed(read.template, names) for kind, names in _kinds(read)})
    else:
        write_text(_table(read), None)
    print_diagnostics(read.diagnostics)
    return 0


def _kinds(read: TemplateFile) -> list[tuple[str, frozenset[str]]]:
    template, inputs = read.template, read.agent.inputs
    optional = {entry.name for entry in inputs if not entry.required} & template.variables
    needed = {entry.name for entry in inputs if entry.required} & template.variables
    required = (template.required - optional) | needed
    return [("required", required), ("optional", template.variables - required)]


def _listed(template: Template, names: frozenset[str]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "places": [{"template": t, "line": line} for t, line in template.places(name)],
        }
        for name in sorted(names)
    ]


def _table(read: TemplateFile) -> str:
    template = read.template
    if not template.variables:
        return "The template reads no variables.\n"
    width = max(map(len, template.variables))
    return "".join(
        f"{kind}  {name.ljust(width)}  {_places(template, name)}\n"
        for kind, names in _kinds(read)
        for name in sorted(names)
    )


def _places(template: Template, name: str) -> str:
    places = template.places(name)
    where = ", ".join(
        str(line) if owner == template.name else f"{owner}:{line}" for owner, line in places
    )
    return f"{'lines' if len(places) > 1 else 'line'} {where}"

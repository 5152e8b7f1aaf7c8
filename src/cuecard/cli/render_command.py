"""`cuecard render`."""

from __future__ import annotations

import argparse
import warnings
from typing import Any

from ..errors import FallbackWarning, PromptError
from ..source import Diagnostic
from .arguments import add_render_arguments, check_standard_input, chosen_profile
from .inputs import TemplateFile, UsageError, read_context, read_template
from .output import error_data, print_diagnostics, print_json, write_text

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Render a template, or the body of a Markdown file with front matter.

Exits with 1 when the render fails; a failing template of the profile `live` is printed
as it stands all the same."""

EXAMPLES = """\
examples:
  cuecard render agent.md --var workspace=/src --var intent=review
  cuecard render agent.md --directive '{"directive": "fix it", "intent": "bug"}'
  cuecard render SYSTEM.md --profile markdown --vars context.json --partials parts/
  echo 'Hello {{ name }}' | cuecard render - --var name=world
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_render_arguments(parser, result="the prompt")
    parser.add_argument(
        "--json", action="store_true", help="print the prompt and its facts as JSON"
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Render, print, and give the exit code."""
    try:
        check_standard_input(options.file, options.vars, options.directive)
        profile = chosen_profile(options)
        read = read_template(options.file, profile, options.partials)
        context = read_context(options.variables, options.vars, options.directive, profile)
        text, failures = _render(read, context)
        result = _json_result(read, text, failures) if options.json else text
        write_text(result, options.output)
    except UsageError as error:
        parser.error(str(error))
    except PromptError as error:
        if options.json:
            print_json({"error": error_data(error)})
        raise
    print_diagnostics((*read.diagnostics, *failures))
    return 1 if failures else 0


def _render(read: TemplateFile, context: Any) -> tuple[str, list[Diagnostic]]:
    """The text, and why it is the template as it stands, if it is."""
    template = read.template
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FallbackWarning)
        text = template.render(context)
    failures = [w for w in caught if issubclass(w.category, FallbackWarning)]
    for other in caught:
        if other not in failures:
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    return text, [
        Diagnostic("P207", str(w.message), None, template.name, "warning") for w in failures
    ]


def _json_result(read: TemplateFile, text: str, failures: list[Diagnostic]) -> str:
    import json

    template = read.template
    findings = [*read.diagnostics, *failures]
    data = {
        "text": text,
        "template": template.name,
        "profile": template.profile.name,
        "characters": len(text),
        "required": sorted(template.required),
        "optional": sorted(template.optional),
        "warnings": [{"code": f.code, "message": f.message, "hint": f.hint} for f in findings],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"

"""`cuecard render`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import PromptError
from ..layout import visible
from ..source import Diagnostic
from .arguments import add_render_arguments, check_standard_input, read_asked_template
from .contexts import add_section_arguments, read_context
from .fallbacks import caught_fallbacks
from .inputs import TemplateFile, UsageError
from .live_options import add_live_arguments, is_live
from .output import error_data, print_diagnostics, print_json, print_line, write_text

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Render a template, or the body of a Markdown file with front matter. The header's `profile`
is how it is rendered; the values are held against the `inputs` that it declares.

With --session, --user, --store, --set-todo, --now or --zone it is rendered as a runtime does
before a turn: providers give date, tools, notes and plan.

Exits with 1 when the render fails; a failing template of the profile `live` is printed
as it stands all the same. A provider that fails under that profile is left out with a
warning; with --strict the exit code is then 1."""

EXAMPLES = """\
examples:
  cuecard render agent.md --var workspace=/src --var intent=review
  cuecard render agent.md --directive '{"directive": "fix it", "intent": "bug"}'
  cuecard render SYSTEM.md --profile markdown --workspace . --tools tools.json
  echo 'Hello {{ name }}' | cuecard render - --var name=world
  cuecard render agent.md --session s1 --user ann --store sqlite:agent.db
  cuecard render agent.md --session s1 --store file:memory --zone Asia/Tokyo
"""


class _Rendered(NamedTuple):
    """What there is to print.

    Attributes:
        text: the prompt.
        findings: what was noticed.
        log: more of it, which has no code.
        failed: whether the exit code is 1.
        data: the prompt and its facts for programs.
    """

    text: str
    findings: Sequence[Diagnostic]
    log: Sequence[str]
    failed: bool
    data: dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_render_arguments(parser, result="the prompt")
    add_section_arguments(parser)
    add_live_arguments(parser)
    parser.add_argument(
        "--json", action="store_true", help="print the prompt and its facts as JSON"
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Render, print, and give the exit code."""
    try:
        check_standard_input(options.file, options.vars, options.directive, options.set_todo)
        rendered = _render_turn(options) if is_live(options) else _render(options)
        result = _as_json(rendered.data) if options.json else rendered.text
        write_text(result, options.output)
    except UsageError as error:
        parser.error(str(error))
    except PromptError as error:
        if options.json:
            print_json({"error": error_data(error)})
        raise
    print_diagnostics(rendered.findings)
    for line in rendered.log:
        print_line(f"warning: {visible(line)}")
    return 1 if rendered.failed else 0


def _render(options: argparse.Namespace) -> _Rendered:
    read = read_asked_template(options)
    context = read_context(options, read)
    with caught_fallbacks(read.template.name) as failures:
        text = read.template.render(context.values)
    findings = [*read.diagnostics, *context.diagnostics, *failures]
    return _Rendered(text, findings, (), bool(failures), _data(read, text, findings))


def _render_turn(options: argparse.Namespace) -> _Rendered:
    from .live import render_turn, turn_data

    done = render_turn(options)
    text = done.prompt.text
    data = {**_data(done.read, text, done.diagnostics), **turn_data(done)}
    noticed = bool(done.diagnostics or done.log)
    failed = done.is_fallback or (options.strict and noticed)
    return _Rendered(text, done.diagnostics, done.log, failed, data)


def _data(read: TemplateFile, text: str, findings: Sequence[Diagnostic]) -> dict[str, Any]:
    template = read.template
    return {
        "text": text,
        "template": template.name,
        "profile": template.profile.name,
        "characters": len(text),
        "required": sorted(template.required),
        "optional": sorted(template.optional),
        "warnings": [{"code": f.code, "message": f.message, "hint": f.hint} for f in findings],
    }


def _as_json(data: dict[str, Any]) -> str:
    import json

    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"

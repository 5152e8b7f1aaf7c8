"""`cuecard agents`."""

from __future__ import annotations

import argparse
from typing import Any

from ..agents import AgentSummary, load_agents, summarize
from ..errors import PromptError
from ..layout import excerpt, names_of, number, plural, table
from ..source import Diagnostic
from .output import error_data, print_diagnostics, print_json, write_text

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


_COLUMNS = ("name", "required", "optional", "characters", "version", "problems", "description")

DESCRIPTION = """\
List the agent files of a folder and of its sub-folders: name, variables, size, version of
the template, and problems. Files without front matter are no agents; they are counted, and
named with --json.

Exits with 1 when a file could not be read, and with --strict at any problem."""

EXAMPLES = """\
examples:
  cuecard agents .claude/agents
  cuecard agents agents/ --json
  cuecard agents agents/ --strict
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("folder", metavar="FOLDER", help="the folder of agent files")
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.add_argument("--strict", action="store_true", help="exit with 1 at any problem")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """List, and give the exit code."""
    try:
        found = load_agents(options.folder)
    except PromptError as error:
        if options.json:
            print_json({"error": error_data(error)})
        raise
    summaries = [summarize(agent) for agent in found]
    of_templates = [p for s in summaries for p in s.problems if p not in s.agent.diagnostics]
    findings = [*found.diagnostics, *of_templates]
    if options.json:
        print_json(_data(summaries, findings))
    else:
        write_text(_listing(summaries), None)
    problems = [finding for finding in findings if finding.severity != "info"]
    print_diagnostics(problems)
    skipped = len(findings) - len(problems)
    if skipped and not options.json:
        note = f"{plural(skipped, 'file')} without front matter left out"
        print_diagnostics([Diagnostic("P404", note, None, options.folder, "info")])
    failed = any(finding.severity == "error" for finding in problems)
    return 1 if failed or (options.strict and problems) else 0


def _data(summaries: list[AgentSummary], findings: list[Diagnostic]) -> dict[str, Any]:
    return {
        "agents": [summary.data() for summary in summaries],
        "diagnostics": [finding.data() for finding in findings],
    }


def _listing(summaries: list[AgentSummary]) -> str:
    if not summaries:
        return "No agent files.\n"
    rows = [_row(summary) for summary in summaries]
    return "\n".join(table(_COLUMNS, rows, right={3, 5})) + "\n"


def _row(summary: AgentSummary) -> tuple[str, ...]:
    agent = summary.agent
    return (
        excerpt(agent.name or ""),
        names_of(summary.required) or "-",
        names_of(summary.optional) or "-",
        number(len(agent.system_prompt)),
        agent.version[:8],
        str(len(summary.problems)),
        excerpt(agent.description or "", 60),
    )

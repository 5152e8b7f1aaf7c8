"""The plan of a turn, printed."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from ..layout import names_of, table, visible
from .output import print_diagnostics, print_line, write_text

if TYPE_CHECKING:
    from .live import LivePlan

__all__ = ["explain_plan"]

_COLUMNS = ("provider", "priority", "runs", "refresh", "variables", "reason")


def explain_plan(options: argparse.Namespace) -> int:
    """Print which providers run for a template, and give the exit code.

    Raises:
        UsageError: options cannot be read.
        PromptError: a file cannot be read, or the template is invalid.
    """
    from .live import plan_turn

    plan = plan_turn(options)
    if options.json:
        result = json.dumps(_data(plan), ensure_ascii=False, indent=2)
    else:
        result = "\n".join(table(_COLUMNS, map(_cells, plan.rows), right={1}))
    write_text(result + "\n", options.output)
    print_diagnostics(plan.diagnostics)
    for line in plan.log:
        print_line(f"warning: {visible(line)}")
    return 0


def _data(plan: LivePlan) -> dict[str, Any]:
    return {
        "plan": list(plan.rows),
        "diagnostics": [finding.data() for finding in plan.diagnostics],
        "log": list(plan.log),
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    variables = row["variables"]
    return (
        row["provider"],
        str(row["priority"]),
        "yes" if row["runs"] else "no",
        row["refresh"] or "-",
        "any" if variables is None else names_of(variables, 60),
        row["reason"],
    )

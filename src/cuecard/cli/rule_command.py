"""`cuecard rule`."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import CODES
from ..language.vocabulary import nearest
from ..layout import table
from ..lint import GROUPS, Rule, all_rules, find_rule, rule_page
from .output import print_json, write_text

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Show the page of a rule of `cuecard check`: what it does, why it matters, an example, and how
to mend it. Without a code, list all rules."""

EXAMPLES = """\
examples:
  cuecard rule P201
  cuecard rule undefined-variable
  cuecard rule --json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("code", metavar="CODE", nargs="?", help="a rule's code or name")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Show, and give the exit code."""
    if options.code is None:
        if options.json:
            print_json([_data(rule) for rule in all_rules()])
        else:
            write_text(_listed(), None)
        return 0
    rule = find_rule(options.code)
    if rule is None:
        parser.error(_unknown(options.code))
    if options.json:
        print_json({**_data(rule), "page": rule.page})
    else:
        write_text(rule_page(rule), None)
    return 0


def _unknown(code: str) -> str:
    if code.upper() in CODES:
        return f"{code.upper()} is no rule: it is the code of an error ({CODES[code.upper()]})"
    words = [word for rule in all_rules() for word in (*rule.codes, rule.name)]
    hint = nearest(code.upper(), words) or nearest(code.lower(), words)
    return f"no rule {code!r}" + (f". {hint}" if hint else "")


def _data(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "group": rule.group,
        "severity": rule.severity,
        "fixes": rule.fixes,
        "further_codes": list(rule.also),
        "summary": rule.summary,
    }


def _listed() -> str:
    rows = [
        (rule.code, rule.name, rule.severity, rule.fixes or "-", rule.summary)
        for group in GROUPS
        for rule in all_rules()
        if rule.group == group
    ]
    return "\n".join(table(("code", "name", "severity", "fix", "what it finds"), rows)) + "\n"

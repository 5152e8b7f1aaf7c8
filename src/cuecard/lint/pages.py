"""Pages: what `cuecard rule` shows and `docs/rules/` holds, made of the rules' docstrings."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import CODES
from .rule import GROUPS, Rule

__all__ = ["mending", "rule_index", "rule_page"]


def mending(rule: Rule) -> str:
    """How a rule's findings can be mended, in a few words; empty when they cannot."""
    return {"safe": "`--fix`", "unsafe": "`--fix --unsafe-fixes`", None: ""}[rule.fixes]


def rule_page(rule: Rule) -> str:
    """The page of a rule, as Markdown."""
    first, _, rest = rule.page.partition("\n")
    facts = [f"Group: {GROUPS[rule.group]}.", f"Severity: {rule.severity}."]
    if rule.fixes is not None:
        facts.append(f"Mended by {mending(rule)}.")
    if rule.also:
        codes = ", ".join(f"{code} ({CODES[code]})" for code in rule.also)
        facts.append(f"Further codes: {codes}.")
    return f"# {rule.code} {rule.name}\n\n{first}\n\n{' '.join(facts)}\n{rest}"


def rule_index(rules: Iterable[Rule]) -> str:
    """The list of rules, by groups, as Markdown."""
    listed = list(rules)
    parts = [
        "# Rules of `cuecard check`\n\n"
        "`cuecard rule CODE` shows the page of a rule. "
        "These pages are made of the same texts, by `make format`.\n"
    ]
    for group, title in GROUPS.items():
        rows = [rule for rule in listed if rule.group == group]
        if rows:
            parts.append(f"\n## {title[0].upper()}{title[1:]}\n\n{_table(rows)}")
    return "".join(parts)


def _table(rules: Iterable[Rule]) -> str:
    lines = ["| code | name | severity | mended by | what it finds |", "|---|---|---|---|---|"]
    lines += [
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity} | {mending(rule)} "
        f"| {rule.summary.replace('|', chr(92) + '|')} |"
        for rule in rules
    ]
    return "\n".join(lines) + "\n"

"""The contract of a rule, and where the rules are found.

A rule is one module in `rules/`. Its docstring is its page: a first line that sums it up,
then the sections "What it does", "Why it matters", "Example", "Use instead" and, when it can
be mended by a program, "Fix". It has these names:

    CODE       the code of its findings, a key of `cuecard.errors.CODES`
    NAME       its name in words, such as `undefined-variable`
    GROUP      one of `GROUPS`
    SEVERITY   `error` or `warning`
    FIXES      `safe`, `unsafe`, or None for a rule that mends nothing
    check      a function of a `Document` that yields `Finding`s

`ALSO`, if it is there, lists further codes that its findings may have. A rule that compares
files has two more functions: `claim` gives what a `Document` brings to the comparison (a
`Claim`, or None), and `across` yields the findings of all claims. A claim is remembered with
the findings, so that a file which has not changed still takes part.

The blocks of code in "Example" and "Use instead" are checked by a test: the first shows what
the rule finds, the second what it does not. A block is a file. Its language says which:
`markdown` is `agent.md`, `jinja` is `prompt.j2`, `toml` is `cuecard.toml`, and a name may
follow the language, such as `markdown .agents/skills/review/SKILL.md`. All blocks of a
section lie in one folder. A sentence `(Two pages of rules follow.)` stands for as much text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, NamedTuple

from ..source import Severity
from .claims import Claim
from .document import Document
from .findings import Finding

__all__ = ["GROUPS", "Rule", "all_rules", "find_rule"]

GROUPS = {
    "syntax": "syntax and engine",
    "variables": "variables",
    "white-space": "white space",
    "files": "agent files and skills",
    "cache": "caching",
    "safety": "safety",
}
"""The groups of rules, with their titles."""


class Rule(NamedTuple):
    """A rule.

    Attributes:
        code: the code of its findings.
        name: its name in words.
        group: key of `GROUPS`.
        severity: of its findings.
        fixes: how it mends: `safe`, `unsafe`, or None for not at all.
        page: its page, as Markdown.
        check: gives its findings in a document.
        also: further codes that its findings may have.
        claim: gives what a document brings to a comparison of files.
        across: gives the findings of such a comparison.
    """

    code: str
    name: str
    group: str
    severity: Severity
    fixes: Literal["safe", "unsafe"] | None
    page: str
    check: Callable[[Document], Iterable[Finding]]
    also: tuple[str, ...] = ()
    claim: Callable[[Document], Claim | None] | None = None
    across: Callable[[Iterable[Claim]], Iterable[Finding]] | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """Every code that its findings may have."""
        return (self.code, *self.also)

    @property
    def summary(self) -> str:
        """The first line of its page."""
        return self.page.partition("\n")[0]

    def findings(self, document: Document) -> Iterator[Finding]:
        """Its findings in a document, complete."""
        for found in self.check(document):
            yield self._complete(found, document.path)

    def findings_across(self, claims: Iterable[Claim]) -> Iterator[Finding]:
        """Its findings in what all files bring to its comparison, complete."""
        if self.across is not None:
            for found in self.across([claim for claim in claims if claim.code == self.code]):
                yield self._complete(found, found.path)

    def _complete(self, found: Finding, path: str) -> Finding:
        return found._replace(
            code=found.code or self.code, severity=found.severity or self.severity, path=path
        )


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, sorted by code."""
    from . import rules

    names = [module.name for module in iter_modules(rules.__path__)]
    found = [_read(import_module(f"{rules.__name__}.{name}")) for name in names]
    return tuple(sorted(found))


def find_rule(code: str) -> Rule | None:
    """The rule of a code or a name; None when there is none."""
    wanted = code.upper()
    for rule in all_rules():
        if wanted == rule.code or wanted in rule.also or code.lower() == rule.name:
            return rule
    return None


def _read(module: Any) -> Rule:
    return Rule(
        module.CODE,
        module.NAME,
        module.GROUP,
        module.SEVERITY,
        module.FIXES,
        (module.__doc__ or "").strip() + "\n",
        module.check,
        getattr(module, "ALSO", ()),
        getattr(module, "claim", None),
        getattr(module, "across", None),
    )

"""Checking: every rule on every file, one bad file never hiding the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from ..errors import PromptError
from ..files import name_of
from ..source import Diagnostic, Found
from .claims import Claim
from .collecting import Target, collect
from .document import Document
from .findings import Finding
from .reading import read_target
from .remembering import Memory
from .rule import Rule, all_rules
from .settings import Settings, common_folder, find_settings
from .suppressing import Suppressions

__all__ = ["Checker", "Report", "lint"]


class Report(NamedTuple):
    """What was found in one file.

    Attributes:
        path: the file.
        findings: sorted by their place.
        document: the file as it was read. None when it could not be read, when the findings
            are remembered from an earlier run, and when it is one of many files that can be
            read again: the trees of a thousand files take a gigabyte.
        claims: what it brings to comparisons of files.
        remembered: whether an earlier run found all this.
    """

    path: str
    findings: tuple[Finding, ...]
    document: Document | None = None
    claims: tuple[Claim, ...] = ()
    remembered: bool = False


def lint(
    paths: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    settings: Settings | None = None,
) -> Found[Diagnostic]:
    """Find the mistakes in agent files, skills and templates before anything runs.

    Args:
        paths: files and folders.
        settings: what is configured; by default what the nearest `cuecard.toml` or
            `pyproject.toml` says, from the folder on that holds all of the paths.

    Returns:
        The findings, sorted by file and place.

    Raises:
        PromptError: the settings cannot be read (P801, P810).
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = (paths,)
    given = list(paths)
    if settings is None:
        settings = find_settings(common_folder(given))
    reports = Checker(settings).check(given)
    return Found(finding.diagnostic for report in reports for finding in report.findings)


class Checker:
    """Checks files by one set of settings.

    Args:
        settings: what is configured.
        memory: what is remembered of earlier runs, if anything is.
    """

    def __init__(self, settings: Settings, memory: Memory | None = None) -> None:
        self.settings = settings
        self.memory = memory

    @cached_property
    def _rules(self) -> list[Rule]:
        # Only when something is checked: a run that remembers all needs no rule.
        return [rule for rule in all_rules() if any(map(self.settings.wants, rule.codes))]

    def check(self, paths: Iterable[str | os.PathLike[str]]) -> list[Report]:
        """Check files and all that is to be checked in folders, each and against each other."""
        return self.compare(self.check_safely(target) for target in collect(paths, self.settings))

    def check_safely(self, target: Target, text: str | None = None) -> Report:
        """Check one file as `check_target` does, but a fault of a rule is a finding too.

        So one file that a rule stumbles over does not hide what is found in the others. The
        document is kept only if there is no file to read it from again.
        """
        try:
            report = self.check_target(target, text)
            return report if text is not None else report._replace(document=None)
        except Exception as error:
            found = Finding(
                f"this file could not be checked: a rule raised `{type(error).__name__}`",
                None,
                "tell the makers of cuecard",
                None,
                "P206",
                "error",
                name_of(target.path),
            )
            return Report(found.path, (found,))

    def check_target(self, target: Target, text: str | None = None) -> Report:
        """Check one file.

        Args:
            target: the file.
            text: its text, when it is known already, as in an editor.
        """
        remembered = self.memory.recall(target) if self.memory and text is None else None
        if remembered is not None:
            return Report(target.path, remembered.findings, None, remembered.claims, True)
        try:
            document = read_target(target, self.settings, text)
        except PromptError as error:
            found = Finding(error.message, error.span, error.hint, None, error.code, "error")
            path = error.template or name_of(target.path)
            wanted = self.settings.wants(found.code, path)
            return Report(path, (found._replace(path=path),) if wanted else ())
        report = self.check_document(document)
        if self.memory is not None and text is None:
            self.memory.remember(target, report.findings, report.claims)
        return report

    def check_document(self, document: Document) -> Report:
        """Run the rules on a document."""
        suppressions = Suppressions(document)
        found = [
            finding
            for rule in self._rules
            for finding in rule.findings(document)
            if self.settings.wants(finding.code, document.path) and not suppressions.covers(finding)
        ]
        found.sort(key=_place)
        claims = tuple(self._claims(document, suppressions))
        return Report(document.path, tuple(found), document, claims)

    def _claims(self, document: Document, suppressions: Suppressions) -> Iterator[Claim]:
        for rule in self._rules:
            claim = rule.claim(document) if rule.claim is not None else None
            if claim is not None:
                silent = not self.settings.wants(rule.code, document.path) or suppressions.covers(
                    Finding("", claim.span, code=rule.code)
                )
                yield claim._replace(code=rule.code, silent=silent)

    def compare(self, checked: Iterable[Report]) -> list[Report]:
        """The reports of several files, with what is found when they are compared."""
        reports = list(checked)
        claims = [claim for report in reports for claim in report.claims]
        if len({claim.what for claim in claims}) == len(claims):
            return reports
        further: dict[str, list[Finding]] = {}
        for rule in self._rules:
            for finding in rule.findings_across(claims):
                further.setdefault(finding.path, []).append(finding)
        return [
            report._replace(
                findings=tuple(sorted((*report.findings, *further[report.path]), key=_place))
            )
            if report.path in further
            else report
            for report in reports
        ]


def _place(finding: Finding) -> tuple[int, int, str]:
    if finding.span is None:
        return 0, 0, finding.code
    return finding.span.line, finding.span.column, finding.code

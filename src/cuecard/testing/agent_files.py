"""Checks of agent files in tests: what `cuecard check` finds, as a failure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import PromptError
from ..files import read_text
from ..layout import plural
from ..lint import Checker, Finding, Report, find_settings
from ..source import Source

__all__ = ["findings_in"]


def findings_in(paths: Iterable[Path], ignore: Sequence[str] = ()) -> str:
    """What is found in agent files, as a report for people; empty when they are clean.

    Args:
        paths: the files, or folders of them. The settings are those of the nearest
            `cuecard.toml` or `pyproject.toml`.
        ignore: codes, or their beginnings, that do not count.

    Raises:
        PromptError: the settings cannot be read (P801, P810).
    """
    parts: list[str] = []
    for path in paths:
        settings = find_settings(path if path.is_dir() else path.parent)
        settings = replace(settings, ignore=(*settings.ignore, *ignore))
        reports = Checker(settings).check([path])
        parts += [_report(finding, report) for report in reports for finding in report.findings]
    if not parts:
        return ""
    return "\n".join((f"{plural(len(parts), 'finding')} in agent files:", *parts))


def _report(finding: Finding, report: Report) -> str:
    error = PromptError(
        finding.message, code=finding.code, template=finding.path, hint=finding.hint
    )
    error.span = finding.span
    if finding.span is not None:
        source = Source(read_text(report.path), report.path)
        error.line_text = source.line_text(finding.span.line)
    return error.report()

"""What `cuecard check` prints for people and for GitHub: findings, statistics, a summary."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import CODES, PromptError
from ..files import read_text
from ..layout import plural, styled, table, visible
from ..lint import Finding, Report, find_rule
from ..source import Source

__all__ = ["concise", "full", "github", "json_text", "statistics", "summary"]

_STYLES = {"error": "31", "warning": "33", "info": "36"}


def full(reports: Sequence[Report], colour: bool) -> str:
    """Each finding with its source line, a caret and its hint."""
    return "".join(
        f"{_excerpt(finding, source, colour)}\n"
        for report in reports
        for source in (_source(report),)
        for finding in report.findings
    )


def _source(report: Report) -> Source | None:
    """The text of a file with findings."""
    if report.document is not None:
        return report.document.source
    if not report.findings:
        return None
    try:
        return Source(read_text(report.path), report.path)
    except PromptError:
        return None


def _excerpt(finding: Finding, source: Source | None, colour: bool) -> str:
    hint = finding.hint
    if hint is None and find_rule(finding.code) is not None:
        hint = f"`cuecard rule {finding.code}` says more"
    error = PromptError(_message(finding), code=finding.code, template=finding.path, hint=hint)
    error.span = finding.span
    if source is not None and finding.span is not None:
        error.line_text = source.line_text(finding.span.line)
    first, *rest = error.report().split("\n")
    return "\n".join([_coloured(first, finding, colour), *rest])


def _message(finding: Finding) -> str:
    fixable = finding.fix is not None
    return f"[*] {finding.message}" if fixable else finding.message


def _coloured(line: str, finding: Finding, colour: bool) -> str:
    place, code, message = line.partition(f"{finding.code} ")
    style = _STYLES[finding.severity or "error"]
    return styled(place, "1", colour) + styled(code, style, colour) + message


def concise(reports: Sequence[Report], colour: bool) -> str:
    """A line for each finding."""
    return "".join(
        f"{_coloured(_line(finding), finding, colour)}\n"
        for report in reports
        for finding in report.findings
    )


def _line(finding: Finding) -> str:
    place = finding.path
    if finding.span is not None:
        place += f":{finding.span.line}:{finding.span.column}"
    return visible(f"{place}: {finding.code} {_message(finding)}").replace("\n", "\u2424")


def json_text(reports: Sequence[Report], fixed: int) -> str:
    """All findings as data for programs."""
    data = {
        "files": len(reports),
        "fixed": fixed,
        "findings": [_data(finding) for report in reports for finding in report.findings],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _data(finding: Finding) -> dict[str, Any]:
    span, fix = finding.span, finding.fix
    return {
        "path": finding.path,
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "hint": finding.hint,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "end_line": span.end_line if span else None,
        "end_column": span.end_column if span else None,
        "fix": fix and {**fix._asdict(), "edits": [edit._asdict() for edit in fix.edits]},
    }


def github(reports: Sequence[Report]) -> str:
    """Commands of a GitHub workflow, which it shows as annotations of the files."""
    return "".join(_annotation(f) + "\n" for report in reports for f in report.findings)


def _annotation(finding: Finding) -> str:
    level = {"error": "error", "warning": "warning", "info": "notice"}[finding.severity or "error"]
    rule = find_rule(finding.code)
    name = rule.name if rule is not None else CODES[finding.code]
    fields: dict[str, Any] = {"title": f"{finding.code} {name}", "file": finding.path}
    span = finding.span
    if span is not None:
        fields.update(line=span.line, endLine=span.end_line)
        if span.line == span.end_line:  # GitHub takes columns of one line only
            fields.update(col=span.column, endColumn=max(span.column, span.end_column - 1))
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in fields.items())
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"::{level} {listed}::{_data_of(finding.message + hint)}"


def _data_of(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data_of(text).replace(":", "%3A").replace(",", "%2C")


def statistics(reports: Sequence[Report], as_json: bool) -> str:
    """How often each code was found, the most frequent first."""
    findings = [finding for report in reports for finding in report.findings]
    fixable = Counter(finding.code for finding in findings if finding.fix is not None)
    counted = sorted(
        Counter(finding.code for finding in findings).items(), key=lambda item: (-item[1], item[0])
    )
    if as_json:
        data = [
            {"code": code, "kind": CODES[code], "count": count, "fixable": fixable[code]}
            for code, count in counted
        ]
        return json.dumps(data, indent=2) + "\n"
    rows = [(f"{count:,}", code, f"{fixable[code]:,}", CODES[code]) for code, count in counted]
    lines = table(("count", "code", "fixable", "kind"), rows, right=(0, 2)) if rows else []
    return "".join(f"{line}\n" for line in lines)


def summary(reports: Sequence[Report], fixed: int, *, unsafe: bool) -> str:
    """What was found, in a sentence or two."""
    findings = [finding for report in reports for finding in report.findings]
    mended = f"Mended {plural(fixed, 'finding')}. " if fixed else ""
    if not reports:
        return "There was no file to check."
    if not findings:
        return f"{mended}Checked {plural(len(reports), 'file')}: all is well."
    counts = Counter(finding.severity for finding in findings)
    kinds = [plural(counts[kind], kind) for kind in ("error", "warning") if counts[kind]]
    where = len({finding.path for finding in findings})
    text = (
        f"{mended}Found {' and '.join(kinds) or plural(len(findings), 'finding')} "
        f"in {where:,} of {plural(len(reports), 'file')}."
    )
    return text + _offer(findings, unsafe=unsafe)


def _offer(findings: Iterable[Finding], *, unsafe: bool) -> str:
    """Which options would mend how many of the findings."""
    fixes = [finding.fix for finding in findings if finding.fix is not None]
    safe = sum(fix.safe for fix in fixes)
    others = 0 if unsafe else len(fixes) - safe
    if safe:
        more = f", {others:,} more with --unsafe-fixes" if others else ""
        return f" {safe:,} can be mended with --fix{more}."
    return f" {others:,} can be mended with --fix --unsafe-fixes." if others else ""

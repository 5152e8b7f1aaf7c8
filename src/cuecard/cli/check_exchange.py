"""Formats in which other programs take findings: SARIF and JUnit's XML."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from .. import __version__
from ..errors import CODES, PromptError
from ..files import read_text
from ..lint import Finding, Fix, Report, find_rule, rule_page
from ..source import Source

__all__ = ["junit", "sarif"]

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# SARIF --------------------------------------------------------------------------------------------


def sarif(reports: Sequence[Report]) -> str:
    """The findings as SARIF 2.1.0, which code scanning services take."""
    codes = sorted({finding.code for report in reports for finding in report.findings})
    indexes = {code: index for index, code in enumerate(codes)}
    driver = {
        "name": "cuecard",
        "version": __version__,
        "rules": [_descriptor(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(finding, indexes, source)
            for report in reports
            for source in (_source(report),)
            for finding in report.findings
        ],
    }
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(log, ensure_ascii=False, indent=2) + "\n"


def _descriptor(code: str) -> dict[str, Any]:
    rule = find_rule(code)
    if rule is None:
        return {"id": code, "shortDescription": {"text": CODES[code]}}
    name = "".join(word.capitalize() for word in rule.name.split("-"))
    summary = rule.summary if code == rule.code else f"{CODES[code].capitalize()}."
    page = rule_page(rule)
    return {
        "id": code,
        "name": name,
        "shortDescription": {"text": summary},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": [rule.group]},
    }


def _source(report: Report) -> Source | None:
    """The text that edits speak of; only findings that can be mended need it."""
    if report.document is not None:
        return report.document.source
    if all(finding.fix is None for finding in report.findings):
        return None
    try:
        return Source(read_text(report.path), report.path)
    except PromptError:
        return None


def _result(finding: Finding, indexes: dict[str, int], source: Source | None) -> dict[str, Any]:
    hint = f" ({finding.hint})" if finding.hint else ""
    artifact = _artifact(finding.path)
    place: dict[str, Any] = {"artifactLocation": artifact}
    span = finding.span
    if span is not None:
        place["region"] = _region((span.line, span.column), (span.end_line, span.end_column))
    result = {
        "ruleId": finding.code,
        "ruleIndex": indexes[finding.code],
        "level": _LEVELS[finding.severity or "error"],
        "message": {"text": finding.message + hint},
        "locations": [{"physicalLocation": place}],
    }
    if finding.fix is not None and source is not None:
        result["fixes"] = [_fix(finding.fix, artifact, source)]
    return result


def _fix(fix: Fix, artifact: dict[str, str], source: Source) -> dict[str, Any]:
    replacements = [
        {
            "deletedRegion": _region(source.position(edit.start), source.position(edit.end)),
            "insertedContent": {"text": edit.text},
        }
        for edit in fix.edits
    ]
    return {
        "description": {"text": fix.message},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": replacements}],
    }


def _region(start: tuple[int, int], end: tuple[int, int]) -> dict[str, int]:
    return {
        "startLine": start[0],
        "startColumn": start[1],
        "endLine": end[0],
        "endColumn": end[1],
    }


def _artifact(path: str) -> dict[str, str]:
    """A file of the folder by its path in it, another by where it is."""
    relative = os.path.relpath(path)
    if relative.startswith(os.pardir):
        return {"uri": Path(path).absolute().as_uri()}
    return {"uri": quote(Path(relative).as_posix(), errors="replace"), "uriBaseId": "%SRCROOT%"}


# JUnit --------------------------------------------------------------------------------------------


def junit(reports: Sequence[Report]) -> str:
    """The findings as JUnit's XML: a suite for each file, a failure for each finding."""
    root = ElementTree.Element("testsuites", name="cuecard")
    total = failures = 0
    for report in reports:
        count = len(report.findings)
        cases = max(1, count)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=_clean(report.path),
            tests=str(cases),
            failures=str(count),
            errors="0",
            skipped="0",
            time="0",
        )
        for finding in report.findings:
            _add_failure(suite, finding)
        if not count:
            _add_case(suite, report.path, "all is well")
        total, failures = total + cases, failures + count
    root.attrib.update(tests=str(total), failures=str(failures), errors="0", time="0")
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _add_case(suite: ElementTree.Element, path: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", name=_clean(name), classname=_clean(path), file=_clean(path), time="0"
    )


def _add_failure(suite: ElementTree.Element, finding: Finding) -> None:
    span = finding.span
    place = f":{span.line}:{span.column}" if span is not None else ""
    case = _add_case(suite, finding.path, f"{finding.code}{place}")
    if span is not None:
        case.set("line", str(span.line))
    failure = ElementTree.SubElement(
        case, "failure", type=finding.code, message=_clean(finding.message)
    )
    hint = f"\n{finding.hint}" if finding.hint else ""
    failure.text = _clean(f"{finding.path}{place}: {finding.code} {finding.message}{hint}")


def _clean(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)

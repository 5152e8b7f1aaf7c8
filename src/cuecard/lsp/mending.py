"""Mending: the fixes of findings, comments that switch findings off, and all safe fixes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..errors import PromptError
from ..frontmatter import read_document
from ..lint import Edit, Finding, fix_document
from ..scanner import WHITE_SPACE
from .analysis import Analysis

__all__ = [
    "Mending",
    "has_safe_fixes",
    "ignore_comment",
    "mend_all",
    "mendings_of",
    "smallest_edit",
]


class Mending(NamedTuple):
    """A change that is offered for a finding.

    Attributes:
        title: what it does.
        edits: replacements, with offsets of the text as the editor has it.
        finding: what it is for.
        safe: whether no text that could be rendered changes.
        ignores: whether it only switches the finding off.
    """

    title: str
    edits: tuple[Edit, ...]
    finding: Finding
    safe: bool = True
    ignores: bool = False


def mendings_of(analysis: Analysis, start: int, end: int) -> Iterator[Mending]:
    """The changes that are offered for the findings that touch a range."""
    touched = [f for f in analysis.findings if _touches(analysis.range_of(f.span), start, end)]
    for finding in touched:
        if finding.fix is not None:
            fix = finding.fix
            title = fix.message if fix.safe else f"{fix.message} (may change the prompt)"
            yield Mending(title, _shifted(analysis, fix.edits), finding, fix.safe)
    for finding in touched:
        edit = ignore_comment(analysis, finding)
        if edit is not None:
            title = f"Ignore {finding.code} on this line"
            yield Mending(title, (edit,), finding, True, True)


def _touches(place: tuple[int, int], start: int, end: int) -> bool:
    return place[0] <= end and place[1] >= start


def _shifted(analysis: Analysis, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    mark = analysis.mark
    return tuple(Edit(edit.start + mark, edit.end + mark, edit.text) for edit in edits)


def ignore_comment(analysis: Analysis, finding: Finding) -> Edit | None:
    """A comment that switches a finding off and leaves the prompt as it is.

    None where no comment can stand: in a line that is blank or ends within a tag, and in a
    template that does not parse.
    """
    document, span = analysis.document, finding.span
    if document is None or span is None:
        return None
    start, _ = analysis.range_of(span)
    begin = analysis.text.rfind("\n", 0, start) + 1
    end = analysis.text.find("\n", start)
    end = len(analysis.text) if end < 0 else end
    line = analysis.text[begin:end]
    end -= line.endswith("\r")
    if not line.strip():
        return None
    if start < analysis.header_end:
        return _in_header(analysis, Edit(end, end, f" # cuecard: ignore {finding.code}"))
    mark = _mark(analysis, end)
    if mark is None:
        return None
    return Edit(end, end, f"{{# cuecard: ignore {finding.code} {mark}#}}")


def _in_header(analysis: Analysis, edit: Edit) -> Edit | None:
    """A comment in a header; None where it would be part of a value."""
    before = analysis.document.header if analysis.document is not None else None
    changed = analysis.text[: edit.start] + edit.text + analysis.text[edit.end :]
    try:
        after = read_document(changed, analysis.target.path)
    except PromptError:
        return None
    if before is None or after.metadata != before.metadata:
        return None
    return edit if after.body.text == before.body.text else None


def _mark(analysis: Analysis, end: int) -> str | None:
    """The white-space mark with which a comment at the end of a line changes nothing."""
    document = analysis.document
    if document is None or document.failure is not None:
        return None
    offset = end - analysis.offset_in_body(0)
    parts = document.parts
    index = next((i for i, part in enumerate(parts) if part.start < offset <= part.end), None)
    if index is None:
        return "+"
    part = parts[index]
    if part.kind == "text":
        # The blanks behind a tag that strips them go on behind the comment.
        blank = not document.body.text[part.start : offset].strip(WHITE_SPACE)
        return "-" if blank and index > 0 and parts[index - 1].trail == "-" else "+"
    if part.end != offset:
        return None
    # Only an output leaves the line break behind it by itself.
    return part.trail or ("+" if part.kind == "output" else "")


def has_safe_fixes(analysis: Analysis) -> bool:
    """Whether anything can be mended that changes no prompt."""
    return any(finding.fix is not None and finding.fix.safe for finding in analysis.findings)


def mend_all(analysis: Analysis) -> Edit | None:
    """One edit that mends all that can be mended safely; None when there is nothing."""
    if analysis.document is None:
        return None
    fixed = fix_document(analysis.checker, analysis.target, analysis.document)
    return smallest_edit(analysis.text, analysis.text[: analysis.mark] + fixed.text)


def smallest_edit(before: str, after: str) -> Edit | None:
    """The one edit that turns a text into another; None when they are equal."""
    if before == after:
        return None
    most = min(len(before), len(after))
    start = next((i for i in range(most) if before[i] != after[i]), most)
    most -= start
    tail = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    return Edit(start, len(before) - tail, after[start : len(after) - tail])

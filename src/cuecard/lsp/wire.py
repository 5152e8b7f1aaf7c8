"""From what this room knows to the types of the protocol."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lsprotocol import types

from ..errors import PromptError
from ..lint import Edit, Finding
from .analysis import Analysis
from .completing import Choice, Choices
from .document import OpenDocument
from .mending import Mending
from .positions import Place, Positions

__all__ = [
    "action_of",
    "completion_of",
    "diagnostics_of",
    "edits_of",
    "fault_of",
    "markup",
    "place_of",
    "range_of",
    "settings_fault_of",
]

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
_UNUSED = frozenset(("P211", "P214", "P501"))
"""Codes of what could be left out, which editors show faded."""
_KINDS = {
    "variable": types.CompletionItemKind.Variable,
    "binding": types.CompletionItemKind.Variable,
    "attribute": types.CompletionItemKind.Field,
    "function": types.CompletionItemKind.Function,
    "keyword": types.CompletionItemKind.Keyword,
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.Value,
    "file": types.CompletionItemKind.File,
}


def place_of(position: types.Position) -> Place:
    """A position of the protocol as a place."""
    return Place(position.line, position.character)


def range_of(positions: Positions, start: int, end: int) -> types.Range:
    """A range of offsets as the protocol has it."""
    first, last = positions.place(start), positions.place(end)
    return types.Range(types.Position(*first), types.Position(*last))


def diagnostics_of(document: OpenDocument, analysis: Analysis) -> list[types.Diagnostic]:
    """The findings in a document."""
    return [diagnostic_of(document, analysis, finding) for finding in analysis.findings]


def diagnostic_of(document: OpenDocument, analysis: Analysis, finding: Finding) -> types.Diagnostic:
    """A finding as the protocol has it."""
    return types.Diagnostic(
        range_of(document.positions, *analysis.range_of(finding.span)),
        finding.message if finding.hint is None else f"{finding.message}\n{finding.hint}",
        severity=_SEVERITIES[finding.severity or "error"],
        code=finding.code,
        source="cuecard",
        tags=[types.DiagnosticTag.Unnecessary] if finding.code in _UNUSED else None,
    )


def fault_of(error: Exception) -> types.Diagnostic:
    """What is told of a file that could not be checked."""
    start = types.Position(0, 0)
    message = f"this file could not be checked: a rule raised `{type(error).__name__}`"
    return types.Diagnostic(types.Range(start, start), message, code="P206", source="cuecard")


def settings_fault_of(error: PromptError) -> types.Diagnostic:
    """What is wrong with a file of settings."""
    start = types.Position(0, 0)
    message = error.message if error.hint is None else f"{error.message}\n{error.hint}"
    return types.Diagnostic(
        types.Range(start, start),
        message,
        severity=types.DiagnosticSeverity.Error,
        code=error.code,
        source="cuecard",
    )


def edits_of(document: OpenDocument, edits: Iterable[Edit]) -> types.WorkspaceEdit:
    """Replacements in one document."""
    changes = [
        types.TextEdit(range_of(document.positions, edit.start, edit.end), edit.text)
        for edit in edits
    ]
    return types.WorkspaceEdit(changes={document.uri: changes})


def action_of(document: OpenDocument, analysis: Analysis, mending: Mending) -> types.CodeAction:
    """A change that is offered for a finding."""
    return types.CodeAction(
        mending.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic_of(document, analysis, mending.finding)],
        edit=edits_of(document, mending.edits),
        is_preferred=mending.safe and not mending.ignores,
    )


def completion_of(
    document: OpenDocument, choices: Choices | None, markdown: bool
) -> types.CompletionList:
    """The choices at a place."""
    if choices is None:
        return types.CompletionList(False, [])
    place = range_of(document.positions, choices.start, choices.end)
    return types.CompletionList(False, [_item(c, place, markdown) for c in choices.choices])


def _item(choice: Choice, place: types.Range, markdown: bool) -> types.CompletionItem:
    return types.CompletionItem(
        choice.label,
        kind=_KINDS[choice.kind],
        detail=choice.detail or None,
        documentation=markup(choice.text, markdown) if choice.text else None,
        sort_text=f"{choice.rank}{choice.label}",
        text_edit=types.TextEdit(place, choice.label + choice.behind),
    )


def markup(text: str, markdown: bool) -> types.MarkupContent:
    """A text for an editor that shows Markdown, or that does not."""
    if markdown:
        return types.MarkupContent(types.MarkupKind.Markdown, text)
    plain = re.sub(r"\*\*|```\w*\n?|`", "", text)
    return types.MarkupContent(types.MarkupKind.PlainText, plain)

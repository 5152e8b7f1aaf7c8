"""The requests that the server answers, one function each."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.uris import from_fs_path

from ..lint import Edit
from . import wire
from .completing import choices_at
from .defining import origin_at
from .hovering import hover_at
from .laying_out import laid_out
from .mending import has_safe_fixes, mend_all, mendings_of
from .protocol import RefusedRequestError
from .renaming import RefusedError, places_at, rename, renameable_at
from .server import Server

__all__ = ["register"]

_FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.cuecard"


def register(server: Server) -> None:
    """Have a server answer all requests of this module."""
    for name, (answer, options) in _ANSWERS.items():
        server.feature(name, options)(answer)


def _initialized(ls: Server, params: types.InitializedParams) -> None:
    ls.watch()


def _shutdown(ls: Server, params: Any) -> None:
    ls.was_shut_down = True


def _files_changed(ls: Server, params: Any) -> None:
    ls.check_again()


def _diagnostics(
    ls: Server, params: types.DocumentDiagnosticParams
) -> types.RelatedFullDocumentDiagnosticReport:
    return types.RelatedFullDocumentDiagnosticReport(ls.diagnose(params.text_document.uri))


def _hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    document, analysis, offset = ls.look_at(params)
    found = hover_at(analysis, offset)
    if found is None:
        return None
    text = wire.markup(found.text, ls.shows_markdown)
    return types.Hover(text, wire.range_of(document.positions, found.start, found.end))


def _completion(ls: Server, params: types.CompletionParams) -> types.CompletionList:
    document, analysis, offset = ls.look_at(params)
    return wire.completion_of(document, choices_at(analysis, offset), ls.shows_markdown)


def _definition(ls: Server, params: types.DefinitionParams) -> types.Location | None:
    document, analysis, offset = ls.look_at(params)
    found = origin_at(analysis, offset)
    if found is None:
        return None
    if found.path is None:
        place = wire.range_of(document.positions, found.start, found.end)
        return types.Location(document.uri, place)
    start = types.Position(found.start, 0)
    return types.Location(from_fs_path(found.path) or "", types.Range(start, start))


def _references(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
    document, analysis, offset = ls.look_at(params)
    places = places_at(analysis, offset)
    if places is None:
        return []
    ranges = list(places.uses)
    if params.context.include_declaration and places.declaration is not None:
        ranges.insert(0, places.declaration)
    return [
        types.Location(document.uri, wire.range_of(document.positions, *each)) for each in ranges
    ]


def _prepare_rename(
    ls: Server, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder:
    document, analysis, offset = ls.look_at(params)
    try:
        places = renameable_at(analysis, offset)
    except RefusedError as error:
        raise RefusedRequestError(str(error)) from None
    place = wire.range_of(document.positions, places.start, places.end)
    return types.PrepareRenamePlaceholder(place, places.name)


def _rename(ls: Server, params: types.RenameParams) -> types.WorkspaceEdit:
    document, analysis, offset = ls.look_at(params)
    try:
        ranges = rename(analysis, offset, params.new_name)
    except RefusedError as error:
        raise RefusedRequestError(str(error)) from None
    return wire.edits_of(document, [Edit(start, end, params.new_name) for start, end in ranges])


def _code_actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    document, analysis = ls.look(params.text_document.uri)
    positions = document.positions
    start, end = (
        positions.offset(wire.place_of(place)) for place in (params.range.start, params.range.end)
    )
    actions = []
    if _is_asked(params.context, types.CodeActionKind.QuickFix.value):
        actions = [
            wire.action_of(document, analysis, mending)
            for mending in mendings_of(analysis, start, end)
        ]
    if _is_asked(params.context, _FIX_ALL) and has_safe_fixes(analysis):
        action = types.CodeAction(
            "Fix all that is safe to fix", kind=_FIX_ALL, data=params.text_document.uri
        )
        actions.append(action if ls.resolves_edits else _resolve_action(ls, action))
    return actions


def _is_asked(context: types.CodeActionContext, kind: str) -> bool:
    if context.only is None:
        return True
    asked = [str(getattr(each, "value", each)) for each in context.only]
    return any(kind == each or kind.startswith(f"{each}.") or not each for each in asked)


def _resolve_action(ls: Server, action: types.CodeAction) -> types.CodeAction:
    """The edit of an action, which is sought only when it is chosen."""
    document, analysis = ls.look(str(action.data))
    edit = mend_all(analysis)
    action.edit = wire.edits_of(document, [edit] if edit is not None else [])
    return action


def _formatting(ls: Server, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
    document, analysis = ls.look(params.text_document.uri)
    edit = laid_out(analysis)
    if edit is None:
        return []
    place = wire.range_of(document.positions, edit.start, edit.end)
    return [types.TextEdit(place, edit.text)]


_ANSWERS: dict[str, tuple[Any, Any]] = {
    types.INITIALIZED: (_initialized, None),
    types.SHUTDOWN: (_shutdown, None),
    types.TEXT_DOCUMENT_DID_SAVE: (_files_changed, None),
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: (_files_changed, None),
    types.TEXT_DOCUMENT_DIAGNOSTIC: (
        _diagnostics,
        types.DiagnosticOptions(True, False, identifier="cuecard"),
    ),
    types.TEXT_DOCUMENT_HOVER: (_hover, None),
    types.TEXT_DOCUMENT_COMPLETION: (
        _completion,
        types.CompletionOptions(trigger_characters=["{", "%", " ", ".", "|"]),
    ),
    types.TEXT_DOCUMENT_DEFINITION: (_definition, None),
    types.TEXT_DOCUMENT_REFERENCES: (_references, None),
    types.TEXT_DOCUMENT_PREPARE_RENAME: (_prepare_rename, None),
    types.TEXT_DOCUMENT_RENAME: (_rename, types.RenameOptions(prepare_provider=True)),
    types.TEXT_DOCUMENT_CODE_ACTION: (
        _code_actions,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, _FIX_ALL], resolve_provider=True),
    ),
    types.CODE_ACTION_RESOLVE: (_resolve_action, None),
    types.TEXT_DOCUMENT_FORMATTING: (_formatting, None),
}

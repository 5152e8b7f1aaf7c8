"""The server: an editor's requests, answered from what is known of its open files."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any, Protocol

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from .. import __version__
from . import wire
from .analysis import Analysis
from .configured import SETTINGS_FILES, Configured
from .document import OpenDocument
from .protocol import Protocol as LanguageProtocol
from .protocol import RefusedRequestError, log_fault

__all__ = ["Server"]

_AT_ONCE = 0.05
"""Seconds that a check may take to be made at once, after every change."""


class _Positioned(Protocol):
    """The parameters of a request about a position in a file."""

    text_document: types.TextDocumentIdentifier
    position: types.Position


_WATCHED = ("**/*.md", "**/*.j2", "**/*.jinja", "**/*.jinja2")


class Server(LanguageServer):
    """A language server for prompts.

    Attributes:
        was_shut_down: whether the editor has asked for the end.
    """

    def __init__(self) -> None:
        super().__init__("cuecard", __version__, protocol_cls=LanguageProtocol)
        self.was_shut_down = False
        self._documents: dict[str, OpenDocument] = {}
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        self._configured = Configured()
        self._faulty: set[str] = set()

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Nothing is shown to the user: what went wrong is logged already."""

    # texts -------------------------------------------------------------------------------------

    def opened(self, item: types.TextDocumentItem) -> None:
        """A file is open from now on."""
        path = to_fs_path(item.uri) if item.uri.startswith("file:") else None
        folder = os.path.dirname(path) if path else self.workspace.root_path or os.getcwd()
        name = path or os.path.join(folder, os.path.basename(item.uri.partition(":")[2]))
        agreed = self.workspace.position_encoding
        encoding = str(getattr(agreed, "value", agreed))
        self._documents[item.uri] = OpenDocument(
            item.uri, name, folder, item.text, item.version, encoding
        )
        self._check_soon(item.uri)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """The text of an open file has changed."""
        document = self._documents[params.text_document.uri]
        for change in params.content_changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = map(wire.place_of, (change.range.start, change.range.end))
                document.change(start, end, change.text)
            else:
                document.change(None, None, change.text)
        document.version = params.text_document.version
        self._check_soon(document.uri)

    def closed(self, uri: str) -> None:
        """A file is open no longer."""
        self._documents.pop(uri, None)
        if not self._pulls:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def look(self, uri: str) -> tuple[OpenDocument, Analysis]:
        """An open file, and what is known of it now.

        Raises:
            RefusedRequestError: it is not open.
        """
        document = self._documents.get(uri)
        if document is None:
            raise RefusedRequestError("the file is not open")
        return document, document.analysis(self._configured.checker(document.folder))

    def look_at(self, params: _Positioned) -> tuple[OpenDocument, Analysis, int]:
        """An open file, what is known of it, and the offset of a position in it."""
        document, analysis = self.look(params.text_document.uri)
        return document, analysis, document.positions.offset(wire.place_of(params.position))

    # diagnostics -------------------------------------------------------------------------------

    @property
    def _pulls(self) -> bool:
        """Whether the editor asks for diagnostics by itself."""
        documents = self.client_capabilities.text_document
        return documents is not None and documents.diagnostic is not None

    def _check_soon(self, uri: str) -> None:
        """Tell what is wrong with a file, after the messages that wait.

        Where the last check took long, the questions that follow a change are answered first.
        """
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        took = self._documents[uri].seconds
        delay = took if took > _AT_ONCE else 0.0
        loop = asyncio.get_running_loop()
        self._waiting[uri] = loop.call_later(delay, self._publish, uri)

    def _publish(self, uri: str) -> None:
        self._waiting.pop(uri, None)
        document = self._documents.get(uri)
        if document is None:
            return
        self._publish_settings(document.folder)
        if not self._pulls:
            found = self.diagnose(uri)
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, found, document.version)
            )

    def diagnose(self, uri: str) -> list[types.Diagnostic]:
        """What is wrong with a file."""
        document, analysis = self.look(uri)
        start = time.perf_counter()
        try:
            return wire.diagnostics_of(document, analysis)
        except Exception as error:
            log_fault("a file could not be checked", error)
            return [wire.fault_of(error)]
        finally:
            document.seconds = time.perf_counter() - start

    def _publish_settings(self, folder: str) -> None:
        """Tell what is wrong with the settings of a folder, in the file that has them."""
        error = self._configured.error(folder)
        uri = from_fs_path(error.template) if error is not None and error.template else None
        for healed in self._faulty - {uri}:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(healed, []))
        self._faulty = set()
        if error is not None and uri is not None:
            self._faulty.add(uri)
            found = [wire.settings_fault_of(error)]
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))

    def check_again(self) -> None:
        """Look at every open file anew, since others have changed."""
        for document in self._documents.values():
            document.forget()
            self._check_soon(document.uri)
        workspace = self.client_capabilities.workspace
        refreshes = workspace.diagnostics if workspace is not None else None
        if self._pulls and refreshes is not None and refreshes.refresh_support:
            self.workspace_diagnostic_refresh(None)

    def watch(self) -> None:
        """Ask to be told when settings or partials change on the disk."""
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is None or not watching.dynamic_registration:
            return
        patterns = (*(f"**/{name}" for name in SETTINGS_FILES), *_WATCHED)
        options = types.DidChangeWatchedFilesRegistrationOptions(
            [types.FileSystemWatcher(pattern) for pattern in patterns]
        )
        self.client_register_capability(
            types.RegistrationParams(
                [types.Registration("watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)]
            )
        )

    @property
    def shows_markdown(self) -> bool:
        """Whether the editor shows Markdown where the cursor rests."""
        documents = self.client_capabilities.text_document
        hover = documents.hover if documents is not None else None
        formats = hover.content_format if hover is not None else None
        return types.MarkupKind.Markdown in (formats or ())

    @property
    def resolves_edits(self) -> bool:
        """Whether the editor asks for the edit of an action when it is chosen."""
        documents = self.client_capabilities.text_document
        actions = documents.code_action if documents is not None else None
        resolving = actions.resolve_support if actions is not None else None
        return resolving is not None and "edit" in resolving.properties

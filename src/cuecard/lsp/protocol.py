"""The protocol as pygls speaks it, where this server has to differ.

- Texts are kept here: pygls counts lines as Python's `splitlines` does, which takes more
  characters for line breaks than the protocol allows.
- A request whose parameters cannot be read is answered, so that nobody waits for ever.
- What goes wrong is written to standard error without a word of a document.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method

if TYPE_CHECKING:
    from .server import Server

__all__ = ["Protocol", "RefusedRequestError", "log_discreetly", "log_fault"]

_REQUEST_FAILED = -32803


class RefusedRequestError(JsonRpcException):
    """A request that cannot be met, for a reason that the editor shows."""

    CODE = _REQUEST_FAILED


class Protocol(LanguageServerProtocol):
    """Hands every change of a text on to the server."""

    _server: Server

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """A file is opened."""
        self._server.opened(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """A file is changed."""
        self._server.changed(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """A file is closed."""
        self._server.closed(params.text_document.uri)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message as an object of the protocol."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            identity = data.get("id")
            if "method" in data and isinstance(identity, (int, str)):
                self._send_response(identity, error=error.to_response_error())
            raise


class _Discreet(logging.Formatter):
    """Writes what happened and where in the program, but nothing that it happened to."""

    def format(self, record: logging.LogRecord) -> str:
        lines = [f"cuecard lsp: {str(record.msg).partition(chr(10))[0]}"]
        error = record.exc_info[1] if record.exc_info else None
        while error is not None:
            lines.append(f"  {type(error).__name__}")
            lines.extend(_frames(error))
            error = error.__cause__ or error.__context__
        return "\n".join(lines)


def _frames(error: BaseException) -> Iterator[str]:
    for frame in traceback.extract_tb(error.__traceback__):
        yield f"    {frame.filename}:{frame.lineno} in {frame.name}"


def _is_fault(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], RefusedRequestError))


def log_fault(what: str, error: Exception) -> None:
    """Write that something went wrong, and where."""
    logging.getLogger(__name__).error(what, exc_info=error)


def log_discreetly() -> None:
    """Have the loggers of this process write to standard error, without any text of documents."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Discreet())
    handler.addFilter(_is_fault)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)

"""Starting the language server on standard input and output."""

from __future__ import annotations

import gc
import sys

from ..errors import MissingExtraError

__all__ = ["serve"]


def serve() -> int:
    """Talk to an editor until it says that it is done.

    Returns:
        0 when the editor shut the server down before it ended it, else 1.

    Raises:
        MissingExtraError: the package `pygls` is not installed (P807).
    """
    try:
        from .protocol import log_discreetly
        from .requests import register
        from .server import Server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise MissingExtraError(
            "the language server needs the package `pygls`", hint="pip install 'cuecard[lsp]'"
        ) from None
    log_discreetly()
    # A provider of an installed package may print something when it is loaded.
    protocol_output = sys.stdout.buffer
    sys.stdout = sys.stderr
    server = Server()
    register(server)
    # What is loaded now stays, and need not be looked through at every keystroke.
    gc.collect()
    gc.freeze()
    server.start_io(stdout=protocol_output)
    return 0 if server.was_shut_down else 1

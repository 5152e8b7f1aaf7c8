"""Running: the application under uvicorn, until it is asked to stop."""

from __future__ import annotations

import gc
import warnings
from socket import socket

import uvicorn

from ..errors import FallbackWarning
from .guard import App
from .heads import BoundedHeads

__all__ = ["serve"]


def serve(app: App, listener: socket, *, grace: float = 30.0) -> None:
    """Serve until the process is asked to end; what is in flight is finished first.

    Args:
        app: the application.
        listener: a socket that is bound; it is closed at the end.
        grace: seconds that requests in flight have at the end.
    """
    # Answers say so by themselves, and the process is the service's own.
    warnings.simplefilter("ignore", FallbackWarning)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        ws="none",
        http=BoundedHeads,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=int(grace),
        lifespan="on",
    )
    # What is there now stays, and need not be looked at by every collection.
    gc.collect()
    gc.freeze()
    uvicorn.Server(config).run(sockets=[listener])

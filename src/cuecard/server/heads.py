"""Heads of requests, bounded in size and time, which uvicorn leaves to a proxy in front of it.

Without, a stranger who sends header after header takes all of the memory, before any token is
asked for.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["BoundedHeads"]

_MOST_BYTES = 1 << 16
_SECONDS = 20.0


class BoundedHeads(HttpToolsProtocol):
    """A connection that is closed when a head is too large, or does not come to its end."""

    _is_head = False
    _size = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come, who may have nothing to say."""
        super().connection_made(transport)
        self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._is_head, self._size = True, 0
        self._start()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head has come to its end."""
        self._is_head = False
        self._stop()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        """A part of a request has come; what a head begins with is at most one read."""
        was_head = self._is_head
        super().data_received(data)
        if was_head and self._is_head:
            self._size += len(data)
            if self._size > _MOST_BYTES:
                self._is_head = False
                self.send_400_response("The head of the request is too large.")

    def _start(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(_SECONDS, self._expire)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        self._timer = None
        self.transport.close()

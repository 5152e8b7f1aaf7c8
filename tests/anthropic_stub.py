"""A server on this machine that answers `/v1/messages` from a list, and keeps what it is sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["AnthropicStub", "serving"]


class AnthropicStub:
    """What the server answers and was sent.

    Args:
        answers: the content of each answer, in turn; the last one is given again.

    Attributes:
        bodies: the body of each request, as its bytes.
        received: is set when a request has come.
        may_answer: what an answer waits for.
        url: where the server is.
    """

    def __init__(self, answers: Sequence[list[dict[str, Any]]]) -> None:
        self._answers = list(answers)
        self.bodies: list[bytes] = []
        self.received = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.url = ""

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The bodies as data."""
        return [json.loads(body) for body in self.bodies]

    def answer(self, body: bytes) -> bytes:
        """The answer to a request."""
        content = self._answers[min(len(self.bodies), len(self._answers) - 1)]
        self.bodies.append(body)
        self.received.set()
        self.may_answer.wait(30)
        called = any(block["type"] == "tool_use" for block in content)
        message = {
            "id": f"msg_{len(self.bodies)}",
            "type": "message",
            "role": "assistant",
            "model": "stub",
            "content": content,
            "stop_reason": "tool_use" if called else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return json.dumps(message).encode()


@contextmanager
def serving(answers: Sequence[list[dict[str, Any]]]) -> Iterator[AnthropicStub]:
    """Serve until the block ends."""
    stub = AnthropicStub(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            known = self.path == "/v1/messages"
            answer = stub.answer(body) if known else b"{}"
            try:
                self.send_response(200 if known else 404)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
            except OSError:
                pass  # whoever asked is gone

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield stub
    finally:
        stub.may_answer.set()
        server.shutdown()
        thread.join()
        server.server_close()

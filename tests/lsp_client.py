"""A client of the language server: its process, and messages as the protocol frames them."""

import contextlib
import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

Json = Any
SECONDS = 30


class RequestError(Exception):
    """The server answered a request with an error."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.code = error["code"]


class Client:
    """A server's process, and what it has said so far.

    `asks` lists the capabilities of the client; `pushed` holds the newest diagnostics by URI.
    """

    def __init__(self, folder: Path, asks: Json = None) -> None:
        self.folder = folder
        self.pushed: dict[str, Json] = {}
        self.asked: list[Json] = []
        self.unclaimed: list[Json] = []
        self._number = 0
        self._said: queue.Queue[Json] = queue.Queue()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cuecard", "lsp"],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.answer = self.request(
            "initialize",
            {"processId": None, "rootUri": folder.as_uri(), "capabilities": asks or {}},
        )
        self.notify("initialized", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        stream = self.process.stdout
        size = 0
        while line := stream.readline():
            if line.lower().startswith(b"content-length:"):
                size = int(line.partition(b":")[2])
            elif line == b"\r\n":
                self._said.put(json.loads(stream.read(size)))
        self._said.put(None)

    def send(self, body: bytes) -> None:
        """Send a message that may be none."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method: str, params: Json) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def request(self, method: str, params: Json) -> Json:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        while True:
            said = self._next()
            if said.get("id") == self._number and "method" not in said:
                if "error" in said:
                    raise RequestError(said["error"])
                return said["result"]

    def _next(self) -> Json:
        """The server's next message; diagnostics and questions are kept."""
        said = self._said.get(timeout=SECONDS)
        assert said is not None, "the server has ended"
        if said.get("method") == "textDocument/publishDiagnostics":
            self.pushed[said["params"]["uri"]] = said["params"]
        elif "method" in said:
            self.asked.append(said)
        else:
            self.unclaimed.append(said)
        return said

    def until(self, uri: str, version: int | None = None) -> Json:
        """The diagnostics of a file that are told next, or of a version of it."""
        self.pushed.pop(uri, None)
        while uri not in self.pushed or self.pushed[uri].get("version") != version:
            self._next()
        return self.pushed[uri]["diagnostics"]

    def open(self, path: Path, text: str) -> str:
        """Open a file; its URI."""
        uri = path.as_uri()
        item = {"uri": uri, "languageId": "markdown", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, version: int, *changes: Json) -> None:
        document = {"uri": uri, "version": version}
        self.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)}
        )

    def at(self, method: str, uri: str, place: tuple[int, int], **more: Json) -> Json:
        """Ask about a place in a file."""
        params = {
            "textDocument": {"uri": uri},
            "position": {"line": place[0], "character": place[1]},
        }
        return self.request(f"textDocument/{method}", {**params, **more})

    def end(self) -> tuple[int, str]:
        """Wait for the process; its exit code, and what it wrote to standard error."""
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        status = self.process.wait(SECONDS)
        return status, self.process.stderr.read().decode()


def units(text: str, encoding: str = "utf-16") -> int:
    """The length of a text in code units."""
    size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return len(text.encode(f"{encoding}-le" if size > 1 else encoding)) // size


def place(text: str, offset: int, encoding: str = "utf-16") -> tuple[int, int]:
    """Line and column of an offset, as the protocol counts them."""
    lines = text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return len(lines) - 1, units(lines[-1], encoding)


def offset(text: str, position: Json, encoding: str = "utf-16") -> int:
    """The offset of a position, found by trying them all."""
    wanted = (position["line"], position["character"])
    return next(i for i in range(len(text) + 1) if place(text, i, encoding) == wanted)


def applied(text: str, edits: list[Json], encoding: str = "utf-16") -> str:
    """A text after edits of the protocol."""
    ranges = [
        (
            offset(text, edit["range"]["start"], encoding),
            offset(text, edit["range"]["end"], encoding),
            edit["newText"],
        )
        for edit in edits
    ]
    for start, end, new in sorted(ranges, reverse=True):
        text = text[:start] + new + text[end:]
    return text

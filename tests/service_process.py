"""The service as others meet it: `cuecard serve` in a process of its own, asked over HTTP."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

READ, RENDER, WRITE = (f"{role}-token-0123456789" for role in ("read", "render", "write"))
TOKENS = f"# who may do what\nread {READ}\nrender {RENDER}\n\nWrite   {WRITE}\n"

_STARTS = 60.0
_ENDS = 40.0


class Service:
    """A service that runs.

    Args:
        process: its process.
        port: where it listens, on this machine.
        log: the file that its standard error goes to.
        token: the token that is sent with each request; None for none.
    """

    def __init__(
        self, process: "subprocess.Popen[bytes]", port: int, log: Path, token: str | None
    ) -> None:
        self.process = process
        self.port = port
        self._log = log
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60, trust_env=False
        )

    def log(self) -> str:
        """What it has said on standard error until now."""
        return self._log.read_text("utf-8")

    def request(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """The answer to a request; a body is sent as JSON."""
        if body is not None:
            more["json"] = body
        return self.http.request(method, path, **more)

    def get(self, path: str, **more: Any) -> httpx.Response:
        """The answer to a GET."""
        return self.request("GET", path, **more)

    def post(self, path: str, body: Any, **more: Any) -> httpx.Response:
        """The answer to a POST of JSON."""
        return self.request("POST", path, body, **more)

    def put(self, path: str, body: Any, **more: Any) -> httpx.Response:
        """The answer to a PUT of JSON."""
        return self.request("PUT", path, body, **more)

    def raw(self, data: bytes, *, wait: float = 30.0) -> bytes:
        """All that comes back for some bytes, until the service closes the connection."""
        with self.connection(wait) as connection:
            connection.sendall(data)
            return read_all(connection)

    def connection(self, wait: float = 30.0) -> socket.socket:
        """A connection to it, for what no HTTP client sends."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=wait)

    def workers(self) -> list[int]:
        """The numbers of the processes that it has started."""
        return [
            int(number)
            for task in Path(f"/proc/{self.process.pid}/task").iterdir()
            for number in (task / "children").read_text().split()
        ]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end, and wait: its exit code."""
        self.process.send_signal(number)
        return self.process.wait(_ENDS)


def read_all(connection: socket.socket) -> bytes:
    """What a connection still gives, until it is closed."""
    parts = []
    while part := connection.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


@contextmanager
def running(
    *paths: str | Path,
    options: tuple[str, ...] = (),
    token: str | None = None,
    environment: Mapping[str, str] | None = None,
    before: Any = None,
) -> Iterator[Service]:
    """A service that offers some files, until the block is left.

    Args:
        paths: agent files and folders.
        options: further arguments.
        token: the token that is sent with each request.
        environment: further variables of its environment.
        before: called in its process before it starts.
    """
    command = ["serve", *map(str, paths), "--port", "0", "--workers", "2", *options]
    with tempfile.TemporaryDirectory(prefix="cuecard-service-") as folder:
        log = Path(folder, "log")
        with log.open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-W", "error", "-m", "cuecard", *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, **(environment or {})},
                preexec_fn=before,
            )
        try:
            service = Service(process, _port_of(process, log), log, token)
            with service.http:
                yield service
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def _port_of(process: "subprocess.Popen[bytes]", log: Path) -> int:
    """The port that a service says it listens at."""
    ends = time.monotonic() + _STARTS
    while not (found := re.search(r"^Serving .*:(\d+)/$", log.read_text("utf-8"), re.MULTILINE)):
        said = log.read_text("utf-8")
        assert process.poll() is None, f"it ended with {process.returncode}: {said}"
        assert time.monotonic() < ends, f"it does not serve: {said}"
        time.sleep(0.02)
    return int(found[1])


def until(holds: Any, seconds: float = 20.0) -> Any:
    """What a function gives once it gives something true."""
    ends = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < ends, "it never came true"
        time.sleep(0.02)
    return found

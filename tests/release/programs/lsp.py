"""`lsp`: the language server as an editor starts it."""

import json
import subprocess
import sys
from typing import Any

command = [sys.executable, "-I", "-m", "cuecard", "lsp"]
text = "---\nname: one\n---\n{{ tools.nothing | upcase }}"
document = {"uri": "file:///one.md", "languageId": "markdown", "version": 1, "text": text}


def say(method: str, parameters: Any, number: int | None = None) -> None:
    """Send a request, or a notification when it has no number."""
    message = {"jsonrpc": "2.0", "method": method, "params": parameters}
    data = json.dumps(message if number is None else {**message, "id": number}).encode()
    assert server.stdin is not None
    server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
    server.stdin.flush()


def hear() -> Any:
    """The next message of the server."""
    assert server.stdout is not None
    size = 0
    while line := server.stdout.readline().strip():
        if line.lower().startswith(b"content-length:"):
            size = int(line.partition(b":")[2])
    return json.loads(server.stdout.read(size))


with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
    try:
        say("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
        assert hear()["result"]["capabilities"]["hoverProvider"]
        say("initialized", {})
        say("textDocument/didOpen", {"textDocument": document})
        pushed = hear()
        while pushed.get("method") != "textDocument/publishDiagnostics":
            pushed = hear()
        codes = [found["code"] for found in pushed["params"]["diagnostics"]]
        assert "P202" in codes, codes
    finally:
        server.kill()

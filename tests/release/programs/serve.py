"""`serve`: the service as a process, asked over HTTP for a prompt, its description and its page."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import cuecard

HERE = build_opener(ProxyHandler({}))
Path("served").mkdir()
Path("served/porter.md").write_text("---\nname: porter\n---\nYou help {{ guest }}.")


def call(path: str, body: Any = None) -> str:
    """What the service answers."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(f"{base}{path}", data, {"Content-Type": "application/json"})
    with HERE.open(request, timeout=60) as answer:
        text: str = answer.read().decode()
    return text


command = [sys.executable, "-I", "-m", "cuecard", "serve", "served", "--port", "0", "--quiet"]
with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as service:
    try:
        assert service.stderr is not None
        base = service.stderr.readline().split()[-1]
        (agent,) = json.loads(call("v1/agents"))["agents"]
        turn = {"slots": {"guest": "Ann"}}
        prompt = json.loads(call(f"v1/agents/{agent['id']}/render", turn))
        assert prompt["text"] == "You help Ann.", prompt
        loose = json.loads(call("v1/render", {"template": "{{ 6 * 7 }}"}))
        assert loose["text"] == "42", loose
        described = json.loads(call("openapi.json"))
        assert described["info"]["version"] == cuecard.__version__
        assert "<html" in call("")
    finally:
        service.terminate()

"""Ask a service for prompts, from a program that knows nothing but HTTP and JSON."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

OPTIONS = ["--port", "0", "--read-only", "--quiet", "--no-entry-points"]
COMMAND = [sys.executable, "-m", "cuecard", "serve", str(Path(__file__).parent), *OPTIONS]
HERE = build_opener(ProxyHandler({}))  # whatever proxies there are: it is this machine


def call(url: str, body: object = None, method: str | None = None) -> dict:
    """The answer to a request, also to one that fails."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with HERE.open(request, timeout=30) as answer:
            return json.load(answer)
    except HTTPError as failed:
        return {"status": failed.code, **json.load(failed)}


def show(base: str) -> None:
    (agent,) = call(f"{base}v1/agents")["agents"]
    place = f"{base}v1/agents/{agent['id']}"
    print(agent["name"], [given["name"] for given in call(place)["inputs"]])
    turn = {"slots": {"question": "Is there room?"}, "session": "s1", "auth": "ann"}
    prompt = call(f"{place}/render", {**turn, "include": ["blocks"]})
    print(prompt["text"])
    print([(block["scope"], block["characters"]) for block in prompt["blocks"]])
    wrong = call(f"{place}/render", {"slots": {"questoin": "Is there room?"}})
    print(wrong["status"], wrong["error"]["code"], wrong["error"]["hint"])
    file = call(f"{place}/file")
    refused = call(f"{place}/file", {"text": "", "revision": file["revision"]}, "PUT")
    print(refused["status"], refused["error"]["code"], refused["error"]["message"])


with subprocess.Popen(COMMAND, stderr=subprocess.PIPE, text=True) as service:
    try:
        show(service.stderr.readline().split()[-1])
    finally:
        service.terminate()

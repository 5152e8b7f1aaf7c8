"""`anthropic`: a request of the client, as it is sent."""

import json
from typing import Any

import anthropic
import httpx2

import cuecard
from cuecard.adapters.anthropic import Requests

seen: list[Any] = []


def serve(request: httpx2.Request) -> httpx2.Response:
    """Answer in the place of the API."""
    seen.append(json.loads(request.content))
    said = [{"type": "text", "text": "Noon."}]
    message = {"id": "m", "type": "message", "role": "assistant", "content": said}
    return httpx2.Response(200, json={**message, "model": "m", "stop_reason": "end_turn"})


requests = Requests(cuecard.PromptRenderer(zone="UTC"), "You help {{ user_id }}.", tools=[])
local = httpx2.Client(transport=httpx2.MockTransport(serve))
with anthropic.Anthropic(api_key="none", http_client=local) as client:
    client.messages.create(
        model="m",
        max_tokens=9,
        messages=[{"role": "user", "content": "When?"}],
        **requests.turn("s1", "ann"),
    )
assert "".join(block["text"] for block in seen[0]["system"]) == "You help ann."

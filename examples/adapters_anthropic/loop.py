"""A loop of Anthropic's client: the system prompt of each request, as it is sent."""

import datetime
import json
from pathlib import Path
from typing import Any

import anthropic
import httpx2

import cuecard
from cuecard.adapters.anthropic import Requests

now = datetime.datetime(2026, 11, 29, 9, 30, tzinfo=datetime.UTC)
call = {"type": "tool_use", "id": "c1", "name": "look_up", "input": {"number": 4711}}
answers: Any = iter([call, {"type": "text", "text": "Not yet."}, {"type": "text", "text": "Noon."}])


def serve(request: httpx2.Request) -> httpx2.Response:  # in place of api.anthropic.com
    sent = json.loads(request.content)
    print(f"=== request with {len(sent['messages'])} messages, tools {sent['tools'][0]['name']}")
    for block in sent["system"]:
        mark = f" | {json.dumps(block['cache_control'])}" if "cache_control" in block else ""
        print(f"--- block{mark}\n{block['text'].rstrip()}")
    message = {"id": "m", "type": "message", "role": "assistant", "content": [next(answers)]}
    return httpx2.Response(200, json={**message, "model": "m", "stop_reason": "end_turn"})


def look_up(number: int) -> str:
    """Finds a repair by its number."""
    return "A red tandem, wheels are out."


renderer = cuecard.PromptRenderer(clock=lambda: now, zone="UTC", entry_points=False)
agent = cuecard.load_agent(Path(__file__).with_name("agent.md"))
requests = Requests(renderer, agent, tools=[look_up], ttl="1h", breakpoints=2)
messages: list[Any] = [{"role": "user", "content": "Is 4711 ready?"}]
local = httpx2.Client(transport=httpx2.MockTransport(serve))
with anthropic.Anthropic(api_key="none", http_client=local) as client:
    for _ in range(3):
        parts = requests.turn("s1", "ann")
        answer = client.messages.create(model="m", max_tokens=99, messages=messages, **parts)
        messages.append({"role": "assistant", "content": answer.content})
        used = [block for block in answer.content if block.type == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": look_up(**block.input)}
            for block in used
        ]
        messages.append({"role": "user", "content": results or "When will it be?"})
        now += datetime.timedelta(minutes=3)

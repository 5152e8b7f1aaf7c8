"""`haystack`: a pipeline whose prompt is made by the component."""

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack import Pipeline
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage

import cuecard
from cuecard.adapters.haystack import CuecardChatPromptBuilder

seen: list[str | None] = []


def answer(messages: list[ChatMessage]) -> str:
    """Answer in the place of a model."""
    seen.append(messages[0].text)
    return "Noon."


renderer = cuecard.PromptRenderer(zone="UTC")
pipeline = Pipeline()
builder = CuecardChatPromptBuilder("You help {{ user_id }} in {{ shop }}.", renderer=renderer)
pipeline.add_component("prompt", builder)
pipeline.add_component("model", MockChatGenerator(response_fn=answer))
pipeline.connect("prompt.prompt", "model.messages")
asked = {"messages": [ChatMessage.from_user("When?")], "shop": "Spoke", "user_id": "ann"}
pipeline.run({"prompt": {**asked, "session_id": "s1"}})
assert seen == ["You help ann in Spoke."], seen

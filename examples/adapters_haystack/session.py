"""Three turns of a Haystack pipeline, and the system prompts that its model saw."""

import datetime
import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import tool

import cuecard
from cuecard.adapters.haystack import CuecardChatPromptBuilder

now = datetime.datetime(2026, 11, 29, 9, 0, tzinfo=datetime.UTC)
template = """\
You help {{ user_id }} in {{ shop }}. Answer in {{ language | default("English") }}.
It is {{ current_time }}.
"""


@tool
def wait() -> str:
    """Wait for the mechanic."""
    global now
    now += datetime.timedelta(minutes=20)
    return "The mechanic is here."


def answer(messages: list[ChatMessage]) -> str | ChatMessage:
    print(messages[0].role.value, repr(messages[0].text))
    if messages[-1].text == "Is my bicycle ready?":
        return ChatMessage.from_assistant(tool_calls=[ToolCall("wait", {})])
    return "Yes."


renderer = cuecard.PromptRenderer(entry_points=False, zone="UTC", clock=lambda: now)
pipeline = Pipeline()
pipeline.add_component("prompt", CuecardChatPromptBuilder(template, renderer=renderer))
agent = Agent(chat_generator=MockChatGenerator(response_fn=answer), tools=[wait])
pipeline.add_component("agent", agent)
pipeline.connect("prompt.prompt", "agent.messages")
for question in ("Are you open?", "Is my bicycle ready?", "Until when?"):
    print(question)
    chat = [ChatMessage.from_user(question)]
    given = {"messages": chat, "shop": "the workshop", "session_id": "s1", "user_id": "ann"}
    pipeline.run({"prompt": given})

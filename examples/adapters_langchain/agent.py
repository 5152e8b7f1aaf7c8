"""A LangChain agent of two questions: the system prompt of each call of its model."""

import datetime
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import cuecard
from cuecard.adapters.langchain import middleware

now = datetime.datetime(2026, 11, 29, 9, 30, tzinfo=datetime.UTC)


class Model(FakeMessagesListChatModel):
    """Answers from a list, and prints what it is sent; a real one is, say, `ChatAnthropic`."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: Any, *more: Any, **options: Any) -> Any:
        system, *conversation = messages
        print(f"=== call with {len(conversation)} messages")
        for block in system.content:
            mark = " | cached up to here" if "cache_control" in block else ""
            print(f"--- block{mark}\n{block['text'].rstrip()}")
        return super()._generate(messages, *more, **options)


@tool
def look_up(number: int) -> str:
    """Finds a repair by its number."""
    global now
    now += datetime.timedelta(minutes=3)
    return "A red tandem, wheels are out."


call = AIMessage("", tool_calls=[{"name": "look_up", "args": {"number": 4711}, "id": "c1"}])
model = Model(responses=[call, AIMessage("Not yet."), AIMessage("At noon.")])
renderer = cuecard.PromptRenderer(clock=lambda: now, zone="UTC", entry_points=False)
definition = cuecard.load_agent(Path(__file__).with_name("agent.md"))
put = middleware(renderer, definition, cache=True)
agent = create_agent(model, [look_up], middleware=[put], checkpointer=InMemorySaver())
for question in ("Is 4711 ready?", "When will it be?"):
    thread: Any = {"configurable": {"thread_id": "s1"}}
    agent.invoke({"messages": [("user", question)]}, thread, context={"user_id": "ann"})

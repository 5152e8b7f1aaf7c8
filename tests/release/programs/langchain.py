"""`langchain`: an agent whose middleware renders the prompt."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage

import cuecard
from cuecard.adapters.langchain import middleware

seen: list[Any] = []


class Model(FakeMessagesListChatModel):
    """Answers from a list, and remembers what it was sent."""

    def _generate(self, messages: Any, *more: Any, **options: Any) -> Any:
        seen.append(messages[0].content)
        return super()._generate(messages, *more, **options)


put = middleware(cuecard.PromptRenderer(zone="UTC"), "You help {{ user_id }}.")
agent: Any = create_agent(Model(responses=[AIMessage("Noon.")]), [], middleware=[put])
agent.invoke({"messages": [("user", "When?")]}, context={"user_id": "ann"})
assert seen == ["You help ann."], seen

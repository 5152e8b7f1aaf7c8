"""Three turns of a LlamaIndex agent, and the system prompts that its model saw."""

import asyncio
import datetime

from llama_index.core.agent.workflow import CodeActAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.llms.mock import MockFunctionCallingLLM

import cuecard
from cuecard.adapters.llama_index import CuecardPromptTemplate

now = datetime.datetime(2026, 11, 29, 9, 0, tzinfo=datetime.UTC)
template = """\
You help {{ user_id }} in {{ shop }}. Put Python that you want to run into <execute>.
{% if tool_descriptions %}It may call these functions: {{ tool_descriptions }}{% endif %}
It is {{ current_time }}.
"""


async def execute(code: str) -> str:
    """Run a program."""
    global now
    now += datetime.timedelta(minutes=20)
    return "42 euros"


def answer(messages: list[ChatMessage], **more: object) -> ChatMessage:
    print(messages[0].role.value, repr(messages[0].content))
    asks = messages[-1].content == "What do I owe?"
    text = "<execute>\nprint(6 * 7)\n</execute>" if asks else "Yes."
    return ChatMessage(role="assistant", content=text)


async def main() -> None:
    renderer = cuecard.PromptRenderer(entry_points=False, zone="UTC", clock=lambda: now)
    prompt = CuecardPromptTemplate(template, renderer=renderer).with_session("s1", "ann")
    model = MockFunctionCallingLLM(response_generator=answer)
    agent = CodeActAgent(code_execute_fn=execute, llm=model, streaming=False)
    agent.code_act_system_prompt = prompt.partial_format(shop="the workshop")
    for question in ("Are you open?", "What do I owe?", "Until when?"):
        print(question)
        await agent.run(question)


asyncio.run(main())

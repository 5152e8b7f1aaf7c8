"""LlamaIndex: a prompt template that stands where its own do."""

import asyncio
import datetime
import json
from typing import Any

import pytest
from llama_index.core.agent.workflow import CodeActAgent
from llama_index.core.base.llms.types import CachePoint, ChatMessage, TextBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLM
from llama_index.core.prompts import RichPromptTemplate
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.types import BaseOutputParser

import cuecard
from cuecard.adapters.llama_index import CuecardPromptTemplate

from .child_process import run_python

# LlamaIndex's own workflows look at every attribute of an agent, old ones too.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")

SECRET = "sk-4711-do-not-print"
NOON = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)
AGENT = cuecard.parse_agent(
    """\
---
name: coder
inputs:
  tool_descriptions: string
  style:
    type: string
    default: short
---
You are {{ agent_name }} and write {{ style }} programs for {{ user_id }}.
{{ tool_descriptions }}
It is {{ current_time }}.
"""
)


def at_noon() -> cuecard.PromptRenderer:
    return cuecard.PromptRenderer(entry_points=False, zone="UTC", clock=lambda: NOON)


# formatting ------------------------------------------------------------------------------------


def test_variables_are_those_that_no_provider_gives() -> None:
    """As with LlamaIndex's templates they can be seen; the time is not one of them."""
    template = CuecardPromptTemplate(AGENT, renderer=at_noon())
    assert template.template_vars == ["tool_descriptions", "style"]
    assert CuecardPromptTemplate("{{ b }}{{ a | default('') }}").template_vars == ["a", "b"]
    assert template.get_template() == AGENT.system_prompt


def test_text_and_message_are_the_same() -> None:
    """`format` gives the text, `format_messages` a message of it, in the role asked for."""
    template = CuecardPromptTemplate("{{ greeting }} <{{ name }}>")
    assert template.format(greeting="Hi", name="Ann") == "Hi <Ann>"
    (message,) = template.format_messages(greeting="Hi", name="Ann")
    theirs = RichPromptTemplate("{{ greeting }} <{{ name }}>")
    assert [message] == theirs.format_messages(greeting="Hi", name="Ann")
    (system,) = CuecardPromptTemplate("x", role="system").format_messages()
    assert (system.role.value, system.content) == ("system", "x")
    with pytest.raises(ValueError, match="moderator"):
        CuecardPromptTemplate("x", role="moderator").format_messages()


def test_partial_templates_are_copies() -> None:
    """A partial has its variables, of any type, and leaves the template as it was."""
    template = CuecardPromptTemplate("{{ a | join(',') }} {{ b }}")
    partial = template.partial_format(a=[1, 2])
    assert partial.partial_format(b=3).format() == "1,2 3"
    assert partial.format(b=4) == "1,2 4"
    assert partial.format(a=["x"], b=5) == "x 5"
    with pytest.raises(cuecard.UndefinedVariableError):
        template.format(b=1)
    assert template.kwargs == {}


def test_mappings_of_names_and_functions() -> None:
    """LlamaIndex's mappings work: other names for callers, and computed variables."""
    template = CuecardPromptTemplate(
        "{{ my_context }} {{ question }}",
        template_var_mappings={"context_str": "my_context"},
        function_mappings={"question": lambda **given: given["q"].upper()},
    )
    assert template.format(context_str="c", q="why") == "c WHY"


def test_output_parsers_have_the_last_word() -> None:
    """A parser adds what it needs to text and messages."""

    class Json(BaseOutputParser):
        def parse(self, output: str) -> Any:
            return json.loads(output)

        def format(self, query: str) -> str:
            return f"{query} As JSON."

    template = CuecardPromptTemplate("Count {{ n }}.", output_parser=Json())
    assert template.format(n=1) == "Count 1. As JSON."
    (message,) = template.format_messages(n=1)
    assert message.content == "Count 1. As JSON."
    assert template.format(n=1, completion_to_prompt=str.upper) == "COUNT 1. AS JSON."


def test_cache_point_follows_the_stable_front() -> None:
    """The blocks of a message joined are the text, and what changes is behind the point."""
    template = CuecardPromptTemplate(AGENT, renderer=at_noon(), role="system", cache_points=True)
    template = template.with_session("s1", "ann").partial_format(tool_descriptions="None.")
    (message,) = template.format_messages()
    static, session, point, rest = message.blocks
    assert isinstance(static, TextBlock)
    assert isinstance(session, TextBlock)
    assert isinstance(point, CachePoint)
    assert isinstance(rest, TextBlock)
    assert point.cache_control.type == "ephemeral"
    assert static.text == "You are coder and write short programs for "
    assert static.text + session.text + rest.text == template.format()
    assert template.format() == (
        "You are coder and write short programs for ann.\nNone.\nIt is 12:00.\n"
    )


def test_errors_hold_no_values() -> None:
    """What is missing or fails is named; what was given is not shown."""
    template = CuecardPromptTemplate("{{ name }} {{ nmae }}")
    with pytest.raises(cuecard.UndefinedVariableError) as missing:
        template.format(name=SECRET)
    assert (missing.value.variables, SECRET in str(missing.value)) == (("nmae",), False)
    with pytest.raises(cuecard.ContextError, match="P710 missing input `tool_descriptions`"):
        CuecardPromptTemplate(
            AGENT, renderer=cuecard.PromptRenderer(entry_points=False, profile=cuecard.STRICT)
        ).format()
    with pytest.raises(cuecard.TemplateSyntaxError):
        CuecardPromptTemplate("{% if %}")


# in LlamaIndex ---------------------------------------------------------------------------------


def test_in_a_response_synthesizer() -> None:
    """It takes the place of a question's template, and gives the model what it rendered."""
    template = CuecardPromptTemplate("{{ context_str }}\n---\n{{ query_str }} {{ mood }}")
    asked = get_response_synthesizer(
        llm=MockLLM(), text_qa_template=template.partial_format(mood="Be brief.")
    )
    answer = asked.get_response("Why?", ["{{ text }}", "<b>"])
    assert answer == "{{ text }}\n\n<b>\n---\nWhy? Be brief."


def test_an_agent_of_three_turns() -> None:
    """An agent gets the prompt of the moment at each call of its model.

    The front is the same at each; only the time behind it changes, after the tool has run.
    """
    now = [NOON]
    renderer = cuecard.PromptRenderer(entry_points=False, zone="UTC", clock=lambda: now[-1])
    seen: list[str | None] = []

    def answer(messages: Any, **more: Any) -> ChatMessage:
        assert [m.role.value for m in messages].count("system") == 1
        seen.append(messages[0].content)
        code = "<execute>\n6 * 7\n</execute>"
        return ChatMessage(role="assistant", content=code if len(seen) == 2 else f"a{len(seen)}")

    async def execute(code: str) -> str:
        assert code == "6 * 7"
        now.append(now[-1] + datetime.timedelta(minutes=5))
        return "42"

    async def run() -> list[str]:
        model = MockFunctionCallingLLM(response_generator=answer)
        agent = CodeActAgent(code_execute_fn=execute, llm=model, streaming=False)
        template = CuecardPromptTemplate(AGENT, renderer=renderer).with_session("s1", "ann")
        agent.code_act_system_prompt = template.partial_format(style="small")
        return [str(await agent.run(f"question {turn}")) for turn in range(3)]

    assert asyncio.run(run()) == ["a1", "a3", "a4"]
    front = "You are coder and write small programs for ann.\n\nIt is "
    assert seen == [f"{front}{time}.\n" for time in ("12:00", "12:00", "12:05", "12:05")]


def test_asynchronous_formatting_does_not_block() -> None:
    """While it waits for a provider the loop goes on; a cancelled one takes nothing with it."""

    async def run() -> None:
        reached, gate = asyncio.Event(), asyncio.Event()

        @cuecard.provider("weather")
        async def forecast(request: cuecard.ProviderRequest) -> dict[str, Any]:
            reached.set()
            await gate.wait()
            return {"weather": "rain"}

        renderer = cuecard.PromptRenderer([forecast], entry_points=False)
        for points in (False, True):
            template = CuecardPromptTemplate(
                "{{ weather }}", renderer=renderer, cache_points=points
            )
            reached.clear()
            gate.clear()
            cancelled = asyncio.create_task(template.aformat())
            await asyncio.wait_for(reached.wait(), 10)
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled
            reached.clear()
            waiting = asyncio.create_task(template.aformat_messages())
            await asyncio.wait_for(reached.wait(), 10)
            gate.set()
            (message,) = await asyncio.wait_for(waiting, 10)
            assert message.content == "rain" == await template.aformat()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("None", "this adapter needs the package `llama-index-core`"),
        ("types.ModuleType('llama_index')", "this adapter needs `llama-index-core>="),
    ],
)
def test_without_the_package_or_with_an_old_one(module: str, said: str) -> None:
    """The error names the extra, and for an old version the one that is needed."""
    printed = run_python(f"""
import sys, types
sys.modules["llama_index"] = {module}
try:
    import cuecard.adapters.llama_index
except cuecard.MissingExtraError as error:
    print(error)
""")
    assert printed.startswith(f"P807 {said}")
    assert "pip install 'cuecard[llama-index]'" in printed

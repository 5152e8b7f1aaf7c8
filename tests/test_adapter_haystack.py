"""Haystack: components in the place of its prompt builders."""

import asyncio
import datetime
import os
from typing import Any

import pytest

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # before Haystack is imported

from haystack import Document, Pipeline, component
from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator
from haystack.core.errors import PipelineConnectError, PipelineRuntimeError, SerializationError
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools.tool import Tool

import cuecard
from cuecard.adapters.haystack import CuecardChatPromptBuilder, CuecardPromptBuilder

from .child_process import run_python

SECRET = "sk-4711-do-not-print"
NOON = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)
AGENT = cuecard.parse_agent(
    """\
---
name: guide
inputs:
  place:
    type: string
  days:
    type: integer
    default: 2
  stops:
    type: array
    required: false
---
You are {{ agent_name }} at {{ place }} for {{ days }} days, for {{ user_id }}.
{% for stop in stops or [] %}
- {{ stop }}
{% endfor %}
It is {{ current_time }}.
"""
)


def renderer_at_noon() -> cuecard.PromptRenderer:
    """A renderer that a saved pipeline can name."""
    return cuecard.PromptRenderer(entry_points=False, zone="UTC", clock=lambda: NOON)


def sockets(builder: Any) -> dict[str, tuple[Any, bool]]:
    """The inputs that are no parameters of every builder: type, and whether required."""
    pipeline = Pipeline()
    pipeline.add_component("prompt", builder)
    found = pipeline.inputs(include_components_with_connected_inputs=True)["prompt"]
    common = {"template", "template_variables", "session_id", "user_id", "messages"}
    return {n: (e["type"], e["is_mandatory"]) for n, e in found.items() if n not in common}


# inputs ----------------------------------------------------------------------------------------


def test_inputs_are_those_of_the_template() -> None:
    """A guarded variable is optional, another required; their types are not known."""
    builder = CuecardPromptBuilder("{{ a }}{{ b | default('-') }}{% if c is defined %}c{% endif %}")
    assert sockets(builder) == {"a": (Any, True), "b": (Any, False), "c": (Any, False)}
    assert builder.run(a=1) == {"prompt": "1-"}
    assert builder.run(a=1, b=None, c=3) == {"prompt": "1-c"}


def test_inputs_are_those_of_the_header() -> None:
    """Declared types are the sockets' types, and what a provider gives is no input."""
    assert sockets(CuecardPromptBuilder(AGENT, renderer=renderer_at_noon())) == {
        "place": (str, True),
        "days": (int | None, False),
        "stops": (list[Any] | None, False),
    }


def test_connections_are_checked_by_type() -> None:
    """A pipeline refuses to connect what a declared input cannot take."""

    @component
    class Texts:
        @component.output_types(text=str, texts=list[str])
        def run(self) -> dict[str, Any]:
            return {"text": "Rome", "texts": ["Forum", "Pantheon"]}

    pipeline = Pipeline()
    pipeline.add_component("texts", Texts())
    pipeline.add_component("prompt", CuecardPromptBuilder(AGENT, renderer=renderer_at_noon()))
    with pytest.raises(PipelineConnectError):
        pipeline.connect("texts.text", "prompt.days")
    pipeline.connect("texts.text", "prompt.place")
    pipeline.connect("texts.texts", "prompt.stops")
    made = pipeline.run({"prompt": {"user_id": "ann"}})["prompt"]["prompt"]
    assert made == (
        "You are guide at Rome for 2 days, for ann.\n- Forum\n- Pantheon\nIt is 12:00.\n"
    )


def test_documents_are_plain_data() -> None:
    """Haystack's documents can be read in a template, and nothing of them can be called."""
    show = "{% for d in documents %}{{ d.content }} of {{ d.meta.page }};{% endfor %}"
    documents = [Document(content="a <b>", meta={"page": 1}), Document(content="c", meta={})]
    with pytest.raises(cuecard.UndefinedVariableError):
        CuecardPromptBuilder(show).run(documents=documents)
    builder = CuecardPromptBuilder(show.replace("d.meta.page", "(d.meta.page | default('?'))"))
    assert builder.run(documents=documents) == {"prompt": "a <b> of 1;c of ?;"}
    with pytest.raises(cuecard.TemplateError):
        CuecardPromptBuilder("{{ documents[0].to_dict() }}").run(documents=documents)


def test_template_and_variables_of_a_run() -> None:
    """As with Haystack's builders, a run may bring another template and override inputs."""
    builder = CuecardPromptBuilder("Hi {{ name }}", variables=["mood"])
    assert sockets(builder) == {"name": (Any, True), "mood": (Any, False)}
    other = builder.run(template="Bye {{ name }}, {{ mood }}", name="Ann", mood="sad")
    assert other == {"prompt": "Bye Ann, sad"}
    assert builder.run(name="Ann", template_variables={"name": "Bob"}) == {"prompt": "Hi Bob"}


def test_missing_values_are_errors_without_values() -> None:
    """The pipeline's error names what is missing, and holds nothing of what was given."""
    builder = CuecardPromptBuilder(AGENT, renderer=renderer_at_noon())
    strict = CuecardPromptBuilder("{{ name }} {{ nmae }}", variables=["name"])
    with pytest.raises(cuecard.UndefinedVariableError) as missing:
        strict.run(name=SECRET)
    assert missing.value.variables == ("nmae",)
    assert SECRET not in str(missing.value)
    pipeline = Pipeline()
    pipeline.add_component("prompt", CuecardPromptBuilder("{{ a.b.c }}"))
    with pytest.raises(PipelineRuntimeError, match="P20") as failed:
        pipeline.run({"prompt": {"a": SECRET}})
    assert SECRET not in str(failed.value)
    assert builder.run(place="Rome", days=3)["prompt"].startswith("You are guide at Rome for 3 ")
    with pytest.raises(cuecard.SpecError, match="P405 there is no such profile"):
        CuecardPromptBuilder("x", profile="strikt")


# saving ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [CuecardPromptBuilder, CuecardChatPromptBuilder])
def test_pipelines_can_be_saved(kind: Any) -> None:
    """A pipeline that is dumped and loaded renders the same, with the renderer by its name."""
    pipeline = Pipeline()
    builder = kind(AGENT, renderer=renderer_at_noon, variables=["more"])
    pipeline.add_component("prompt", builder)
    # Haystack loads only what its caller trusts.
    trusted = ["cuecard.adapters.haystack", __name__]
    loaded = Pipeline.loads(pipeline.dumps(), allowed_modules=trusted)
    given = {"prompt": {"place": "Rome", "user_id": "ann", "stops": ["Forum"]}}
    assert loaded.run(given) == pipeline.run(given)
    assert loaded.to_dict() == pipeline.to_dict()
    assert "It is 12:00." in str(loaded.run(given))


def test_text_that_looks_like_a_header_is_saved() -> None:
    """A template that begins with a rule is the same template after it was saved."""
    builder = CuecardPromptBuilder("---\na: b\n---\n{{ x }}", profile="markdown")
    loaded = CuecardPromptBuilder.from_dict(builder.to_dict())
    assert loaded.run(x=1) == builder.run(x=1) == {"prompt": "---\na: b\n---\n1\n"}


def test_renderer_cannot_be_saved() -> None:
    """A renderer that was given as an object is refused, with what to do instead."""
    builder = CuecardPromptBuilder("x", renderer=renderer_at_noon())
    with pytest.raises(SerializationError, match="give `renderer` a function"):
        builder.to_dict()


# a chat ----------------------------------------------------------------------------------------


def test_blocks_are_system_messages() -> None:
    """With cache blocks the stable front is a message of its own, marked for the cache."""
    builder = CuecardChatPromptBuilder(AGENT, renderer=renderer_at_noon(), cache_blocks=True)
    template = "You are {{ agent_name }}.\nIt is {{ current_time }}."
    made = builder.run([ChatMessage.from_user("Hi")], template=template)["prompt"]
    assert [(m.role.value, m.text, m.meta) for m in made] == [
        ("system", "You are guide.\nIt is ", {"cache_control": {"type": "ephemeral"}}),
        ("system", "12:00.", {}),
        ("user", "Hi", {}),
    ]
    plain = CuecardChatPromptBuilder("x {{ y }}").run(y=1)["prompt"]
    assert [(m.role.value, m.text, m.meta) for m in plain] == [("system", "x 1", {})]
    assert CuecardChatPromptBuilder("{{ y }}").run(y="")["prompt"] == []


def test_a_session_of_three_turns() -> None:
    """An agent in a pipeline gets the prompt of each turn, and calls a tool in one.

    The front is the same at each turn; only the time behind it changes.
    """
    now = [NOON]
    renderer = cuecard.PromptRenderer(entry_points=False, zone="UTC", clock=lambda: now[-1])
    seen: list[str] = []

    def answer(messages: list[ChatMessage]) -> Any:
        seen.append("".join(m.text or "" for m in messages if m.role.value == "system"))
        if len(seen) == 2:
            return ChatMessage.from_assistant(tool_calls=[ToolCall("clock", {})])
        return f"answer {len(seen)}"

    def clock() -> str:
        now.append(now[-1] + datetime.timedelta(minutes=5))
        return "five minutes have gone"

    tool = Tool("clock", "Waits.", {"type": "object", "properties": {}}, clock)
    pipeline = Pipeline()
    pipeline.add_component("prompt", CuecardChatPromptBuilder(AGENT, renderer=renderer))
    model = MockChatGenerator(response_fn=answer)
    pipeline.add_component("agent", Agent(chat_generator=model, tools=[tool]))
    pipeline.connect("prompt.prompt", "agent.messages")
    chat: list[ChatMessage] = []
    for turn in range(3):
        chat.append(ChatMessage.from_user(f"question {turn}"))
        given = {"messages": chat, "place": "Rome", "session_id": "s1", "user_id": "ann"}
        result = pipeline.run({"prompt": given})["agent"]
        chat = [m for m in result["messages"] if m.role.value != "system"]
    front = "You are guide at Rome for 2 days, for ann.\nIt is "
    # The second turn calls the model twice: with the tool's call, and with its result.
    assert seen == [f"{front}{time}.\n" for time in ("12:00", "12:00", "12:00", "12:05")]
    assert chat[-1].text == "answer 4"


class _Gate:
    """A provider that waits until it is let through."""

    def __init__(self) -> None:
        self.reached, self.open = asyncio.Event(), asyncio.Event()

    def renderer(self) -> cuecard.PromptRenderer:
        @cuecard.provider("weather")
        async def forecast(request: cuecard.ProviderRequest) -> dict[str, Any]:
            self.reached.set()
            await self.open.wait()
            return {"weather": "rain"}

        return cuecard.PromptRenderer([forecast], entry_points=False)


def test_asynchronous_run_does_not_block() -> None:
    """While a pipeline waits for a provider the loop goes on; what goes on ends the wait."""

    async def run() -> None:
        gate = _Gate()
        pipeline = Pipeline()
        builder = CuecardChatPromptBuilder("{{ weather }}", renderer=gate.renderer())
        pipeline.add_component("prompt", builder)
        task = asyncio.create_task(pipeline.run_async({"prompt": {}}))
        await asyncio.wait_for(gate.reached.wait(), 10)
        gate.open.set()
        (message,) = (await asyncio.wait_for(task, 10))["prompt"]["prompt"]
        assert message.text == "rain"

    asyncio.run(run())


def test_cancelled_run_leaves_the_component_working() -> None:
    """A run that is cancelled in the middle takes nothing with it."""

    async def run() -> None:
        gate = _Gate()
        builder = CuecardPromptBuilder("{{ weather }}", renderer=gate.renderer())
        task = asyncio.create_task(builder.run_async())
        await asyncio.wait_for(gate.reached.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gate.open.set()
        assert await builder.run_async() == {"prompt": "rain"}

    asyncio.run(run())


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("None", "this adapter needs the package `haystack-ai`"),
        ("types.ModuleType('haystack')", "this adapter needs `haystack-ai>="),
    ],
)
def test_without_the_package_or_with_an_old_one(module: str, said: str) -> None:
    """The error names the extra, and for an old version the one that is needed."""
    printed = run_python(f"""
import sys, types
sys.modules["haystack"] = {module}
try:
    import cuecard.adapters.haystack
except cuecard.MissingExtraError as error:
    print(error)
""")
    assert printed.startswith(f"P807 {said}")
    assert "pip install 'cuecard[haystack]'" in printed

"""Prompts in requests of Anthropic's client, up to the bytes that a server receives."""

from __future__ import annotations

import asyncio
import datetime
import itertools
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from anthropic.types import TextBlockParam, ToolUnionParam
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

import cuecard
from cuecard import ProviderError, Scope, SpecError, ToolSpec
from cuecard.adapters.anthropic import Requests, Turn, system, tools

from .anthropic_stub import AnthropicStub, serving
from .child_process import run_python

AGENT = cuecard.parse_agent("""\
---
name: spoke
---
You are {{ agent_name }}.
{% for tool in tools %}
- {{ tool.name }}: {{ tool.description }}
{% endfor %}
You help {{ user_id }} on {{ current_date }}.
It is {{ current_time }}.
""")
FRONT = "You are spoke.\n- look: Look a bicycle up.\n- mend: \nYou help "
NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}}
TOOLS = [
    ToolSpec("mend"),
    {"name": "look", "description": "Look a bicycle up.", "parameters": NUMBER},
]
AS_SENT = [
    {"name": "look", "description": "Look a bicycle up.", "input_schema": NUMBER},
    {"name": "mend", "input_schema": {"type": "object"}},
]
ANSWERS: list[list[dict[str, Any]]] = [
    [{"type": "tool_use", "id": "t1", "name": "look", "input": {"number": 1}}],
    [{"type": "text", "text": "It is red."}],
    [{"type": "text", "text": "It is ready."}],
]
REQUEST: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsNonStreaming)
BLOCKS: TypeAdapter[Any] = TypeAdapter(list[TextBlockParam])
UNION: TypeAdapter[Any] = TypeAdapter(list[ToolUnionParam])
MODEL: dict[str, Any] = {"model": "stub", "max_tokens": 100}


def minutes() -> Callable[[], datetime.datetime]:
    """A clock that is a minute later each time."""
    start = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)
    steps = itertools.count()
    return lambda: start + datetime.timedelta(minutes=next(steps))


def renderer(*providers: Any, **options: Any) -> cuecard.PromptRenderer:
    return cuecard.PromptRenderer(
        providers, entry_points=False, clock=minutes(), zone="UTC", **options
    )


def turn(
    made: cuecard.PromptRenderer,
    definition: cuecard.AgentDefinition | str,
    session: Any = None,
    auth: Any = None,
    **options: Any,
) -> Turn:
    """The parts of one request."""
    return Requests(made, definition, **options).turn(session, auth)


def asked(messages: list[Any], answer: Any) -> list[Any]:
    """The messages after an answer, whose tool calls are carried out."""
    said = {"role": "assistant", "content": [block.model_dump() for block in answer.content]}
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": "it is red"}
        for block in answer.content
        if block.type == "tool_use"
    ]
    return [*messages, said, {"role": "user", "content": results or "Is it ready?"}]


def is_known(request: dict[str, Any]) -> bool:
    """Whether the client's own types have all that a request holds, and nothing else."""
    REQUEST.validate_python(request, extra="forbid")
    # What is declared as an iterable is looked at by none but its own adapter.
    blocks, shown = request.get("system", []), request.get("tools", [])
    known = BLOCKS.validate_python(blocks, extra="forbid") == blocks
    return bool(known and UNION.validate_python(shown, extra="forbid") == shown)


def check(stub: AnthropicStub) -> None:
    """Three requests, each with the prompt of its time after the same bytes."""
    requests = stub.requests
    assert [len(request["messages"]) for request in requests] == [1, 3, 5]
    for minute, request in enumerate(requests):
        assert is_known(request)
        assert request["tools"] == AS_SENT
        assert request["system"] == [
            {"type": "text", "text": FRONT},
            {"type": "text", "text": "ann on "},
            {
                "type": "text",
                "text": "2026-11-29.\nIt is ",
                "cache_control": {"type": "ephemeral"},
            },
            {"type": "text", "text": f"12:0{minute}.\n"},
        ]
    front = json.dumps(requests[0]["system"][:3], separators=(",", ":"))[:-1].encode()
    assert all(front in body for body in stub.bodies)


# the loop --------------------------------------------------------------------------------------


def test_three_turns_with_a_tool() -> None:
    """The client sends the blocks and tools as they are, and its own types know them."""
    made = Requests(renderer(), AGENT, tools=TOOLS)
    with serving(ANSWERS) as stub, Anthropic(api_key="k", base_url=stub.url) as client:
        messages: list[Any] = [{"role": "user", "content": "Which colour is it?"}]
        for _ in range(3):
            parts = made.turn("s1", "ann")
            answer = client.messages.create(messages=messages, **MODEL, **parts)
            messages = asked(messages, answer)
    check(stub)


def test_three_turns_with_the_asynchronous_client() -> None:
    """So does the asynchronous one."""

    async def run(url: str) -> None:
        made = Requests(renderer(), AGENT, tools=TOOLS)
        async with AsyncAnthropic(api_key="k", base_url=url) as client:
            messages: list[Any] = [{"role": "user", "content": "Which colour is it?"}]
            for _ in range(3):
                parts = await made.aturn("s1", "ann")
                answer = await client.messages.create(messages=messages, **MODEL, **parts)
                messages = asked(messages, answer)

    with serving(ANSWERS) as stub:
        asyncio.run(run(stub.url))
    check(stub)


def test_system_alone() -> None:
    """Who has a prompt needs only its blocks."""
    prompt = renderer().prompt(AGENT, "s1", "ann")
    with serving(ANSWERS[1:]) as stub, Anthropic(api_key="k", base_url=stub.url) as client:
        messages: list[Any] = [{"role": "user", "content": "Hello"}]
        client.messages.create(messages=messages, system=system(prompt), **MODEL)
    (request,) = stub.requests
    assert "".join(block["text"] for block in request["system"]) == prompt.text
    assert is_known(request)


def test_loop_is_not_blocked() -> None:
    """While providers wait, whether plain or coroutines, other tasks run."""
    plain, other = threading.Event(), asyncio.Event()

    @cuecard.provider("slow")
    def slow(request: Any) -> dict[str, Any]:
        return {"slow": plain.wait(30)}

    @cuecard.provider("awaited")
    async def awaited(request: Any) -> dict[str, Any]:
        return {"awaited": await asyncio.wait_for(other.wait(), 30)}

    async def run() -> Any:
        async def release() -> None:
            plain.set()
            other.set()

        made = Requests(renderer(slow, awaited), "{{ slow }} {{ awaited }}")
        parts, _ = await asyncio.gather(made.aturn(), release())
        return parts

    assert asyncio.run(run()) == {"system": [{"type": "text", "text": "True True"}]}


def test_call_is_cancelled() -> None:
    """A cancelled call leaves nothing behind: the next turn has the same front."""

    async def run(stub: AnthropicStub) -> None:
        made = Requests(renderer(), AGENT, tools=TOOLS)
        messages: list[Any] = [{"role": "user", "content": "Hello"}]
        async with AsyncAnthropic(api_key="k", base_url=stub.url) as client:

            async def call() -> None:
                parts = await made.aturn("s1", "ann")
                await client.messages.create(messages=messages, **MODEL, **parts)

            stub.may_answer.clear()
            task = asyncio.create_task(call())
            assert await asyncio.to_thread(stub.received.wait, 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            stub.may_answer.set()
            await call()

    with serving(ANSWERS[1:]) as stub:
        asyncio.run(run(stub))
    first, second = (request["system"] for request in stub.requests)
    assert (first[:-1], first[-1]["text"], second[-1]["text"]) == (
        second[:-1],
        "12:00.\n",
        "12:01.\n",
    )


# breakpoints -----------------------------------------------------------------------------------

TEMPLATE = cuecard.Template(
    "{{ a }} {{ b }} {{ c }} {{ d }}",
    scopes={"a": Scope.STATIC, "b": Scope.SESSION, "c": Scope.DAY},
)
PROMPT = TEMPLATE.trace(a="a", b="b", c="c", d="d")


@pytest.mark.parametrize(
    ("breakpoints", "marked"), [(0, []), (1, [2]), (2, [0, 2]), (3, [0, 1, 2]), (4, [0, 1, 2])]
)
@pytest.mark.parametrize("ttl", [None, "5m", "1h"])
def test_breakpoints(breakpoints: int, marked: list[int], ttl: Any) -> None:
    """The end of the stable front comes first, then what all sessions share, then the rest."""
    blocks: list[Any] = system(PROMPT, ttl=ttl, breakpoints=breakpoints)
    control = {"type": "ephemeral"} | ({} if ttl is None else {"ttl": ttl})
    assert [n for n, block in enumerate(blocks) if "cache_control" in block] == marked
    assert all(blocks[number]["cache_control"] == control for number in marked)
    assert "".join(block["text"] for block in blocks) == PROMPT.text


@given(
    st.lists(st.sampled_from(["", " ", "\n", "x", "long text "]), min_size=4, max_size=4),
    st.integers(0, 4),
)
def test_blocks_are_what_the_api_takes(values: list[str], breakpoints: int) -> None:
    """No block is blank, none that may change is marked, and nothing of the text is lost."""
    prompt = TEMPLATE.trace(dict(zip("abcd", values, strict=True)))
    blocks: list[Any] = system(prompt, breakpoints=breakpoints)
    assert "".join(block["text"] for block in blocks) == (prompt.text if blocks else "")
    assert bool(blocks) == bool(prompt.text.strip())
    assert all(block["text"].strip() for block in blocks)
    marked = [n for n, block in enumerate(blocks) if "cache_control" in block]
    assert len(marked) <= breakpoints
    front = "".join(block["text"] for block in blocks[: marked[-1] + 1]) if marked else ""
    assert len(front.rstrip()) <= prompt.cacheable_prefix.characters


def test_tools_count() -> None:
    """The breakpoints that tools carry are left for no block."""
    control = {"type": "ephemeral"}
    marked = [{"name": f"t{n}", "input_schema": {}, "cache_control": control} for n in range(5)]
    for count, left in ((0, 3), (2, 2), (3, 1), (4, 0)):
        made = turn(renderer(), AGENT, "s", "ann", tools=marked[:count], breakpoints=4)
        assert sum("cache_control" in block for block in made["system"]) == left
    with pytest.raises(SpecError, match="carry 5 times `cache_control`"):
        turn(renderer(), AGENT, tools=marked)


def test_longer_ones_come_first() -> None:
    """An hour after five minutes is refused by the API, so it is refused here."""
    short = tools(TOOLS, cache=True)
    with pytest.raises(SpecError, match="holds shorter"):
        turn(renderer(), AGENT, tools=short, ttl="1h")
    long = tools(TOOLS, cache=True, ttl="1h")
    made = turn(renderer(), AGENT, "s", "ann", tools=long, ttl="1h")
    assert made["tools"] == long
    assert turn(renderer(), AGENT, tools=short, ttl="1h", breakpoints=0)["tools"] == short
    assert turn(renderer(), AGENT, tools=long, ttl="5m")["tools"] == long


# tools -----------------------------------------------------------------------------------------


def find(number: int) -> str:
    """Find a bicycle."""
    return str(number)


SERVER_TOOL = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}
STRICT_TOOL = {"name": "weigh", "input_schema": {"type": "object"}, "strict": True}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ([], []),
        (TOOLS, AS_SENT),
        (TOOLS[::-1], AS_SENT),
        ([SERVER_TOOL], [SERVER_TOOL]),
        ([STRICT_TOOL], [STRICT_TOOL]),
        (
            [{"type": "function", "function": {"name": "f", "parameters": NUMBER}}],
            [{"name": "f", "input_schema": NUMBER}],
        ),
        ([{"name": "m", "inputSchema": NUMBER}], [{"name": "m", "input_schema": NUMBER}]),
        (
            [find],
            [
                {
                    "name": "find",
                    "description": "Find a bicycle.",
                    "input_schema": {**NUMBER, "required": ["number"]},
                }
            ],
        ),
    ],
)
def test_tools(given: list[Any], sent: list[Any]) -> None:
    """Tools of every form become Anthropic's, by name; its own keep all that they hold."""
    before = json.dumps(given, default=str)
    made: list[Any] = tools(given)
    assert [{**tool} for tool in made] == sent
    cached: list[Any] = tools(given, cache=True, ttl="1h")
    control = [tool.get("cache_control") for tool in cached]
    assert control == [
        *[None] * (len(sent) - 1),
        *[{"type": "ephemeral", "ttl": "1h"}] * bool(sent),
    ]
    assert json.dumps(given, default=str) == before
    request = {"model": "m", "max_tokens": 1, "messages": [], "tools": cached}
    assert is_known(request)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ([3], "P420"),
        ([ToolSpec("look it up")], "P420"),
        ([{"name": "läuft", "input_schema": {}}], "P420"),
        ([ToolSpec("x" * 129)], "P420"),
        ([ToolSpec("a"), ToolSpec("a")], "P421"),
    ],
)
def test_tools_that_the_api_refuses(given: list[Any], code: str) -> None:
    """What the API would refuse is refused before."""
    with pytest.raises(SpecError) as raised:
        tools(given)
    assert raised.value.code == code


def test_own_tools_are_shown_by_name() -> None:
    """A template sees the names of Anthropic's own tools, and what else there is of others."""
    made = turn(renderer(), "{{ tools | tojson }}", tools=[SERVER_TOOL, TOOLS[0]])
    assert json.loads(made["system"][0]["text"]) == [
        {"name": "mend", "description": "", "parameters": {"type": "object"}},
        {"name": "web_search", "description": "", "parameters": {}},
    ]


def test_without_tools() -> None:
    """None leaves the tools to the renderer; what would be empty is left out."""
    own = renderer(tools=[ToolSpec("paint", "Paint it.")])
    assert "- paint: Paint it." in turn(own, AGENT)["system"][0]["text"]
    assert "tools" not in turn(own, AGENT)
    assert turn(own, "{{ nothing }}", tools=[]) == {}


# failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{"ttl": "2h"}, {"breakpoints": 5}, {"breakpoints": -1}, {"breakpoints": True}]
)
def test_wrong_options(options: dict[str, Any]) -> None:
    """What the API does not know is refused before anything is rendered."""
    with pytest.raises(ValueError, match="must be"):
        system(PROMPT, **options)
    with pytest.raises(ValueError, match="must be"):
        turn(renderer(), AGENT, **options)


def test_provider_fails() -> None:
    """Failures are taken as the renderer takes them."""

    @cuecard.provider("weather")
    def station(request: Any) -> dict[str, Any]:
        raise ConnectionError("hunter2")

    made = turn(renderer(station), "Weather: {{ weather }}")
    assert [block["text"] for block in made["system"]] == ["Weather: "]
    with pytest.raises(ProviderError):
        turn(renderer(station, profile=cuecard.STRICT), "Weather: {{ weather }}")


def test_client_is_not_needed() -> None:
    """The blocks are plain data: without the package they are the same."""
    code = """if True:
        import json, sys
        sys.modules["anthropic"] = None
        from cuecard.adapters.anthropic import Requests, system
        made = cuecard.PromptRenderer(entry_points=False)
        assert [block["text"] for block in system(made.prompt("a {{ user_id }}"))] == ["a "]
        print(json.dumps(Requests(made, "text", tools=[cuecard.ToolSpec("mend")]).turn()))
    """
    assert json.loads(run_python(code)) == {
        "system": [{"type": "text", "text": "text", "cache_control": {"type": "ephemeral"}}],
        "tools": [AS_SENT[1]],
    }

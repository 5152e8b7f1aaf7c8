"""The adapter for OpenAI Agents, with the framework's own runner and scripted model."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable
from typing import Any

import mcp.types as mcp_types
import pytest
from agents import (
    Agent,
    FunctionTool,
    RunConfig,
    RunContextWrapper,
    Runner,
    WebSearchTool,
    function_tool,
)
from agents.mcp import MCPServer
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

import cuecard
from cuecard import LIVE, STRICT, Scope
from cuecard.adapters.openai_agents import instructions

from .child_process import run_python
from .live_providers import SECRET, Clock, Counted, agent, live

QUIET = RunConfig(tracing_disabled=True)
TEMPLATE = """\
You are {{ agent_name }}, and you help {{ user_id }}.
{% for tool in tools %}
- {{ tool.name }}: {{ tool.description }} {{ tool.parameters.required | tojson }}
{% endfor %}
It is {{ current_time }}.
"""


@function_tool
def find_bicycle(colour: str) -> str:
    """Finds a bicycle."""
    return f"a {colour} tandem"


def of_context(ctx: RunContextWrapper[Any]) -> dict[str, Any]:
    return {"session": ctx.context["session"], "auth": ctx.context["user"]}


def prompts(model: ScriptedModel) -> list[str | None]:
    return [call.system_instructions for call in model.calls]


def one_turn(instruction: Any, context: Any = None, **more: Any) -> str | None:
    """The prompt that the model sees in a run of one turn."""
    model = ScriptedModel([[assistant_message("done")]])
    made: Agent[Any] = Agent(name="a", model=model, instructions=instruction, **more)
    asyncio.run(Runner.run(made, "hello", context=context, run_config=QUIET))
    return prompts(model)[0]


def test_prompts_of_a_session() -> None:
    """Each call of the model gets the prompt of its turn; only the clock changes it."""
    clock = Clock()
    clock.forward(hours=6)
    model = ScriptedModel(
        [
            [function_call("find_bicycle", {"colour": "red"}, call_id="c1")],
            [assistant_message("a red tandem")],
            [assistant_message("you are welcome")],
        ]
    )

    @function_tool
    def find_bicycle(colour: str) -> str:
        """Finds a bicycle."""
        clock.forward(minutes=1)
        return f"a {colour} tandem"

    renderer = live(clock=clock)
    made: Agent[Any] = Agent(
        name="a",
        model=model,
        tools=[find_bicycle, WebSearchTool()],
        instructions=instructions(renderer, agent(TEMPLATE), context=of_context),
    )
    context = {"session": "s1", "user": "ann"}

    async def talk() -> None:
        first = await Runner.run(made, "find it", context=context, run_config=QUIET)
        clock.forward(minutes=2)
        thanks: Any = [*first.to_input_list(), {"role": "user", "content": "thanks"}]
        await Runner.run(made, thanks, context=context, run_config=QUIET)

    asyncio.run(talk())
    front = (
        "You are triage, and you help ann.\n"
        '- find_bicycle: Finds a bicycle. ["colour"]\n'
        "- web_search:  null\n"
    )
    assert prompts(model) == [f"{front}It is 18:0{minute}.\n" for minute in (0, 1, 3)]
    assert [[tool.name for tool in call.tools] for call in model.calls] == [
        ["find_bicycle", "web_search"]
    ] * 3


async def _never(ctx: Any, arguments: str) -> str:
    raise AssertionError("no model calls it")


def test_function_is_as_the_framework_wants_it() -> None:
    """It is a coroutine function of exactly two parameters."""
    function = instructions(live(), "{{ user_id }}")
    assert inspect.iscoroutinefunction(function)
    assert list(inspect.signature(function).parameters) == ["ctx", "agent"]


def test_tools_stay_in_the_front() -> None:
    """Text that shows the tools is rendered once for a session, and anew when they change."""
    shown = Counted("shown", {"shown": Scope.SESSION}, {"shown": "."})
    renderer = cuecard.PromptRenderer([shown], entry_points=False)
    template = agent("{% for t in tools %}{{ t.name }}{% endfor %}{{ shown }}")
    function = instructions(renderer, template)
    more = FunctionTool("ring", "Rings.", {}, on_invoke_tool=_never)
    made: Agent[Any] = Agent(name="a", tools=[find_bicycle])

    async def turns() -> list[str]:
        ctx = RunContextWrapper({"id": "s1"})
        seen = [await function(ctx, made) for _ in range(3)]
        made.tools.append(more)
        seen += [await function(ctx, made) for _ in range(2)]
        made.tools.remove(more)
        return [*seen, await function(ctx, made)]

    one, both = "find_bicycle.", "find_bicyclering."
    assert asyncio.run(turns()) == [one, one, one, both, both, one]
    assert shown.calls == 1


@pytest.mark.parametrize(
    ("enabled", "expected"),
    [
        (True, "find_bicycle ring "),
        (False, "find_bicycle "),
        (lambda ctx, agent: ctx.context == "loud", "find_bicycle ring "),
        (lambda ctx, agent: ctx.context == "quiet", "find_bicycle "),
    ],
)
def test_only_enabled_tools(enabled: Any, expected: str) -> None:
    """A tool that the model does not get is not shown, and one that is loaded later neither."""
    ring = FunctionTool("ring", "Rings.", {}, on_invoke_tool=_never, is_enabled=enabled)
    later = FunctionTool("later", "Waits.", {}, on_invoke_tool=_never, defer_loading=True)
    function = instructions(live(), "{% for t in tools %}{{ t.name }} {% endfor %}")
    made: Agent[Any] = Agent(name="a", tools=[find_bicycle, ring, later])
    assert asyncio.run(function(RunContextWrapper("loud"), made)) == expected


class Shed(MCPServer):
    """An MCP server with one tool, which counts how often it is listed."""

    lists = 0

    @property
    def name(self) -> str:
        return "shed"

    async def list_tools(self, *arguments: Any, **options: Any) -> list[mcp_types.Tool]:
        self.lists += 1
        return [mcp_types.Tool(name="open_shed", description="Opens.", input_schema={})]

    async def connect(self) -> None: ...

    async def cleanup(self) -> None: ...

    async def call_tool(self, *arguments: Any, **options: Any) -> Any: ...

    async def list_prompts(self) -> Any: ...

    async def get_prompt(self, *arguments: Any, **options: Any) -> Any: ...


def test_tools_of_servers() -> None:
    """They are shown, as the model gets them, before the agent's own; unread ones not listed."""
    names = "{% for t in tools %}{{ t.name }} {% endfor %}"
    model = ScriptedModel([[assistant_message("done")]])
    shed = Shed()
    made: Agent[Any] = Agent(
        name="a",
        model=model,
        tools=[find_bicycle],
        mcp_servers=[shed],
        instructions=instructions(live(), names),
    )
    asyncio.run(Runner.run(made, "hello", run_config=QUIET))
    assert prompts(model) == ["open_shed find_bicycle "]
    assert [tool.name for tool in model.calls[0].tools] == ["open_shed", "find_bicycle"]
    shed.lists = 0
    silent = instructions(live(), "{{ user_id }}!")
    assert asyncio.run(silent(RunContextWrapper(None), made)) == "!"
    assert shed.lists == 0


def test_tools_are_asked_for_only_when_they_are_read() -> None:
    """A template without `tools` asks neither tools nor servers of the agent."""

    def asked(ctx: Any, agent: Any) -> bool:
        raise AssertionError("nobody reads it")

    ring = FunctionTool("ring", "Rings.", {}, on_invoke_tool=_never, is_enabled=asked)
    made: Agent[Any] = Agent(name="a", tools=[ring])
    silent = instructions(live(), "{{ user_id }}!")
    assert asyncio.run(silent(RunContextWrapper({"user_id": "ann"}), made)) == "ann!"
    off = instructions(live(tools=[{"name": "own"}]), "{{ tools[0].name }}", tools=False)
    assert asyncio.run(off(RunContextWrapper(None), made)) == "own"


@pytest.mark.parametrize(
    ("context", "passed", "expected"),
    [
        (None, {"id": "s1", "user_id": "ann"}, "s1 ann "),
        (None, None, "  "),
        (None, "s1", "s1  "),
        (lambda ctx: {"auth": ctx.context}, "ann", " ann "),
        (lambda ctx: {"session": "s1", "extra_vars": {"word": "hi"}}, None, "s1  hi"),
        (lambda ctx: {"extra_vars": None}, None, "  "),
    ],
)
def test_whom_it_is_for(context: Any, passed: Any, expected: str) -> None:
    """The mapping says so; without one the context of the run is the session."""
    function = instructions(live(), "{{ session_id }} {{ user_id }} {{ word }}", context=context)
    assert one_turn(function, passed) == expected


def test_mapping_that_waits() -> None:
    """The mapping of the context may be a coroutine function."""

    async def context(ctx: RunContextWrapper[Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"auth": ctx.context}

    assert one_turn(instructions(live(), "{{ user_id }}!", context=context), "ann") == "ann!"


def _raise(ctx: Any) -> Any:
    raise ValueError(SECRET)


BAD_MAPPINGS = [
    (_raise, "P301", "it raised `ValueError`"),
    (lambda ctx: [SECRET], "P303", "gave `list` and no mapping"),
    (lambda ctx: {"sesion": SECRET}, "P303", "gave `sesion`, which is none of its keys"),
    (lambda ctx: {"extra_vars": SECRET}, "P303", "gave `str` as `extra_vars`"),
]


@pytest.mark.parametrize(("context", "code", "said"), BAD_MAPPINGS)
def test_mapping_that_fails(
    context: Callable[[Any], Any], code: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A live turn goes on without a session and says so; another profile raises."""
    template = agent("{{ agent_name }} {{ user_id }}!")
    with caplog.at_level(logging.WARNING, "cuecard"):
        assert one_turn(instructions(live(), template, context=context), "ann") == "triage !"
    assert code in caplog.text
    assert said in caplog.text
    strict = instructions(live(profile=STRICT), template, context=context)
    with pytest.raises(cuecard.ProviderError, match=said) as raised:
        one_turn(strict, "ann")
    assert raised.value.code == code
    assert SECRET not in caplog.text + str(raised.value)


def test_profile_of_the_header_decides() -> None:
    """An agent whose header names a profile is rendered, and fails, by that one."""
    strict = agent("{{ agent_name }}", profile="strict")
    with pytest.raises(cuecard.ProviderError, match="ValueError"):
        one_turn(instructions(live(profile=LIVE), strict, context=_raise))


def test_tools_that_fail(caplog: pytest.LogCaptureFixture) -> None:
    """When the tools cannot be told, a live turn shows none and says so."""

    def broken(ctx: Any, agent: Any) -> bool:
        raise OSError(SECRET)

    ring = FunctionTool("ring", "Rings.", {}, on_invoke_tool=_never, is_enabled=broken)
    made: Agent[Any] = Agent(name="a", tools=[ring])
    function = instructions(live(), "{{ tools | length }}")
    with caplog.at_level(logging.WARNING, "cuecard"):
        assert asyncio.run(function(RunContextWrapper(None), made)) == "0"
    assert "the list of tools failed: it raised `OSError`" in caplog.text
    assert SECRET not in caplog.text


def test_broken_template() -> None:
    """A strict template that cannot be read refuses to make the agent."""
    with pytest.raises(cuecard.TemplateSyntaxError):
        instructions(live(profile=STRICT), "{% if %}")


def test_loop_is_not_blocked() -> None:
    """While a plain provider waits, the loop goes on: it is the loop that ends its wait."""
    started, release = threading.Event(), threading.Event()

    @cuecard.provider("weather")
    def station(request: cuecard.ProviderRequest) -> dict[str, str]:
        started.set()
        assert release.wait(10)
        return {"weather": "snow"}

    renderer = cuecard.PromptRenderer([station], entry_points=False)
    model = ScriptedModel([[assistant_message("done")]])
    made: Agent[Any] = Agent(
        name="a", model=model, instructions=instructions(renderer, "{{ weather }}")
    )

    async def both() -> None:
        run = asyncio.create_task(Runner.run(made, "hello", run_config=QUIET))
        async with asyncio.timeout(10):
            while not started.is_set():
                await asyncio.sleep(0)
            release.set()
            await run

    asyncio.run(both())
    assert prompts(model) == ["snow"]


def test_cancelled_model_call() -> None:
    """A model call that is cancelled leaves nothing behind: the next turn has its prompt."""
    called = asyncio.Event()

    async def hang(call: ModelCall) -> Any:
        called.set()
        await asyncio.Event().wait()

    model = ScriptedModel([ModelStep.respond(hang), [assistant_message("done")]])
    function = instructions(live(), agent(TEMPLATE), context=of_context)
    made: Agent[Any] = Agent(name="a", model=model, tools=[find_bicycle], instructions=function)

    async def twice() -> None:
        context = {"session": "s1", "user": "ann"}
        run = asyncio.create_task(Runner.run(made, "hello", context=context, run_config=QUIET))
        await called.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await Runner.run(made, "hello", context=context, run_config=QUIET)

    asyncio.run(twice())
    first, second = prompts(model)
    assert first == second
    assert first is not None
    assert first.startswith("You are triage, and you help ann.\n- find_bicycle:")


def test_framework_is_missing_or_old() -> None:
    """Without the package, or with one that lacks the hook, the error names what to install."""
    code = """
import sys, types
import cuecard.adapters.openai_agents as adapter
print("agents" in sys.modules)
old = types.ModuleType("agents")
old.Agent = type("Agent", (), {})
for module in (None, types.ModuleType("agents"), old):
    sys.modules["agents"] = module
    try:
        adapter.instructions(cuecard.PromptRenderer(), "hello")
    except cuecard.MissingExtraError as error:
        print(error)
"""
    imported, missing, *old = run_python(code).splitlines()
    assert imported == "False"
    extra = "pip install 'cuecard[openai-agents]'"
    assert missing == f"P807 this adapter needs the package `openai-agents` ({extra})"
    assert len(old) == 2
    for line in old:
        assert line.startswith("P807 this adapter needs `openai-agents>=0.3`, and what")
        assert line.endswith(f"({extra} --upgrade)")

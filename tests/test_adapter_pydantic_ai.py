"""The adapter for Pydantic AI, with the framework's own agent and function model."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import cuecard
from cuecard import STRICT, Scope
from cuecard.adapters import pydantic_ai as adapter

from .child_process import run_python
from .live_providers import SECRET, Clock, agent, live

Part = tuple[str, bool]

TEMPLATE = """\
You are {{ agent_name }}.

{% for tool in tools %}
- {{ tool.name }}: {{ tool.description }} {{ tool.parameters.required | tojson }}
{% endfor %}

You help {{ user_id }}.

It is {{ current_time }}.
"""
FRONT = "You are triage."
TOOLS = '- find_bicycle: Finds a bicycle. ["colour"]'
USER = "You help ann."


@dataclasses.dataclass
class Deps:
    """What an application passes to its runs."""

    user_id: str


class Recorder:
    """A model that calls the tool once, then only answers; it keeps what it was sent."""

    def __init__(self, *, calls: bool = False) -> None:
        self.texts: list[str | None] = []
        self.parts: list[list[Part]] = []
        self.calls = calls
        self.model = FunctionModel(self)

    async def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.texts.append(info.instructions)
        parts = info.model_request_parameters.instruction_parts or []
        self.parts.append([(part.content, part.dynamic) for part in parts])
        if self.calls and len(self.texts) == 1:
            return ModelResponse(parts=[ToolCallPart("find_bicycle", {"colour": "red"})])
        return ModelResponse(parts=[TextPart("done")])

    __name__ = "recorder"


def find_bicycle(colour: str) -> str:
    """Finds a bicycle."""
    return f"a {colour} tandem"


Way = Callable[..., dict[str, Any]]


def by_parts(*given: Any, **options: Any) -> dict[str, Any]:
    return {"instructions": adapter.instructions(*given, **options)}


def by_function(*given: Any, **options: Any) -> dict[str, Any]:
    return {"instructions": adapter.instruction(*given, **options)}


def by_capability(*given: Any, **options: Any) -> dict[str, Any]:
    return {"capabilities": [adapter.capability(*given, **options)]}


WAYS = [by_parts, by_function, by_capability]
each_way = pytest.mark.parametrize("way", WAYS)


def one_turn(arguments: dict[str, Any], deps: Any = None) -> str | None:
    """The prompt that the model sees in a run of one request."""
    model = Recorder()
    made: Agent[Any, str] = Agent(model.model, **arguments)
    asyncio.run(made.run("hello", deps=deps))
    return model.texts[0]


def session_of_three(arguments: dict[str, Any], clock: Clock) -> Recorder:
    """Two runs of one conversation; the model calls a tool in the first."""
    model = Recorder(calls=True)
    made: Agent[Any, str] = Agent(model.model, **arguments)

    @made.tool_plain(name="find_bicycle")
    def find(colour: str) -> str:
        """Finds a bicycle."""
        clock.forward(minutes=1)
        return find_bicycle(colour)

    async def talk() -> None:
        first = await made.run("find it", deps=Deps("ann"))
        clock.forward(minutes=2)
        await made.run("thanks", deps=Deps("ann"), message_history=first.all_messages())

    asyncio.run(talk())
    return model


@pytest.mark.parametrize(
    ("way", "front"),
    [
        (by_parts, [(FRONT, False)]),
        (by_function, []),
        (by_capability, [(f"{FRONT}\n\n{TOOLS}", False), (USER, False)]),
    ],
)
def test_prompts_of_a_session(way: Way, front: list[Part]) -> None:
    """Each request gets the prompt of its turn, in parts; only the last of them changes."""
    clock = Clock()
    model = session_of_three(way(live(clock=clock), agent(TEMPLATE)), clock)
    before = f"{FRONT}\n\n{TOOLS}\n\n{USER}\n\n"
    assert model.texts == [f"{before}It is 12:0{minute}." for minute in (0, 1, 3)]
    sent = "".join(f"{text}\n\n" for text, _ in front)
    rest = before.removeprefix(sent)
    assert model.parts == [[*front, (f"{rest}It is 12:0{minute}.\n", True)] for minute in (0, 1, 3)]


def test_decorator() -> None:
    """The function may be given to the decorator, and goes with other instructions."""
    model = Recorder()
    made: Agent[Deps, str] = Agent(model.model, deps_type=Deps, instructions="Be brief.")
    made.instructions(adapter.instruction(live(), "You help {{ user_id }}."))
    asyncio.run(made.run("hello", deps=Deps("ann")))
    assert model.parts == [[("Be brief.", False), ("You help ann.", True)]]


def test_other_instructions_beside_the_capability() -> None:
    """Parts of others come after the prompt's own of their kind."""
    model = Recorder()
    template = "Static.\n\n{{ current_time }}"
    capability = adapter.capability(live(), template)
    made: Agent[Any, str] = Agent(
        model.model, instructions=["Be brief.", lambda: "Now."], capabilities=[capability]
    )
    asyncio.run(made.run("hello"))
    assert model.parts == [
        [("Static.", False), ("Be brief.", False), ("12:00", True), ("Now.", True)]
    ]


@cuecard.provider("motto", scope=Scope.STATIC)
def motto(request: cuecard.ProviderRequest) -> dict[str, str]:
    return {"motto": "Ride!"}


class Stamped:
    """A provider of scope static whose stamp tells when it changes."""

    provides = dict.fromkeys(["prices"], Scope.STATIC)

    def stamp(self, request: cuecard.ProviderRequest) -> int:
        return 1

    def contribute(self, request: cuecard.ProviderRequest) -> dict[str, str]:
        return {"prices": "10"}


FRONTS: list[tuple[str, str, list[Part]]] = [
    ("a text without tags is all static", "One.\n\nTwo.", [("One.\n\nTwo.", False)]),
    ("a static value is static", "{{ motto }}\n\n{{ user_id }}", [("Ride!", False), ("", True)]),
    ("all of it may be static", "A.\n\n{{ motto }}", [("A.\n\nRide!", False)]),
    ("its stamp may change", "A.\n\n{{ prices }}\n\nB.", [("A.", False), ("10\n\nB.", True)]),
    ("no blank line", "A.\n{{ user_id }}", [("A.\n", True)]),
    ("an earlier one", "A.\n\nB: {{ user_id }}", [("A.", False), ("B: ", True)]),
    ("more of them", "A.\n\n\n\n{{ motto }}.\n{{ x }}", [("A.", False), ("\n\nRide!.\n", True)]),
    ("trimmed before a tag", "A.\n\n{{- user_id }}!", [("A.!", True)]),
    ("trimmed but for one", "A.\n\nB.\n\n{%- if x %}{% endif %}", [("A.", False), ("B.", True)]),
    ("at once", "{{ current_time }}\n\nA.", [("12:00\n\nA.", True)]),
    ("only blanks before", "\n\n{{ motto }}\n\n{{ x }}!", [("Ride!", False), ("!", True)]),
]


@pytest.mark.parametrize(("template", "parts"), [c[1:] for c in FRONTS], ids=[c[0] for c in FRONTS])
def test_static_front(template: str, parts: list[Part]) -> None:
    """The front that holds with the definition is a part; the text is that of the renderer."""
    renderer = live(providers=[motto, Stamped()])
    model = Recorder()
    made: Agent[Any, str] = Agent(model.model, **by_parts(renderer, template))
    asyncio.run(made.run("hello"))
    assert model.parts == [[part for part in parts if part[0]]]
    assert model.texts == [renderer.render(template).strip()]


@pytest.mark.parametrize("profile", [cuecard.STRICT, cuecard.MARKDOWN, cuecard.LIVE])
def test_static_front_of_each_profile(profile: cuecard.Profile) -> None:
    """How a profile ends a text makes no difference to the front."""
    renderer = live(profile=profile)
    template = agent(
        "\n\nYou are {{ agent_name }}.\n\n{% if current_time %}\nNow.\n{% endif %}\n\n"
    )
    model = Recorder()
    made: Agent[Any, str] = Agent(model.model, **by_parts(renderer, template))
    asyncio.run(made.run("hello"))
    assert model.parts[0][0] == ("You are triage.", False)
    assert model.texts == [renderer.render(template).strip()]


def test_template_that_includes_others(tmp_path: Path) -> None:
    """It has no static part, and the tools that the included file reads."""
    (tmp_path / "tools.md").write_text("{{ tools[0].name }}", encoding="utf-8")
    folder = cuecard.Folder(tmp_path)
    for builtins in (True, False):
        renderer = live(profile=cuecard.MARKDOWN, partials=folder, builtins=builtins)
        model = Recorder()
        arguments = by_parts(renderer, 'A.\n\n{% include "tools.md" %}')
        made: Agent[Any, str] = Agent(model.model, tools=[find_bicycle], **arguments)
        asyncio.run(made.run("hello"))
        assert model.parts == [[("A.\n\nfind_bicycle\n", True)]]


def test_front_that_fails_is_not_sent(caplog: pytest.LogCaptureFixture) -> None:
    """When a static provider fails as the agent is made, its text comes with the turns."""
    answers = iter([OSError(SECRET)])

    @cuecard.provider("motto", scope=Scope.STATIC)
    def late(request: cuecard.ProviderRequest) -> dict[str, str]:
        for error in answers:
            raise error
        return {"motto": "Ride!"}

    with caplog.at_level(logging.WARNING, "cuecard"):
        arguments = by_parts(live(providers=[late]), "{{ motto }}\n\n{{ user_id }}!")
    assert "P301" in caplog.text
    assert one_turn(arguments, "ann") == "Ride!\n\nann!"


def test_front_that_changed_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """When what was to hold does not, the turn has the whole prompt and a warning."""
    mottos = iter(["Ride!", "Walk!"])

    @cuecard.provider("motto", scope=Scope.STATIC)
    def fickle(request: cuecard.ProviderRequest) -> dict[str, str]:
        return {"motto": next(mottos)}

    renderer = live(providers=[fickle])
    arguments = by_parts(renderer, "{{ motto }}\n\n{{ user_id }}!")
    with caplog.at_level(logging.WARNING, "cuecard"):
        text = one_turn(arguments, "ann")
    assert text == "Ride!\n\nWalk!\n\nann!"
    assert "is not its front now" in caplog.text


def test_stable_text_after_changing_text_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    """The order of a template is kept, and a finding says what that costs, and where."""
    template = "Now {{ current_time }}.\n\nA rule.\n\n{{ agent_name }}"
    with caplog.at_level(logging.INFO, "cuecard.adapters"):
        found = adapter.instructions(live(), agent(template))
        adapter.capability(live(), agent(template))
    (finding,) = found.diagnostics
    assert (finding.code, finding.severity, finding.span and finding.span.column) == (
        "P511",
        "info",
        5,
    )
    assert "come after `current_time`" in finding.message
    assert caplog.text.count("P511") == 2
    assert adapter.instructions(live(), agent("A.\n\n{{ current_time }}")).diagnostics == ()


PIECES = st.sampled_from(
    [
        *("\n", "\n\n", " ", "a", "b. ", "{{ agent_name }}", "{{ user_id }}", "{{ current_time }}"),
        *("{{- current_date }}", "{{ user_id -}}", "{% if x %}y{% endif %}", "{# c -#}"),
    ]
)


@settings(max_examples=30)
@given(st.lists(PIECES, max_size=12).map("".join), st.sampled_from(WAYS))
def test_parts_are_the_prompt(template: str, way: Way) -> None:
    """Whatever the template, the model gets the renderer's text; static parts come first."""
    renderer = live()
    model = Recorder()
    made: Agent[Any, str] = Agent(model.model, **way(renderer, agent(template)))

    async def twice() -> str:
        first = await made.run("hello", deps=Deps("ann"), conversation_id="s1")
        await made.run("hello", deps=Deps("ann"), message_history=first.all_messages())
        return first.conversation_id

    session = asyncio.run(twice())
    expected = renderer.render(agent(template), session, Deps("ann")).strip()
    assert [text or "" for text in model.texts] == [expected] * 2
    assert all(parts == sorted(parts, key=lambda part: part[1]) for parts in model.parts)


@pytest.mark.parametrize(
    ("context", "deps", "expected"),
    [
        (None, Deps("ann"), "s1 ann "),
        (None, "ann", "s1 ann "),
        (None, None, "s1  "),
        (lambda ctx: {"session": {"id": "mine", "user_id": ctx.deps}}, "ann", "mine ann "),
        (lambda ctx: {"extra_vars": {"word": "hi"}}, "ann", "  hi"),
    ],
)
def test_whom_it_is_for(context: Any, deps: Any, expected: str) -> None:
    """The mapping says so; without one, conversation and deps are session and auth."""
    function = adapter.instruction(
        live(), "{{ session_id }} {{ user_id }} {{ word }}|", context=context
    )
    model = Recorder()
    made: Agent[Any, str] = Agent(model.model, instructions=function)
    asyncio.run(made.run("hello", deps=deps, conversation_id="s1"))
    assert model.texts == [f"{expected}|".strip()]


def _raise(ctx: Any) -> Any:
    raise ValueError(SECRET)


async def _wait(ctx: RunContext[Any]) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"auth": ctx.deps}


@each_way
def test_mapping_that_waits(way: Way) -> None:
    """The mapping of the context may be a coroutine function."""
    assert one_turn(way(live(), "{{ user_id }}!", context=_wait), "ann") == "ann!"


@each_way
def test_mapping_that_fails(way: Way, caplog: pytest.LogCaptureFixture) -> None:
    """A live turn goes on without a session and says so; another profile raises."""
    template = agent("{{ agent_name }} {{ user_id }}!")
    with caplog.at_level(logging.WARNING, "cuecard"):
        assert one_turn(way(live(), template, context=_raise), "ann") == "triage !"
    assert "P301 the mapping of the context failed: it raised `ValueError`" in caplog.text
    strict = way(live(profile=STRICT), template, context=_raise)
    with pytest.raises(cuecard.ProviderError, match="ValueError"):
        one_turn(strict, "ann")
    assert SECRET not in caplog.text


@each_way
def test_template_that_fails(way: Way) -> None:
    """A live agent has its template as it stands; a strict one is not made."""
    with pytest.warns(cuecard.FallbackWarning):
        assert one_turn(way(live(), "A.\n\n{% if %}")) == "A.\n\n{% if %}"
    with pytest.raises(cuecard.TemplateSyntaxError):
        way(live(profile=STRICT), "{% if %}")


@each_way
def test_own_tools(way: Way) -> None:
    """With `tools=False` the renderer's tools are shown, and not the framework's."""
    arguments = way(live(tools=[{"name": "own"}]), "{{ tools[0].name }}!", tools=False)
    assert one_turn({**arguments, "tools": [find_bicycle]}) == "own!"


@each_way
def test_loop_is_not_blocked(way: Way) -> None:
    """While a plain provider waits, the loop goes on: it is the loop that ends its wait."""
    started, release = threading.Event(), threading.Event()

    @cuecard.provider("weather")
    def station(request: cuecard.ProviderRequest) -> dict[str, str]:
        started.set()
        assert release.wait(10)
        return {"weather": "snow"}

    model = Recorder()
    made: Agent[Any, str] = Agent(model.model, **way(live(providers=[station]), "{{ weather }}"))

    async def both() -> None:
        run = asyncio.create_task(made.run("hello"))
        async with asyncio.timeout(10):
            while not started.is_set():
                await asyncio.sleep(0)
            release.set()
            await run

    asyncio.run(both())
    assert model.texts == ["snow"]


@each_way
def test_cancelled_model_call(way: Way) -> None:
    """A model call that is cancelled leaves nothing behind: the next turn has its prompt."""
    called = asyncio.Event()
    texts: list[str | None] = []
    answers: Iterator[Awaitable[Any]] = iter([asyncio.sleep(3600)])

    async def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        texts.append(info.instructions)
        called.set()
        for answer in answers:
            await answer
        return ModelResponse(parts=[TextPart("done")])

    arguments = way(live(), agent(TEMPLATE))
    made: Agent[Any, str] = Agent(FunctionModel(model), tools=[find_bicycle], **arguments)

    async def twice() -> None:
        run = asyncio.create_task(made.run("hello", deps=Deps("ann")))
        await called.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await made.run("hello", deps=Deps("ann"))

    asyncio.run(twice())
    assert texts == [f"{FRONT}\n\n{TOOLS}\n\n{USER}\n\nIt is 12:00."] * 2


def test_framework_is_missing_or_old() -> None:
    """Without the package, or with one that lacks the hook, the error names what to install."""
    code = """
import sys, types
import cuecard.adapters.pydantic_ai as adapter
print("pydantic_ai" in sys.modules)
old = types.ModuleType("pydantic_ai")
old.InstructionPart = type("InstructionPart", (), {})
sys.modules["pydantic_ai.capabilities"] = types.ModuleType("pydantic_ai.capabilities")
sys.modules["pydantic_ai.capabilities"].AbstractCapability = type("AbstractCapability", (), {})
for module in (None, types.ModuleType("pydantic_ai"), old):
    sys.modules["pydantic_ai"] = module
    for make in (adapter.instructions, adapter.instruction, adapter.capability):
        try:
            make(cuecard.PromptRenderer(), "hello")
        except cuecard.MissingExtraError as error:
            print(error)
"""
    imported, *errors = run_python(code).splitlines()
    missing, old = errors[:3], errors[3:]
    assert imported == "False"
    extra = "pip install 'cuecard[pydantic-ai]'"
    assert missing == [f"P807 this adapter needs the package `pydantic-ai-slim` ({extra})"] * 3
    assert len(old) == 6
    for line in old:
        assert line.startswith("P807 this adapter needs `pydantic-ai-slim>=2.68`, and what")
        assert line.endswith(f"({extra} --upgrade)")

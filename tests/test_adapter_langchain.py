"""The middleware for LangChain, in real agents whose model answers from a list."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import itertools
import logging
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRequest, TodoListMiddleware
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

import cuecard
from cuecard import MissingExtraError, ProviderError
from cuecard.adapters.langchain import middleware, of_request

from .child_process import run_python

AGENT = cuecard.parse_agent("""\
---
name: spoke
---
You are {{ agent_name }}.
{% for tool in tools %}
- {{ tool.name }}: {{ tool.description }}
{% endfor %}
You help {{ user_id }} in {{ session_id }}.
It is {{ current_time }}.
""")
STATIC = "You are spoke.\n- look: Look a bicycle up.\n- mend: Mend a bicycle.\nYou help "
FRONT = STATIC + "ann in s1.\nIt is "
ASK = {"messages": [("user", "Is it ready?")]}
ANN = {"user_id": "ann", "session_id": "s1"}


@tool
def mend(number: int) -> str:
    """Mend a bicycle."""
    return "mended"


@tool
def look(number: int) -> str:
    """Look a bicycle up."""
    return "it is red"


ANSWERS: tuple[BaseMessage, ...] = (
    AIMessage("", tool_calls=[{"name": "look", "args": {"number": 1}, "id": "c1"}]),
    AIMessage("It is red."),
    AIMessage("It is ready."),
)


class Model(FakeMessagesListChatModel):
    """LangChain's fake model, which keeps what it is sent."""

    responses: list[BaseMessage] = Field(default_factory=lambda: [*ANSWERS])
    seen: list[list[BaseMessage]] = Field(default_factory=list)

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *more: Any, **options: Any) -> ChatResult:
        self.seen.append(messages)
        return super()._generate(messages, *more, **options)

    @property
    def systems(self) -> list[Any]:
        """The content of the system message of each call."""
        return [messages[0].content for messages in self.seen if messages[0].type == "system"]


class Claude(Model):
    """As if it were a model of `langchain_anthropic`."""


Claude.__module__ = "langchain_anthropic.chat_models"


class Waiting(Model):
    """A model that answers when it is told to."""

    called: asyncio.Event = Field(default_factory=asyncio.Event)
    may_answer: asyncio.Event = Field(default_factory=asyncio.Event)

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **options: Any) -> ChatResult:
        self.called.set()
        await self.may_answer.wait()
        return self._generate(messages)


def minutes() -> Callable[[], datetime.datetime]:
    """A clock that is a minute later each time."""
    start = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)
    steps = itertools.count()
    return lambda: start + datetime.timedelta(minutes=next(steps))


def renderer(*providers: Any, **options: Any) -> cuecard.PromptRenderer:
    return cuecard.PromptRenderer(
        providers, entry_points=False, clock=minutes(), zone="UTC", **options
    )


def made(model: Model, *middlewares: Any, **options: Any) -> Any:
    """An agent with two tools; those of the request come in another order than by name."""
    options = {"tools": [mend, look], "context_schema": dict[str, Any], **options}
    return create_agent(model, middleware=middlewares, **options)


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(block["text"] for block in content)


# the loop --------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_async", [False, True], ids=["invoke", "ainvoke"])
@pytest.mark.parametrize("kind", [Model, Claude])
def test_three_turns_with_a_tool(kind: type[Model], is_async: bool) -> None:
    """Each call of the model has the prompt of its time, after the same bytes."""
    model = kind()
    agent = made(model, middleware(renderer(), AGENT), checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "s1"}}
    for _ in range(2):
        if is_async:
            asyncio.run(agent.ainvoke(ASK, thread, context={"user_id": "ann"}))
        else:
            agent.invoke(ASK, thread, context={"user_id": "ann"})
    texts = [text_of(content) for content in model.systems]
    assert texts == [f"{FRONT}12:0{minute}.\n" for minute in range(3)]
    assert [len(messages) for messages in model.seen] == [2, 4, 6]
    if kind is Model:
        assert model.systems == texts
        return
    for content, text in zip(model.systems, texts, strict=True):
        assert content == [
            {"type": "text", "text": STATIC},
            {
                "type": "text",
                "text": FRONT.removeprefix(STATIC),
                "cache_control": {"type": "ephemeral"},
            },
            {"type": "text", "text": text.removeprefix(FRONT)},
        ]


@pytest.mark.parametrize(
    ("options", "controls"),
    [
        ({"cache": True}, [None, {"type": "ephemeral"}, None]),
        (
            {"cache": True, "ttl": "1h", "breakpoints": 2},
            [*[{"type": "ephemeral", "ttl": "1h"}] * 2, None],
        ),
        ({"cache": True, "breakpoints": 0}, [None, None, None]),
    ],
)
def test_blocks_by_parameter(options: dict[str, Any], controls: list[Any]) -> None:
    """Whoever knows that a model takes blocks says so, and how long they live."""
    model = Model()
    made(model, middleware(renderer(), AGENT, **options)).invoke(ASK, context=ANN)
    assert [block.get("cache_control") for block in model.systems[0]] == controls


def test_text_by_parameter() -> None:
    """Without caching even Anthropic's model gets plain text."""
    model = Claude()
    made(model, middleware(renderer(), AGENT, cache=False)).invoke(ASK, context=ANN)
    assert model.systems[0] == f"{FRONT}12:00.\n"


@pytest.mark.parametrize("kind", [Model, Claude])
def test_stream(kind: type[Model]) -> None:
    """The plain stream has the prompts too."""
    model = kind()
    list(made(model, middleware(renderer(), AGENT)).stream(ASK, context=ANN))
    assert [text_of(content)[: len(FRONT)] for content in model.systems] == [FRONT, FRONT]


# tools -----------------------------------------------------------------------------------------


def test_tools_of_the_request() -> None:
    """The template sees the tools of each request, those that another middleware left."""
    from langchain.agents.middleware import wrap_model_call

    @wrap_model_call
    def first_mend_then_all(request: Any, handler: Any) -> Any:
        only = [each for each in request.tools if each.name == "mend"]
        late = len(request.messages) > 1
        return handler(request if late else request.override(tools=only))

    model = Model()
    made(model, first_mend_then_all, middleware(renderer(), AGENT)).invoke(ASK, context=ANN)
    shown = [[line for line in text.splitlines() if line[:1] == "-"] for text in model.systems]
    both = ["- look: Look a bicycle up.", "- mend: Mend a bicycle."]
    assert shown == [both[1:], both]


def test_tools_are_described_once() -> None:
    """The same tools are not described again at the next turn."""
    described: list[str] = []

    class Named(type(look)):  # type: ignore[misc]
        @property
        def tool_call_schema(self) -> Any:
            described.append(self.name)
            return super().tool_call_schema

    known = Named(name="look", description="d", func=lambda number: "red", args_schema=look.args)
    put = middleware(renderer(), AGENT)
    request = ModelRequest(model=Model(), messages=[], tools=[known], runtime=runtime())
    for _ in range(3):
        put.wrap_model_call(request, lambda request: described_ok(request))
    assert described == ["look"]


def described_ok(request: ModelRequest[Any]) -> Any:
    assert "- look: d" in str(request.system_prompt)


def runtime(context: Any = None) -> Any:
    from langgraph.runtime import Runtime

    return Runtime(context=context)


def test_without_tools() -> None:
    """`tools=False` leaves the variable to the renderer."""
    model = Model()
    own = renderer(tools=[cuecard.ToolSpec("paint", "Paint it.")])
    made(model, middleware(own, AGENT, tools=False)).invoke(ASK, context=ANN)
    assert "- paint: Paint it." in model.systems[0]
    assert "mend" not in model.systems[0]


def test_tool_that_cannot_be_described(caplog: pytest.LogCaptureFixture) -> None:
    """A live turn goes on without it; under another profile it is an error."""
    request = ModelRequest(
        model=Model(), messages=[], tools=[{"type": "web_search"}, look], runtime=runtime()
    )
    with caplog.at_level(logging.WARNING, "cuecard"):
        sent = filled(middleware(renderer(), AGENT), request)
    assert "- look: Look" in sent.system_prompt
    assert "the specification of a tool failed: it raised `SpecError`" in caplog.text
    strict = middleware(renderer(profile=cuecard.STRICT), AGENT)
    with pytest.raises(ProviderError, match="the specification of a tool failed"):
        filled(strict, request)


def filled(put: Any, request: ModelRequest[Any]) -> Any:
    """The request as the middleware passes it on."""
    sent: list[Any] = []
    put.wrap_model_call(request, sent.append)
    return sent[0]


# whom it is for ----------------------------------------------------------------------------------


@dataclasses.dataclass
class Context:
    user_id: str
    session_id: str | None = None


@pytest.mark.parametrize(
    ("context", "ids"),
    [
        (ANN, "ann in s1"),
        (Context("bob", "s2"), "bob in s2"),
        (Context("bob"), "bob in t1"),
        ({"sub": "eve"}, "eve in t1"),
        (None, " in t1"),
    ],
)
def test_session_and_user(context: Any, ids: str) -> None:
    """The context says who is served, and the session unless the thread is it."""
    model = Model()
    agent = made(
        model, middleware(renderer(), AGENT), checkpointer=InMemorySaver(), context_schema=None
    )
    agent.invoke(ASK, {"configurable": {"thread_id": "t1"}}, context=context)
    assert f"You help {ids}." in model.systems[0]


def test_mapping_of_one_s_own() -> None:
    """A function says whom a turn is for, from context and state, and gives variables."""

    def whom(request: ModelRequest[Any]) -> dict[str, Any]:
        asked = len(request.state["messages"])
        return {"session": request.runtime.context["case"], "extra_vars": {"asked": asked}}

    model = Model()
    put = middleware(renderer(), "{{ session_id }} {{ asked }}", context=whom)
    made(model, put).invoke(ASK, context={"case": "c7"})
    assert model.systems == ["c7 1", "c7 3"]


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        (lambda request: request.runtime.context["hunter2"], "it raised `KeyError`"),
        (lambda request: "hunter2", "gave `str` and no mapping"),
        (lambda request: {"user": "hunter2"}, "gave `user`, which is none of its keys"),
        (lambda request: {"extra_vars": "hunter2"}, "as `extra_vars`"),
    ],
)
@pytest.mark.parametrize("is_async", [False, True], ids=["invoke", "ainvoke"])
def test_mapping_fails(
    mapping: Any, said: str, is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """A live turn goes on without a session, and says so; other profiles raise."""

    def run(profile: cuecard.Profile, template: str) -> list[Any]:
        model = Model()
        agent = made(model, middleware(renderer(profile=profile), template, context=mapping))
        if is_async:
            asyncio.run(agent.ainvoke(ASK, context=ANN))
        else:
            agent.invoke(ASK, context=ANN)
        return model.systems

    with caplog.at_level(logging.WARNING, "cuecard"):
        assert run(cuecard.LIVE, "for {{ user_id }}.") == ["for ."] * 2
    assert said in caplog.text
    with pytest.raises(ProviderError) as raised:
        run(cuecard.STRICT, "for {{ user_id }}.")
    assert said in str(raised.value)
    assert "hunter2" not in caplog.text + str(raised.value)


# other middleware ------------------------------------------------------------------------------


def test_what_others_add_follows() -> None:
    """What a middleware after it adds stays behind the prompt, whose bytes are the same."""
    for kind in (Model, Claude):
        model = kind()
        made(model, middleware(renderer(), AGENT), TodoListMiddleware()).invoke(ASK, context=ANN)
        for minute, content in enumerate(model.systems):
            text = text_of(content)
            assert text.startswith(STATIC[:13])
            assert f"It is 12:0{minute}.\n" in text
            assert "write_todos" in text.split("It is 12:0")[1]


@pytest.mark.parametrize("kind", [Model, Claude])
@pytest.mark.parametrize(
    "own", ["Be kind.", SystemMessage([{"type": "text", "text": "\n\nBe kind."}])]
)
def test_own_message_follows(own: Any, kind: type[Model]) -> None:
    """The agent's own system message is not lost."""
    model = kind()
    put = middleware(renderer(), AGENT)
    made(model, put, system_prompt=own).invoke(ASK, context=ANN)
    assert text_of(model.systems[0]) == f"{FRONT}12:00.\n\n\nBe kind."


@pytest.mark.parametrize("kind", [Model, Claude])
def test_empty_prompt(kind: type[Model]) -> None:
    """No system message is sent for a prompt that is empty, or white space alone in blocks."""
    model = kind()
    made(model, middleware(renderer(), "{{ nothing }}")).invoke(ASK, context=ANN)
    assert [messages[0].type for messages in model.seen] == ["human", "human"]


# the loop of events ----------------------------------------------------------------------------


def test_loop_is_not_blocked() -> None:
    """While providers wait, whether plain or coroutines, other tasks run."""
    plain, other = threading.Event(), asyncio.Event()

    @cuecard.provider("slow")
    def slow(request: Any) -> dict[str, Any]:
        return {"slow": plain.wait(30)}

    @cuecard.provider("awaited")
    async def awaited(request: Any) -> dict[str, Any]:
        return {"awaited": await asyncio.wait_for(other.wait(), 30)}

    async def run() -> list[Any]:
        model = Model()
        agent = made(model, middleware(renderer(slow, awaited), "{{ slow }} {{ awaited }}"))

        async def release() -> None:
            plain.set()
            other.set()

        await asyncio.gather(agent.ainvoke(ASK, context=ANN), release())
        return model.systems

    assert asyncio.run(run()) == ["True True"] * 2


def test_call_is_cancelled() -> None:
    """A cancelled call leaves nothing behind: the next turn has its prompt, and the front."""

    async def run() -> list[Any]:
        model = Waiting()
        agent = made(model, middleware(renderer(), AGENT))
        task = asyncio.create_task(agent.ainvoke(ASK, context=ANN))
        await asyncio.wait_for(model.called.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert model.systems == []
        model.may_answer.set()
        await agent.ainvoke(ASK, context=ANN)
        return model.systems

    assert asyncio.run(run()) == [f"{FRONT}12:0{minute}.\n" for minute in (1, 2)]


# what is installed ------------------------------------------------------------------------------


def test_not_installed() -> None:
    """Without the package the error names the extra; the module itself can be imported."""
    code = """if True:
        import sys
        from cuecard.adapters.langchain import middleware
        import cuecard
        assert not {name.partition(".")[0] for name in sys.modules} & {
            "langchain", "langchain_core", "langgraph", "anthropic", "pydantic"}
        sys.modules["langchain"] = None
        try:
            middleware(cuecard.PromptRenderer(), "x")
        except cuecard.MissingExtraError as error:
            print(error)
    """
    said = run_python(code)
    assert said == (
        "P807 this adapter needs the package `langchain` (pip install 'cuecard[langchain]')\n"
    )


@dataclasses.dataclass
class OldRequest:
    """The request of LangChain 1.0, whose prompt was a text."""

    system_prompt: str | None


@pytest.fixture(params=["0.3", "1.0"])
def old_langchain(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """An older version, by what its module lacks."""
    module: Any = types.ModuleType("langchain.agents.middleware")
    if request.param == "1.0":
        module.AgentMiddleware, module.ModelRequest = object, OldRequest
    monkeypatch.setitem(sys.modules, "langchain.agents.middleware", module)
    return str(request.param)


def test_too_old(old_langchain: str) -> None:
    """A version without the hook is named, and the one that is needed."""
    with pytest.raises(MissingExtraError, match=r"needs `langchain>=1\.1`.*--upgrade"):
        middleware(renderer(), AGENT)


@pytest.mark.parametrize("options", [{"ttl": "2h"}, {"breakpoints": 5}, {"breakpoints": True}])
def test_wrong_options(options: dict[str, Any]) -> None:
    """What the API does not know is refused when the middleware is made."""
    with pytest.raises(ValueError, match="must be"):
        middleware(renderer(), AGENT, **options)


def test_default_mapping_of_a_bare_request() -> None:
    """A run without context and thread has neither user nor session."""
    request = ModelRequest(model=Model(), messages=[], runtime=runtime())
    assert of_request(request) == {"session": None, "auth": None}

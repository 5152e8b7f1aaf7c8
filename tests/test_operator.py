"""Spawning: the system prompt is rendered for a task, and the operator is started on it."""

import asyncio
import logging
import pickle
from typing import Any

import pytest
import trio

import cuecard
from cuecard.agents import parse_agent
from cuecard.operator import OperatorSpawner, SpawnError, TaskSpec, render_system

Call = tuple[str | None, str]


class Recorder:
    """An operator that keeps what it was called with, and answers."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def execute(self, *, system: str | None, prompt: str) -> Any:
        self.calls.append((system, prompt))
        return "done"


class AsyncRecorder(Recorder):
    async def execute(self, *, system: str | None, prompt: str) -> Any:
        return super().execute(system=system, prompt=prompt)


@pytest.mark.parametrize(
    ("directive", "call"),
    [
        ("fix it", ("Do: fix it", "fix it")),
        (
            '{"directive": "fix it", "intent": "bug"}',
            ("Do: fix it (bug)", '{"directive": "fix it", "intent": "bug"}'),
        ),
        (
            {"directive": "füx", "intent": None},
            ("Do: füx", '{"directive": "füx", "intent": null}'),
        ),
        ('["a"]', ('Do: ["a"]', '["a"]')),
        (7, ("Do: 7", "7")),
    ],
)
def test_a_task(directive: Any, call: Call) -> None:
    """Its keys fill the system prompt, and the task itself goes on as the user's message."""
    operator = Recorder()
    spawner = OperatorSpawner(
        operator,
        "Do: {{ directive }}{% if intent is defined and intent %} ({{ intent }}){% endif %}",
    )
    assert spawner.spawn(TaskSpec("a", directive)) == "done"
    assert operator.calls == [call]


def test_no_system_prompt() -> None:
    """Without one nothing is rendered, and the operator is told so."""
    operator = Recorder()
    OperatorSpawner(operator).spawn(TaskSpec("a", "{{ not a template }}"))
    assert operator.calls == [(None, "{{ not a template }}")]


@pytest.mark.parametrize("operator", [Recorder(), AsyncRecorder()])
@pytest.mark.parametrize("run", [asyncio.run, None])
def test_async_operators(operator: Recorder, run: Any) -> None:
    """`aspawn` awaits what can be awaited, under asyncio and trio."""
    spawner = OperatorSpawner(operator, "{{ directive }}")
    task = TaskSpec("a", "go")
    result = run(spawner.aspawn(task)) if run else trio.run(spawner.aspawn, task)
    assert result == "done"
    assert operator.calls[-1] == ("go", "go")


def test_spawn_gives_the_awaitable_of_an_async_operator() -> None:
    """`spawn` passes on what the operator returned."""

    async def main() -> Any:
        return await OperatorSpawner(AsyncRecorder(), "x").spawn(TaskSpec("a", "go"))

    assert asyncio.run(main()) == "done"


@pytest.mark.parametrize(
    ("template", "begins"),
    [
        ("{{ directve }}", "undefined value: undefined variable `directve` (at system:1:4)"),
        ("{{ unclosed", "syntax error: "),
        ("{{ directive | nope }}", "unknown filter: "),
    ],
)
def test_a_failure_is_loud(template: str, begins: str) -> None:
    """The operator is not called, and the error says where and why in the agreed words."""
    operator = Recorder()
    with pytest.raises(SpawnError) as caught:
        OperatorSpawner(operator, template).spawn(TaskSpec("a", "secret-value"))
    error = caught.value
    assert str(error).startswith(
        f"internal: render system_prompt: template render failed: {begins}"
    )
    assert error.reason == "internal"
    assert error.span is not None
    assert isinstance(error.__cause__, cuecard.RenderError)
    assert "secret-value" not in error.report()
    assert operator.calls == []
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_the_operators_own_error_is_passed_on() -> None:
    """What `execute` raises is not ours to wrap."""

    class Broken(Recorder):
        def execute(self, *, system: str | None, prompt: str) -> Any:
            raise ConnectionError("no model")

    with pytest.raises(ConnectionError):
        OperatorSpawner(Broken(), "x").spawn(TaskSpec("a", "go"))


def test_a_task_that_is_no_json() -> None:
    """Without a system prompt too, the message has to be text."""
    with pytest.raises(SpawnError, match=r"^internal: the task is no JSON$"):
        OperatorSpawner(Recorder()).spawn(TaskSpec("a", object()))


def test_the_other_kinds() -> None:
    """A runtime says that nobody takes the task, or that it may not pass."""
    missing = SpawnError.not_registered("planner")
    assert (missing.reason, str(missing)) == ("not_registered", "not registered: planner")
    refused = SpawnError.rejected_by_middleware("over budget")
    assert refused.reason == "rejected_by_middleware"
    assert str(refused) == "rejected by middleware: over budget"
    assert (missing.kind, refused.kind) == ("not registered", "rejected by middleware")
    assert pickle.loads(pickle.dumps(missing)).reason == "not_registered"


AGENT = parse_agent(
    "---\nname: triage\ninputs: {directive: string, level: {type: int, default: 2}}\n---\n"
    "{{ directive }} at {{ level }}\n"
)


def test_an_agent_s_inputs_are_checked(caplog: pytest.LogCaptureFixture) -> None:
    """Defaults are applied, a missing input fails, an undeclared slot is logged."""
    assert render_system(AGENT, {"directive": "go"}) == "go at 2"
    with caplog.at_level(logging.WARNING, "cuecard.operator"):
        assert render_system(AGENT, {"directive": "go", "levle": 3}) == "go at 2"
    assert "`levle`" in caplog.text
    with pytest.raises(cuecard.RenderError) as caught:
        render_system(AGENT, {"level": 3})
    assert str(caught.value) == (
        "template render failed: missing input: missing input `directive` - at `$` (at triage)"
    )
    operator = Recorder()
    OperatorSpawner(operator, AGENT).spawn(TaskSpec("triage", "go"))
    assert operator.calls == [("go at 2", "go")]


def test_what_is_no_operator() -> None:
    """An object without `execute` is refused when the spawner is made, and not at a task."""
    with pytest.raises(TypeError, match=r"a method `execute\(\*, system, prompt\)`, got `object`"):
        OperatorSpawner(object(), None)  # type: ignore[arg-type]

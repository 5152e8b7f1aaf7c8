"""The examples in the service's OpenAPI document are what it really answers, by their keys."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from .service_process import Service, running

AGENT = """\
---
name: reviewer
description: Reviews a change.
inputs:
  directive: {type: string, description: What to look at.}
---
You are {{ agent_name }}, and review code.
{{ directive }}
"""
MISTAKEN = "Write about {{ topic | uppr }}.\n"
TEXT = "It is {{ day }}."


class Call(NamedTuple):
    """A call whose answer is of a kind."""

    kind: str
    path: str
    body: Any = None
    method: str = "POST"
    described: str | None = None
    status: int = 200

    @property
    def operation(self) -> str:
        """The path in the OpenAPI document."""
        return self.described or self.path


OF_AGENT = "/v1/agents/{name}"
CALLS = [
    Call("agents", "/v1/agents", None, "GET"),
    Call("agent", "/v1/agents/reviewer", None, "GET", OF_AGENT),
    Call(
        "prompt",
        "/v1/agents/reviewer/render",
        {
            "slots": {"directive": "Look at the locks."},
            "session": "s1",
            "include": ["blocks", "timings", "anthropic"],
            "tokens": "estimate",
        },
        described=f"{OF_AGENT}/render",
    ),
    Call(
        "explanation",
        "/v1/explain",
        {"text": TEXT, "context": {"day": "Monday"}, "tokens": "estimate"},
    ),
    Call("check", "/v1/check", {"text": MISTAKEN, "name": "writer.md"}),
    Call(
        "diff", "/v1/diff", {"text": TEXT, "before": {"day": "Monday"}, "after": {"day": "Friday"}}
    ),
    Call(
        "series",
        "/v1/turns",
        {
            "text": TEXT,
            "turns": [{"day": "Monday"}, {"day": "Friday"}],
            "tokens": "estimate",
        },
    ),
    Call("file", "/v1/agents/reviewer/file", None, "GET", f"{OF_AGENT}/file"),
    Call(
        "turns",
        "/v1/agents/reviewer/turns/turns.jsonl",
        None,
        "GET",
        f"{OF_AGENT}/turns/{{file}}",
    ),
    Call(
        "context",
        "/v1/agents/reviewer/contexts/context.json",
        None,
        "GET",
        f"{OF_AGENT}/contexts/{{file}}",
    ),
    Call(
        "text",
        "/v1/notes/reviewer/ann",
        {"text": "Likes short answers."},
        "PUT",
        "/v1/notes/{agent}/{user}",
    ),
    Call(
        "todos",
        "/v1/todos/s1",
        {"todos": [{"content": "Run the tests", "status": "in_progress"}]},
        "PUT",
        "/v1/todos/{session}",
    ),
    Call("failure", "/v1/render", {"template": "Hello {{ nmae }}!"}, status=422),
    Call("state", "/healthz", None, "GET"),
    Call("me", "/v1/me", None, "GET"),
]
SAVED = "saved"
"""Needs the revision of the file, so it has a test of its own."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with one agent, a turn and a context beside it, and a store."""
    folder = tmp_path_factory.mktemp("agents")
    (folder / "reviewer.md").write_text(AGENT, "utf-8")
    (folder / "turns.jsonl").write_text('{"directive": "Look at the locks."}\n', "utf-8")
    (folder / "context.json").write_text('{"directive": "Look at the locks."}', "utf-8")
    with running(folder, options=("--store", "sqlite::memory:")) as started:
        yield started


def shape(value: Any) -> Any:
    """The keys of an answer, through all levels; of a list those of its first entry."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    return None


def example_of(service: Service, call: Call) -> Any:
    """The example of an operation's answer."""
    document = service.get("/openapi.json").json()
    operation = document["paths"][call.operation][call.method.lower()]
    return operation["responses"][str(call.status)]["content"]["application/json"]["example"]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.kind)
def test_example_has_the_keys_of_an_answer(call: Call, service: Service) -> None:
    """An example has every key that a real answer has, in the same places, and no other."""
    answer = service.request(call.method, call.path, call.body)
    assert answer.status_code == call.status, answer.text
    assert shape(example_of(service, call)) == shape(answer.json())


def test_example_of_a_saved_file(service: Service) -> None:
    """A file that was replaced has a new revision, as its example has."""
    file = service.get("/v1/agents/reviewer/file").json()
    sent = {"text": file["text"] + "Be brief.\n", "revision": file["revision"]}
    answer = service.put("/v1/agents/reviewer/file", sent).json()
    call = Call(SAVED, "", None, "PUT", f"{OF_AGENT}/file")
    assert shape(example_of(service, call)) == shape(answer)


def test_every_kind_of_answer_has_an_example(service: Service) -> None:
    """No operation answers with JSON that is described without an example."""
    paths = service.get("/openapi.json").json()["paths"]
    found = [
        (method, path)
        for path, operations in paths.items()
        for method, operation in operations.items()
        for response in operation["responses"].values()
        for content in response.get("content", {}).values()
        if content.get("schema") and not isinstance(content.get("example"), dict)
    ]
    assert found == []

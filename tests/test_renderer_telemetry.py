"""Spans of OpenTelemetry: what a render did is in them, and nothing of what it holds."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import cuecard
from cuecard import STRICT, Scope

from .live_providers import SECRET, Counted, agent, raising, renderer


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What an application's own provider of tracers exports."""
    made = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(made))
    # An application sets it once in a process; the tests set it for themselves.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield made
    provider.shutdown()


DEFINITION = agent("{{ a }} {{ b }} {{ c }}\n")


def providers() -> list[Any]:
    @cuecard.provider("c")
    async def waiting(request: Any) -> dict[str, Any]:
        return {"c": SECRET}

    return [
        Counted("static", {"a": Scope.STATIC}, {"a": SECRET}),
        Counted("failing", {"b": Scope.TURN}, raising(RuntimeError(SECRET))),
        waiting,
    ]


def spans(exporter: InMemorySpanExporter) -> tuple[ReadableSpan, dict[str, ReadableSpan]]:
    """The span of the last render, and those of providers in it, by name."""
    finished = exporter.get_finished_spans()
    render = finished[-1]
    assert render.name == "cuecard.render"
    children = [span for span in finished if span.parent == render.context]
    assert {span.name for span in children} <= {"cuecard.provider"}
    named = {str((span.attributes or {})["cuecard.provider"]): span for span in children}
    assert len(named) == len(children)
    return render, named


@pytest.mark.parametrize("how", ["render", "prompt", "arender", "aprompt"])
def test_spans(how: str, exporter: InMemorySpanExporter) -> None:
    """A span for the render, and in it one for each provider that was called."""
    made = renderer(*providers())
    for _ in range(2):
        call = getattr(made, how)
        result = anyio.run(call, DEFINITION, "s") if how[0] == "a" else call(DEFINITION, "s")
    text = str(result)
    render, called = spans(exporter)
    assert set(called) == {"failing", "waiting"}
    expected = {
        "cuecard.agent": "triage",
        "cuecard.characters": len(text),
        "cuecard.providers.called": 1,
        "cuecard.providers.kept": 1,
        "cuecard.providers.failed": 1,
    }
    if isinstance(result, cuecard.Prompt):
        expected["cuecard.prefix.characters"] = len(SECRET) + 1
    assert dict(render.attributes or {}) == expected
    failing, waiting = called["failing"], called["waiting"]
    assert (failing.status.is_ok, failing.status.description) == (False, None)
    assert dict(failing.attributes or {})["error.type"] == "RuntimeError"
    assert waiting.status.is_ok
    everything = [span.to_json() for span in exporter.get_finished_spans()]
    assert SECRET not in "".join(everything)
    assert not any(span.events for span in exporter.get_finished_spans())


def test_a_render_that_fails(exporter: InMemorySpanExporter) -> None:
    """The spans end, and hold no message."""
    made = renderer(*providers(), profile=STRICT)
    with pytest.raises(cuecard.ProviderError):
        made.render(DEFINITION, "s")
    render, called = spans(exporter)
    assert not render.status.is_ok
    assert set(called) == {"static", "failing", "waiting"}
    assert SECRET not in render.to_json()


def test_spans_are_within_the_caller_s(exporter: InMemorySpanExporter) -> None:
    """The render's span is a child of the span of the turn, and providers may add their own."""

    def give(request: Any) -> dict[str, Any]:
        with trace.get_tracer("store").start_as_current_span("query"):
            return {"a": "x"}

    made = renderer(Counted("one", {"a": Scope.TURN}, give, timeout=30))
    with trace.get_tracer("app").start_as_current_span("turn"):
        made.render("{{ a }}")
    by_name = {span.name: span for span in exporter.get_finished_spans()}
    chain = ["turn", "cuecard.render", "cuecard.provider", "query"]
    for outer, inner in itertools.pairwise(chain):
        assert by_name[inner].parent == by_name[outer].context


def test_plain_text_has_no_span(exporter: InMemorySpanExporter) -> None:
    """What asks nobody and renders nothing is not worth one."""
    renderer().render("plain")
    assert exporter.get_finished_spans() == ()


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """An application that does not use OpenTelemetry gets no spans, and loads nothing."""
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    assert renderer(Counted("one", {"a": Scope.TURN})).prompt("{{ a }}").text == "a1"
    assert "opentelemetry.trace" not in sys.modules

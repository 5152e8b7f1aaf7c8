"""Spans of OpenTelemetry, for applications that use it. No prompt text is in them.

Whether an application does is seen by whether it has loaded the API: nothing is loaded here
for its sake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any

from ..prompt import Prompt, ProviderRun
from ..surroundings import loaded

__all__ = ["describe", "describe_prompt", "is_traced", "provider_span", "render_span"]

_NO_SPAN: AbstractContextManager[Any] = nullcontext()


def is_traced() -> bool:
    """Whether the application has loaded OpenTelemetry, and said where spans go.

    Frameworks load it for whom nobody has said so.
    """
    trace = loaded("opentelemetry.trace")
    return trace is not None and not isinstance(
        trace.get_tracer_provider(), trace.ProxyTracerProvider
    )


def render_span(agent: str | None) -> AbstractContextManager[Any]:
    """A span `cuecard.render` around one render; it gives None when nobody listens."""
    return _span("cuecard.render", {"cuecard.agent": agent} if agent else {})


def provider_span(name: str) -> AbstractContextManager[Any]:
    """A span `cuecard.provider` around one call of a provider."""
    return _span("cuecard.provider", {"cuecard.provider": name})


def _span(name: str, attributes: dict[str, Any]) -> AbstractContextManager[Any]:
    if not is_traced():
        return _NO_SPAN
    trace = loaded("opentelemetry.trace")
    tracer = trace.get_tracer("cuecard")
    # The message of an exception may hold a value.
    return _Span(
        tracer.start_as_current_span(
            name, attributes=attributes, record_exception=False, set_status_on_exception=False
        ),
        trace.StatusCode.ERROR,
    )


class _Span(AbstractContextManager[Any]):
    """A span that names the type of the exception which ends it, and nothing else of it."""

    def __init__(self, manager: AbstractContextManager[Any], failed: Any) -> None:
        self._manager = manager
        self._failed = failed

    def __enter__(self) -> Any:
        self._span = self._manager.__enter__()
        return self._span

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, Exception) and self._span.is_recording():
            self._span.set_attribute("error.type", type(error).__name__)
            self._span.set_status(self._failed)
        self._manager.__exit__(kind, error, trace)


def describe(span: Any, runs: Callable[[], Iterable[ProviderRun]], characters: int) -> None:
    """Say in a span what a render did."""
    if span is None or not span.is_recording():
        return
    states = [run.state for run in runs()]
    span.set_attribute("cuecard.characters", characters)
    span.set_attribute("cuecard.providers.called", states.count("called"))
    span.set_attribute("cuecard.providers.kept", states.count("kept"))
    span.set_attribute("cuecard.providers.failed", states.count("failed"))


def describe_prompt(span: Any, prompt: Prompt) -> None:
    """Say in a span what a render did, and how much of the prompt can be cached."""
    if span is None or not span.is_recording():
        return
    describe(span, lambda: prompt.providers, len(prompt.text))
    span.set_attribute("cuecard.prefix.characters", prompt.cacheable_prefix.characters)

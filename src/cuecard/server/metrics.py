"""What a service counts, for Prometheus. Nothing of a prompt is in it but its length."""

from __future__ import annotations

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from ..prompt import Prompt

__all__ = ["Metrics"]

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_CHARACTERS = (100, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000, 1_000_000)


class Metrics:
    """The counters of one service, in a registry of its own.

    Attributes:
        content_type: the type of what `text` gives.
    """

    content_type = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self) -> None:
        # Finding the labels takes longer than counting.
        self._of_request = cache(self._find_request)
        self._of_provider = cache(self._find_provider)
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "cuecard_requests_total",
            "Requests that were answered.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "cuecard_request_seconds",
            "Time from a request's head to its last byte.",
            ("route",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._working = Gauge(
            "cuecard_requests_working", "Requests that are worked on.", registry=self._registry
        )
        self._characters = Histogram(
            "cuecard_prompt_characters",
            "Lengths of rendered prompts.",
            buckets=_CHARACTERS,
            registry=self._registry,
        )
        self._fallbacks = Counter(
            "cuecard_fallbacks_total",
            "Prompts that are their template as it stands.",
            registry=self._registry,
        )
        self._providers = Histogram(
            "cuecard_provider_seconds",
            "Time that providers took, of those that were called.",
            ("provider", "state"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._reloads = Counter(
            "cuecard_reloads_total",
            "Changes of watched files that were read.",
            registry=self._registry,
        )
        self._broken = Gauge(
            "cuecard_broken_agents",
            "Agents whose files are broken, and that are served as they were or not at all.",
            registry=self._registry,
        )

    def started(self) -> None:
        """A request has begun."""
        self._working.inc()

    def answered(self, route: str, method: str, status: int, seconds: float) -> None:
        """A request is done."""
        self._working.dec()
        counter, histogram = self._of_request(route, method, status)
        counter.inc()
        histogram.observe(seconds)

    def rendered(self, prompt: Prompt, fallback: bool) -> None:
        """An agent was rendered."""
        self._characters.observe(len(prompt.text))
        if fallback:
            self._fallbacks.inc()
        for run in prompt.providers:
            if run.state in ("called", "failed"):
                self._of_provider(run.provider, run.state).observe(run.seconds)

    def _find_request(self, route: str, method: str, status: int) -> tuple[Counter, Histogram]:
        counter = self._requests.labels(route, method, str(status))
        return counter, self._seconds.labels(route)

    def _find_provider(self, provider: str, state: str) -> Histogram:
        return self._providers.labels(provider, state)

    def reloaded(self, broken: int) -> None:
        """The files were read again."""
        self._reloads.inc()
        self._broken.set(broken)

    def text(self) -> bytes:
        """Everything that was counted, in Prometheus' text format."""
        return generate_latest(self._registry)

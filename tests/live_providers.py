"""Providers that the tests of the live path are made of, and a clock that they set."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import cuecard
from cuecard import AgentDefinition, PromptRenderer, Scope
from cuecard.providers import ProviderRequest

SECRET = "hunter2-SECRET"
"""What an exception or a value holds that nothing may repeat."""

NOON = datetime.datetime(2026, 11, 29, 12, tzinfo=datetime.UTC)


class Clock:
    """A clock that stands until it is set."""

    def __init__(self, now: datetime.datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime.datetime:
        return self.now

    def forward(self, **time: float) -> None:
        self.now += datetime.timedelta(**time)


class Counted:
    """A provider that counts its calls.

    Args:
        name: its name.
        scopes: what it provides; None for a provider that does not say.
        give: what it gives: a mapping, or a function of the request.
        about: more of the contract's attributes.
    """

    def __init__(
        self,
        name: str,
        scopes: Mapping[str, Scope] | None,
        give: Mapping[str, Any] | Callable[[ProviderRequest], Any] | None = None,
        **about: Any,
    ) -> None:
        self.name = name
        self.provides = scopes
        self.calls = 0
        self.requests: list[ProviderRequest] = []
        self.give = give
        for key, value in about.items():
            setattr(self, key, value)

    def contribute(self, request: ProviderRequest) -> Any:
        self.calls += 1
        self.requests.append(request)
        if callable(self.give):
            return self.give(request)
        if self.give is not None:
            return self.give
        return {name: f"{name}{self.calls}" for name in self.provides or ()}


def raising(error: BaseException) -> Callable[[ProviderRequest], Any]:
    """A function that raises."""

    def give(request: ProviderRequest) -> Any:
        raise error

    return give


def renderer(*providers: Any, **options: Any) -> PromptRenderer:
    """A renderer of these providers alone."""
    options.setdefault("clock", Clock())
    return PromptRenderer(providers, builtins=False, entry_points=False, **options)


def live(**options: Any) -> PromptRenderer:
    """A renderer of the built-in providers alone."""
    options.setdefault("clock", Clock())
    return PromptRenderer(entry_points=False, **options)


def agent(template: str, name: str = "triage", **fields: Any) -> AgentDefinition:
    """An agent with this template."""
    return AgentDefinition(name=name, system_prompt=template, **fields)


def states(prompt: cuecard.Prompt) -> dict[str, str]:
    """What each provider did."""
    return {run.provider: run.state for run in prompt.providers}


def codes(prompt: cuecard.Prompt) -> list[str]:
    """The codes of what was noticed."""
    return [finding.code for finding in prompt.diagnostics]

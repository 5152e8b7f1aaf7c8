"""Whom a turn is for: what a mapping of a framework's context gives, and what if it fails."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..errors import PromptError, ProviderError
from ..profile import Profile
from ..tools import ToolSpec

__all__ = ["Given", "read_given", "report", "tool_values"]

_logger = logging.getLogger("cuecard.adapters")

_KEYS = frozenset(("session", "auth", "extra_vars"))


class Given(NamedTuple):
    """Whom a turn is for, and the caller's variables."""

    session: Any = None
    auth: Any = None
    extra_vars: Mapping[str, Any] | None = None


def read_given(given: Any) -> Given:
    """What a mapping of the context gave.

    Raises:
        ProviderError: it is no mapping of `session`, `auth` and `extra_vars` (P303).
    """
    if not isinstance(given, Mapping):
        raise _invalid(f"gave `{type(given).__name__}` and no mapping")
    if not given.keys() <= _KEYS:
        stranger = min(map(str, given.keys() - _KEYS))
        raise _invalid(f"gave `{stranger}`, which is none of its keys")
    extra_vars = given.get("extra_vars")
    if extra_vars is not None and not isinstance(extra_vars, Mapping):
        raise _invalid(f"gave `{type(extra_vars).__name__}` as `extra_vars`")
    return Given(given.get("session"), given.get("auth"), extra_vars)


def report(what: str, error: Exception, profile: Profile) -> None:
    """Say in the log that something is left out; or raise, as the profile has it.

    Raises:
        ProviderError: the profile does not fall back.
    """
    failure = error
    if not isinstance(error, ProviderError):
        kind = type(error).__name__
        # Only our own errors are known to hold no values.
        hint = str(error) if isinstance(error, PromptError) else None
        failure = ProviderError(f"{what} failed: it raised `{kind}`", code="P301", hint=hint)
    if not profile.fallback:
        raise failure from (None if failure is error else error)
    _logger.warning("%s", failure)


def tool_values(tool: ToolSpec) -> dict[str, Any]:
    """What a template sees of a tool."""
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }


def _invalid(problem: str) -> ProviderError:
    return ProviderError(
        f"the mapping of the context {problem}",
        code="P303",
        hint="return a mapping with `session`, `auth` and `extra_vars`, or some of them",
    )

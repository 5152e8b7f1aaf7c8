"""Contributions: whether what a provider gave is a mapping of names, and why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from ..errors import PromptError, ProviderError
from ..providers import Registered, Step

__all__ = ["contribution", "provider_error"]

_MAX_VARIABLES = 10_000


def contribution(step: Step, value: Any) -> dict[str, Any]:
    """The variables of a contribution that are asked for.

    Raises:
        ProviderError: it is no mapping of names (P303).
    """
    name = step.provider.name
    if type(value) is not dict:
        if not isinstance(value, Mapping):
            raise _invalid(name, f"gave `{type(value).__name__}` and no mapping")
        # It may have no end.
        value = dict(islice(value.items(), _MAX_VARIABLES + 1))
    if len(value) > _MAX_VARIABLES:
        raise _invalid(name, f"gave more than {_MAX_VARIABLES:,} variables")
    for key in value:
        if not isinstance(key, str):
            raise _invalid(name, "gave a key that is no text")
    if step.names is None:
        return dict(value)
    return {key: value[key] for key in step.names if key in value}


def _invalid(name: str, problem: str) -> ProviderError:
    return ProviderError(
        f"provider `{name}` {problem}",
        code="P303",
        hint="return a mapping of variables to values, such as a dict",
    )


def provider_error(provider: Registered, error: Exception) -> ProviderError:
    """The error for a provider that failed; what its own exception says may be secret."""
    if isinstance(error, ProviderError):
        return error
    if isinstance(error, TimeoutError):
        message = f"provider `{provider.name}` took too long"
        return ProviderError(message, code="P302", hint="make it faster, or raise its `timeout`")
    kind = type(error).__name__
    # Only our own errors are known to hold no values.
    hint = str(error) if isinstance(error, PromptError) else None
    message = f"provider `{provider.name}` failed: it raised `{kind}`"
    return ProviderError(message, code="P301", hint=hint)

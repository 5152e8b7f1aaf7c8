"""What workers do: operations that take plain data and return plain data."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from ..errors import PromptError
from ..profile import Limits, Profile
from ..template import Template
from .failures import error_of
from .wire import Failure

__all__ = ["context_of", "profile_of", "render"]

_MOST_KEPT = 1 << 15
"""Characters of a template that is kept compiled: what is kept takes memory from all calls."""


def render(data: list[Any]) -> str:
    """Render a template: its text, profile and name, and its context as `given` packs it."""
    text, profile, name, *context = data
    make = _kept if len(text) <= _MOST_KEPT else _template
    template = make(text, profile, name)
    values, refusal = context_of(template, context)
    if refusal is None:
        return template.render(values)
    if template.profile.fallback:
        return template.as_it_stands(refusal).text
    raise refusal


def context_of(template: Template, context: list[Any]) -> tuple[Any, PromptError | None]:
    """The context of a template, and the error that its render fails with, if it must.

    Args:
        template: the template that is to read it.
        context: what `given` made of it.
    """
    values, refused, whole = context
    if template.unit is None:
        return {}, None
    if whole is not None:
        return {}, _refusal(whole)
    for name in sorted(template.variables & refused.keys()):
        return {}, _refusal(refused[name])
    return {**values, **dict.fromkeys(refused)}, None


def _refusal(data: Any) -> PromptError:
    error = error_of(msgspec.convert(data, Failure))
    assert error is not None, "the program made it from an error"
    return error


@lru_cache(maxsize=16)
def profile_of(packed: bytes) -> Profile:
    """The profile that was sent as the MessagePack of its fields."""
    fields = msgspec.msgpack.decode(packed)
    return Profile(**{**fields, "limits": Limits(**fields["limits"])})


def _template(text: str, profile: bytes, name: str) -> Template:
    return Template(text, profile=profile_of(profile), name=name)


@lru_cache(maxsize=64)
def _kept(text: str, profile: bytes, name: str) -> Template:
    return _template(text, profile, name)

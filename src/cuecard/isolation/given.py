"""Given: a context as plain data, ready to be sent, with what is no plain data noted.

The program cannot know which names a template reads without reading the template, which is
the worker's to do. So all of a context is frozen; a value that cannot be is an error only
if the template turns out to read its name, as it is without isolation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ContextError, PromptError
from ..profile import Limits, Profile
from ..values import freeze_mapping
from ..values.conversion import Conversion, RefusedError
from .failures import failure_of
from .wire import Failure, Record, text_of

__all__ = ["ANY", "Given", "given", "plain"]

ANY = Limits(depth=1 << 20, nodes=1 << 62)
"""Limits for what is no context, and bounded by the size of a frame."""

Given = tuple[dict[str, Any], dict[str, Failure], Failure | None]
"""Values by name, refusals by name, and why there is no context at all."""


class _Sending(Conversion):
    """A conversion whose named tuples keep their names on the way."""

    __slots__ = ()

    def _tuple(self, value: tuple[Any, ...], depth: int) -> Any:
        items = self._sequence(value, value, depth)
        fields = getattr(type(value), "_fields", None)
        return Record(fields, items) if isinstance(fields, tuple) else items


def given(context: Any, profile: Profile) -> Given:
    """A context as it travels: what can be sent, and why the rest cannot.

    Args:
        context: as for `cuecard.render`.
        profile: its limits bound each value; `bind_value` takes a value that is no mapping.
    """
    if profile.bind_value and not isinstance(context, Mapping):
        context = {"value": context}
    values: dict[str, Any] = {}
    refused: dict[str, Failure] = {}
    if context is None:
        return values, refused, None
    try:
        mapping = freeze_mapping(context)
        for name in _names(mapping):
            try:
                values[name] = _frozen(name, _item(mapping, name), profile.limits)
            except ContextError as error:
                refused[name] = failure_of(error)
    except ContextError as error:
        return {}, {}, failure_of(error)
    return values, refused, None


def _names(mapping: Mapping[Any, Any]) -> list[str]:
    try:
        # No template can read another name, and no other can be sent.
        names = [name for name in mapping if isinstance(name, str) and text_of(name) is name]
    except Exception as error:
        raise _unreadable(error) from error
    return ["".join((name,)) for name in names]


def _item(mapping: Mapping[Any, Any], name: str) -> Any:
    try:
        return mapping[name]
    except Exception as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> ContextError:
    return ContextError(f"the context cannot be read: it raised `{type(error).__name__}`")


def _frozen(name: str, value: Any, limits: Limits) -> Any:
    if type(value) is str and value.isascii():
        return value
    return plain(value, limits, f"$.{name}")


def plain(value: Any, limits: Limits, path: str = "$") -> Any:
    """A value as plain data that can be sent.

    Raises:
        ContextError: it is not plain data, or too large.
    """
    try:
        return _Sending(limits, guarded=False).freeze(value)
    except RefusedError as refusal:
        error: PromptError = ContextError(
            refusal.message,
            path=path + "".join(reversed(refusal.steps)),
            code=refusal.code,
            hint=refusal.hint,
        )
        raise error from refusal.__cause__
    except RecursionError:
        raise ContextError(
            f"nested more than {limits.depth} levels deep", path=path, code="P703"
        ) from None

"""Failures: rows that are rendered as a whole, which says what is wrong with them, if anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ...errors import ContextError, PromptError
from ...template import Template
from .plain import unreadable_in

__all__ = ["Outcome", "WholeRows"]

Row = Mapping[str, Any]


class Outcome(NamedTuple):
    """What became of a row: its text, or an error and what text there is in spite of it.

    Attributes:
        text: the prompt; with an error, the template as it stands, or None.
        code: the code of the error, or None.
        message: its message, or None.
        front: the characters of the prompt's cacheable front, when they are counted.
    """

    text: str | None
    code: str | None = None
    message: str | None = None
    front: int | None = None


class WholeRows:
    """Renders rows one by one.

    Args:
        template: what is rendered; under a profile with `fallback` a failing row has the
            text of the template, and the error as well.
        front: whether to count the characters of the cacheable front.
    """

    def __init__(self, template: Template, *, front: bool) -> None:
        self._front = front
        self._fallback = template.source.text if template.profile.fallback else None
        self.failure = template.failure
        self._strictly = _without_fallback(template) if self.failure is None else template

    def outcome(self, row: Row) -> Outcome:
        """Render a row of plain data, in which an `Unreadable` stands for what cannot be had."""
        if self.failure is not None:
            return self.failed(self.failure)
        try:
            _check(row)
            text = self._strictly.render(dict(row))
            if not self._front:
                return Outcome(text)
            prefix = self._strictly.trace(dict(row)).cacheable_prefix
            return Outcome(text, front=prefix.characters)
        except PromptError as error:
            return self.failed(error)

    def failed(self, error: PromptError) -> Outcome:
        """What becomes of a row with an error."""
        return Outcome(self._fallback, error.code, error.message)


def _without_fallback(template: Template) -> Template:
    if not template.profile.fallback:
        return template
    return template.variant(profile=replace(template.profile, fallback=False))


def _check(row: Row) -> None:
    for name, value in row.items():
        lost = unreadable_in(value)
        if lost is not None:
            raise ContextError(lost.message, path=f"$.{name}", code=lost.code)

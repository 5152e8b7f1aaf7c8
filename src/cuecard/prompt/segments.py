"""Segments: ranges of a prompt's text, with where they came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ..source import Span
from .scope import Scope

__all__ = ["Marks", "Prefix", "Segment", "Traced"]

Marks = Sequence[tuple[int, int, Span, frozenset[str], Scope]]
"""The outputs within a block: start and end in its text, span, names and scope."""


class Segment(NamedTuple):
    """A range of the output, and where it came from.

    Attributes:
        start: offset of its first character in the output.
        end: offset after its last character.
        span: the place in the template that made it.
        kind: `"text"`, `"output"` or `"block"`.
        variables: names of the context that it read.
        scope: how long it stays the same.
        providers: names of the providers that gave those variables, where known.
        template: name of the template or partial that `span` belongs to.
        children: for a block, the outputs within it that could be traced.
    """

    start: int
    end: int
    span: Span
    kind: str
    variables: frozenset[str]
    scope: Scope
    providers: tuple[str, ...] = ()
    template: str = "system"
    children: tuple[Segment, ...] = ()


class Prefix(NamedTuple):
    """The front of a prompt that stays the same from turn to turn.

    Attributes:
        characters: its length.
        tokens: its length in tokens, when the prompt has a counter.
    """

    characters: int
    tokens: int | None


class Traced(Protocol):
    """A text whose segments are known: what a `Prompt` is to those that compare it."""

    @property
    def text(self) -> str:
        """The whole text."""

    @property
    def template(self) -> str:
        """The template's name."""

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments, in order."""

    def segment_at(self, offset: int) -> Segment | None:
        """The innermost segment that a character belongs to."""

    def count(self, text: str) -> int | None:
        """Tokens of a text, when they are counted."""

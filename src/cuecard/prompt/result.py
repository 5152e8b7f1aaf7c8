"""The result of a render: its text, and for every range of it where it came from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..source import Diagnostic
from .blocks import Block, anthropic_blocks, at_most
from .control_tokens import find_control_tokens
from .diff import PromptDiff, compare
from .outline import Outline
from .runs import ProviderRun
from .scope import Scope
from .segments import Marks, Prefix, Segment

__all__ = ["Prompt"]

Counter = Callable[[str], int]
"""Counts the tokens of a text."""


class Prompt:
    """A rendered prompt that knows where each part of its text came from.

    `str(prompt)` is its text.

    Attributes:
        diagnostics: what was noticed: absent names, scopes of names that are not read, and
            why the template is used as it stands, if it is.
        template: the template's name.
        providers: what each provider did, when a renderer made the prompt.
        seconds: how long the whole render took, when a renderer made the prompt.
    """

    __slots__ = (
        "_counter",
        "_marks",
        "_outline",
        "_segments",
        "_text",
        "_texts",
        "diagnostics",
        "providers",
        "seconds",
        "template",
    )

    def __init__(
        self,
        outline: Outline,
        texts: Sequence[str],
        *,
        template: str = "system",
        diagnostics: Iterable[Diagnostic] = (),
        counter: Counter | None = None,
        marks: Callable[[int], Marks] | None = None,
    ) -> None:
        """Put together a prompt.

        Args:
            outline: the segments but for their texts.
            texts: the texts of the segments after the outline's front.
            template: the template's name.
            diagnostics: what was noticed.
            counter: counts the tokens of a text.
            marks: finds the outputs within a segment by its number, when someone looks.
        """
        self._outline = outline
        self._texts = texts
        self._counter = counter
        self._marks = marks
        self._text: str | None = None
        self._segments: tuple[Segment, ...] | None = None
        self.diagnostics = tuple(diagnostics)
        self.template = template
        self.providers: tuple[ProviderRun, ...] = ()
        self.seconds = 0.0

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        # The template does not go along, so what it alone could find is found now.
        state = {name: getattr(self, name) for name in self.__slots__}
        return None, {**state, "_segments": self.segments, "_marks": None}

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Prompt(template={self.template!r}, segments={len(self.segments)})"

    @property
    def text(self) -> str:
        """The whole text."""
        if self._text is None:
            front = [block.text for block in self._outline.blocks]
            self._text = "".join([*front, *self._texts])
        return self._text

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The segments, in order; together they cover the text without gaps."""
        if self._segments is None:
            self._segments = tuple(self._walk())
        return self._segments

    def _walk(self) -> Iterator[Segment]:
        start = 0
        texts = (*self._outline.front, *self._texts)
        # A trace that failed has fewer texts than its template has segments.
        for number, (text, form) in enumerate(zip(texts, self._outline.forms, strict=False)):
            end = start + len(text)
            yield Segment(
                start,
                end,
                *form,
                template=self.template,
                providers=self._providers_of(form.variables),
                children=self._children(number, start, end),
            )
            start = end

    def _children(self, number: int, start: int, end: int) -> tuple[Segment, ...]:
        if self._marks is None:
            return ()
        return tuple(
            Segment(
                min(start + a, end),
                min(start + b, end),
                span,
                "output",
                names,
                scope,
                template=self.template,
                providers=self._providers_of(names),
            )
            for a, b, span, names, scope in self._marks(number)
        )

    def _providers_of(self, names: Iterable[str]) -> tuple[str, ...]:
        if not self.providers:
            return ()
        return tuple(sorted({p for p in map(self.provider_of, names) if p is not None}))

    def segment_at(self, offset: int) -> Segment | None:
        """The innermost segment that a character of the output belongs to."""
        segments = [segment for segment in self.segments if segment.end > segment.start]
        index = bisect_right([segment.start for segment in segments], offset) - 1
        if index < 0 or offset >= segments[index].end:
            return None
        inner = [c for c in segments[index].children if c.start <= offset < c.end]
        return inner[0] if inner else segments[index]

    # caching -------------------------------------------------------------------------------------

    def blocks(self, max_blocks: int = 4) -> list[Block]:
        """The text as runs of like stability, in its order.

        The stability of a run is that of all text up to its end: what follows text that
        changes at every turn cannot be cached, however stable it is by itself. So a later
        run never is more stable than an earlier one, and there are at most as many as scopes.

        Args:
            max_blocks: at most so many blocks; the last ones are joined.

        Returns:
            Blocks that are not empty, whose texts joined are `text`.
        """
        blocks = self._outline.joined(self._texts)
        return blocks if 0 < max_blocks >= len(blocks) else at_most(max_blocks, blocks)

    @property
    def cacheable_prefix(self) -> Prefix:
        """The front before the first text that may change at a turn."""
        stable = [block for block in self.blocks() if block.scope < Scope.TURN]
        counter = self._counter
        tokens = counter("".join(b.text for b in stable)) if counter is not None else None
        return Prefix(sum(len(block.text) for block in stable), tokens)

    def control_tokens(self) -> list[Diagnostic]:
        """A warning (P915) for each control token of a chat format that a value holds.

        The text stays as it is. Tokens in the template's own text are its author's, and not
        reported; within a block they are taken for a value's when its outputs are not traced.
        """
        return list(find_control_tokens(self))

    def with_counter(self, counter: Counter | None) -> Prompt:
        """The same prompt with a counter of tokens, which lengths are then given in too."""
        counted = Prompt(
            self._outline,
            self._texts,
            template=self.template,
            diagnostics=self.diagnostics,
            counter=counter,
            marks=self._marks,
        )
        counted._segments = self._segments
        counted.providers, counted.seconds = self.providers, self.seconds
        return counted

    def provider_of(self, variable: str) -> str | None:
        """The provider that a variable came from, when a renderer made the prompt."""
        return next((run.provider for run in self.providers if variable in run.variables), None)

    def count(self, text: str) -> int | None:
        """Tokens of a text, when the prompt has a counter."""
        return None if self._counter is None else self._counter(text)

    def anthropic_system(self, ttl: str | None = None) -> list[dict[str, Any]]:
        """The prompt as the `system` blocks of Anthropic's API.

        The last block before the first text that may change at a turn carries
        `cache_control`. The texts joined are `text`; a block of white space alone, which
        the API refuses, is joined to its neighbour.

        Args:
            ttl: `"5m"` or `"1h"`; the API's default (5 minutes) when None.
        """
        return anthropic_blocks(self.blocks(), ttl)

    def diff(self, previous: Prompt) -> PromptDiff:
        """What changed since another prompt of the same template, and what it cost."""
        return compare(previous, self)

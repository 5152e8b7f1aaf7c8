"""Explanation: a traced prompt, measured part by part, as objects and as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from ..prompt import Prefix, Prompt, Scope, Segment
from ..source import Diagnostic, Source, Span
from ..tokens import TokenCounter
from .wording import scope_name

__all__ = ["Explanation", "Run", "counter_data", "diagnostics_data", "span_data"]


class Run(NamedTuple):
    """A block of a prompt, measured."""

    start: int
    end: int
    scope: Scope
    tokens: int | None


class Explanation:
    """A prompt and all that is to be said about it.

    Args:
        prompt: the traced prompt.
        source: the template that it was made from.
        profile: name of the profile under which it was rendered.
        counter: counts tokens, when they are wanted.
    """

    def __init__(
        self, prompt: Prompt, source: Source, profile: str, counter: TokenCounter | None = None
    ) -> None:
        self.prompt = prompt.with_counter(counter)
        self.source = source
        self.profile = profile
        self.counter = counter

    def tokens(self, start: int, end: int) -> int | None:
        """Tokens of a range of the output, taken by itself."""
        return self.prompt.count(self.prompt.text[start:end])

    @cached_property
    def total(self) -> int | None:
        """Tokens of the whole text."""
        return self.prompt.count(self.prompt.text)

    @cached_property
    def runs(self) -> list[Run]:
        """The blocks, with their places in the text."""
        found: list[Run] = []
        start = 0
        for block in self.prompt.blocks():
            end = start + len(block.text)
            found.append(Run(start, end, block.scope, self.prompt.count(block.text)))
            start = end
        return found

    @cached_property
    def prefix(self) -> Prefix:
        """The cacheable front."""
        return self.prompt.cacheable_prefix

    @property
    def characters_by_scope(self) -> dict[Scope, int]:
        """How much of the text has which scope."""
        return {
            scope: sum(s.end - s.start for s in self.prompt.segments if s.scope == scope)
            for scope in Scope
        }

    def data(self) -> dict[str, Any]:
        """Everything as plain data."""
        prompt = self.prompt
        return {
            "template": prompt.template,
            "profile": self.profile,
            "text": prompt.text,
            "characters": len(prompt.text),
            "tokens": self.total,
            "counter": counter_data(self.counter),
            "segments": [
                {"number": number, **self._segment(segment)}
                for number, segment in enumerate(prompt.segments, 1)
            ],
            "blocks": [
                {
                    "start": run.start,
                    "end": run.end,
                    "scope": scope_name(run.scope),
                    "characters": run.end - run.start,
                    "tokens": run.tokens,
                }
                for run in self.runs
            ],
            "cacheable_prefix": self.prefix._asdict(),
            "diagnostics": diagnostics_data(prompt.diagnostics),
        }

    def _segment(self, segment: Segment) -> dict[str, Any]:
        return {
            "start": segment.start,
            "end": segment.end,
            "characters": segment.end - segment.start,
            "tokens": self.tokens(segment.start, segment.end),
            "kind": segment.kind,
            "template": segment.template,
            "span": span_data(segment.span),
            "variables": sorted(segment.variables),
            "providers": list(segment.providers),
            "scope": scope_name(segment.scope),
            "children": [self._segment(child) for child in segment.children],
        }


def span_data(span: Span) -> Mapping[str, int]:
    """A place in the template as plain data."""
    return span._asdict()


def counter_data(counter: TokenCounter | None) -> dict[str, Any] | None:
    """Which counter counted as plain data."""
    return None if counter is None else {"name": counter.name, "exact": counter.exact}


def diagnostics_data(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Findings as plain data."""
    return [
        {
            "code": finding.code,
            "severity": finding.severity,
            "message": finding.message,
            "hint": finding.hint,
            "template": finding.template,
            "line": finding.span.line if finding.span else None,
            "column": finding.span.column if finding.span else None,
        }
        for finding in diagnostics
    ]

"""Turns: a series of contexts, what breaks the common front, and what moving it would save.

The series is rendered twice: once to find what breaks the front most, and once to measure
the prompts with that segment's text at their end. Nothing but numbers is kept of a turn, so
that a long series takes no more memory than two of its prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import PromptError
from ..prompt import Prompt, PromptDiff, Scope
from ..prompt.diff import common_front
from ..source import Diagnostic, Span
from ..template import Template
from ..tokens import TokenCounter, cache_rules, saving
from ..tokens.costs import CacheRule

__all__ = ["Culprit", "Front", "Saving", "Series", "Turn", "changed_names", "follow"]


class Front(NamedTuple):
    """A length in characters and in tokens."""

    characters: int
    tokens: int


class Turn(NamedTuple):
    """One turn of a series.

    Attributes:
        number: which, from 1.
        size: the whole prompt.
        common: its common front with the turn before; nothing at the first turn.
        lost: what the turn before had after it.
        blamed: place of the segment that changed first, None where nothing did.
        variables: those that it reads and that changed; all that it reads, if none did.
        moved: the common front if the worst culprit stood at the end of the prompt.
    """

    number: int
    size: Front
    common: Front
    lost: Front
    blamed: Span | None
    variables: tuple[str, ...]
    moved: Front


class Culprit(NamedTuple):
    """A segment that broke the common front.

    Attributes:
        span: its place in the template.
        variables: those to blame, the most frequent first.
        scope: its scope, as given.
        breaks: at how many turns it was the first to change.
        lost: what was lost by that, over all turns.
    """

    span: Span
    variables: tuple[str, ...]
    scope: Scope
    breaks: int
    lost: Front


class Saving(NamedTuple):
    """What a provider's cache saves of the cost of the prompts, from 0 towards 1."""

    rule: CacheRule
    now: float
    moved: float


class Series(NamedTuple):
    """What there is to say about a series of turns.

    Attributes:
        turns: each turn.
        culprits: what broke the front, most lost characters first.
        savings: by rule of a provider, as it is and with the worst culprit at the end.
        counter: what counted the tokens.
        diagnostics: what was noticed, each once.
    """

    turns: list[Turn]
    culprits: list[Culprit]
    savings: list[Saving]
    counter: TokenCounter
    diagnostics: list[Diagnostic]

    @property
    def breaks(self) -> int:
        """At how many turns something changed."""
        return sum(culprit.breaks for culprit in self.culprits)

    @property
    def gains(self) -> bool:
        """Whether more would stay the same with the worst culprit at the end."""
        return self.mean(lambda turn: turn.moved) > self.mean(lambda turn: turn.common)

    def mean(self, length: Callable[[Turn], Front]) -> int:
        """A length in characters, on average over the turns after the first."""
        following = [length(turn).characters for turn in self.turns[1:]]
        return round(sum(following) / len(following)) if following else 0


def follow(
    template: Template, contexts: Sequence[Mapping[str, Any]], counter: TokenCounter
) -> Series:
    """Render a series of contexts, and compare each prompt with the one before.

    Raises:
        PromptError: a turn fails; the message says which.
    """
    found: dict[Span, _Blame] = {}
    turns: list[Turn] = []
    diagnostics: dict[Diagnostic, None] = {}
    previous: tuple[Prompt, Mapping[str, Any]] | None = None
    for number, (prompt, context) in enumerate(_prompts(template, contexts, counter), 1):
        diagnostics.update(dict.fromkeys(prompt.diagnostics))
        turn, diff = _measured(number, prompt, context, previous)
        turns.append(turn)
        if diff is not None and diff.segment is not None:
            blame = found.setdefault(diff.segment.span, _Blame(diff.segment.scope))
            blame.add(turn)
        previous = prompt, context
    culprits = sorted(
        (blame.culprit(span) for span, blame in found.items()),
        key=lambda culprit: -culprit.lost.characters,
    )
    if culprits:
        moved = _moved(_prompts(template, contexts, counter), culprits[0].span, counter)
        turns = [turn._replace(moved=front) for turn, front in zip(turns, moved, strict=True)]
    savings = [
        Saving(
            rule, _saved(rule, turns, lambda t: t.common), _saved(rule, turns, lambda t: t.moved)
        )
        for rule in cache_rules()
    ]
    return Series(turns, culprits, savings, counter, list(diagnostics))


def _prompts(
    template: Template, contexts: Sequence[Mapping[str, Any]], counter: TokenCounter
) -> Iterator[tuple[Prompt, Mapping[str, Any]]]:
    for number, context in enumerate(contexts, 1):
        try:
            yield template.trace(context).with_counter(counter), context
        except PromptError as error:
            error.message = f"at turn {number}: {error.message}"
            raise


def _measured(
    number: int,
    prompt: Prompt,
    context: Mapping[str, Any],
    previous: tuple[Prompt, Mapping[str, Any]] | None,
) -> tuple[Turn, PromptDiff | None]:
    size = Front(len(prompt.text), prompt.count(prompt.text) or 0)
    if previous is None:
        return Turn(number, size, Front(0, 0), Front(0, 0), None, (), Front(0, 0)), None
    diff = prompt.diff(previous[0])
    common = Front(diff.common_characters, diff.common_tokens or 0)
    lost = Front(diff.lost_characters, diff.lost_tokens or 0)
    span = diff.segment.span if diff.segment is not None else None
    variables = changed_names(diff.variables, previous[1], context)
    return Turn(number, size, common, lost, span, variables, common), diff


def changed_names(
    names: tuple[str, ...], before: Mapping[str, Any], now: Mapping[str, Any]
) -> tuple[str, ...]:
    """Those of the names whose values changed, or all of them if none did."""
    changed = tuple(
        name for name in names if (name in before, before.get(name)) != (name in now, now.get(name))
    )
    return changed or names


class _Blame:
    """What is to be blamed on one segment, turn by turn."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._breaks = 0
        self._lost = Front(0, 0)
        self._variables: dict[str, int] = {}

    def add(self, turn: Turn) -> None:
        self._breaks += 1
        self._lost = Front(
            self._lost.characters + turn.lost.characters, self._lost.tokens + turn.lost.tokens
        )
        for name in turn.variables:
            self._variables[name] = self._variables.get(name, 0) + 1

    def culprit(self, span: Span) -> Culprit:
        names = sorted(self._variables, key=lambda name: (-self._variables[name], name))
        return Culprit(span, tuple(names), self._scope, self._breaks, self._lost)


def _moved(
    prompts: Iterator[tuple[Prompt, Mapping[str, Any]]], span: Span, counter: TokenCounter
) -> Iterator[Front]:
    """The common fronts of the prompts with the segment's text moved to their end."""
    previous: str | None = None
    for prompt, _ in prompts:
        text = _with_last(prompt, span)
        common = common_front(previous, text) if previous is not None else 0
        yield Front(common, counter(text[:common]))
        previous = text


def _with_last(prompt: Prompt, span: Span) -> str:
    kept: list[str] = []
    last: list[str] = []
    for segment in prompt.segments:
        holds = segment.span.start <= span.start < span.end <= segment.span.end
        (last if holds else kept).append(prompt.text[segment.start : segment.end])
    return "".join((*kept, *last))


def _saved(rule: CacheRule, turns: list[Turn], front: Callable[[Turn], Front]) -> float:
    return saving(rule, [(turn.size.tokens, front(turn).tokens) for turn in turns])

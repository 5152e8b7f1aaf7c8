"""The front that two prompts have in common, which is what a model provider caches."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from ..layout import number
from ..prompt import Prompt, PromptDiff
from ..tokens import TokenCounter, find_counter

__all__ = ["assert_cache_prefix"]

Unit = Literal["characters", "tokens"]
_AROUND = 30


class _Length(NamedTuple):
    """A length that is there, and one that is wanted, in words."""

    there: float
    wanted: float
    unit: str

    def __str__(self) -> str:
        if self.unit == "fraction":
            return f"{self.there:.1%} of the later prompt, and {self.wanted:.1%} are wanted"
        there, wanted = (number(int(length)) for length in (self.there, self.wanted))
        return f"{there} {self.unit}, and {wanted} are wanted"


def assert_cache_prefix(
    before: Prompt,
    after: Prompt,
    *,
    at_least: float | None = None,
    unit: Unit = "characters",
    counter: TokenCounter | None = None,
) -> None:
    """Assert that two prompts of one agent begin with the same text.

    Args:
        before: the prompt of the earlier turn.
        after: the prompt of the later turn.
        at_least: how much of the front is the same: a whole number of characters or tokens;
            or a float from 0.0 to 1.0, a part of the later prompt. None for all that its
            scopes promise: the front before the first text of a turn.
        unit: what is counted: `"characters"` or `"tokens"`.
        counter: counts the tokens; that of the later prompt by default, else the best one
            that is installed.

    Raises:
        AssertionError: less is the same. The message says where the prompts part, in which
            segment, and which variables and providers are to blame.
        TypeError: `at_least` is no number.
        ValueError: `at_least` is below 0, or a part above 1; or there is no such unit.
    """
    __tracebackhide__ = True
    _check(at_least, unit)
    if unit == "tokens" and after.count("") is None:
        after = after.with_counter(counter or find_counter("auto"))
    elif counter is not None:
        after = after.with_counter(counter)
    change = after.diff(before)
    length = _length(change, after, at_least, unit)
    if length.there < length.wanted:
        raise AssertionError(_message(length, change, before, after))


def _check(at_least: Any, unit: str) -> None:
    if unit not in ("characters", "tokens"):
        raise ValueError('`unit` must be "characters" or "tokens"')
    if at_least is None:
        return
    if isinstance(at_least, bool) or not isinstance(at_least, (int, float)):
        raise TypeError("`at_least` must be a number, or None")
    if not at_least >= 0 or (isinstance(at_least, float) and at_least > 1):
        raise ValueError("`at_least` must be a whole number, or a float from 0.0 to 1.0")


def _length(change: PromptDiff, after: Prompt, at_least: float | None, unit: Unit) -> _Length:
    tokens = unit == "tokens"
    there = (change.common_tokens or 0) if tokens else change.common_characters
    if at_least is None:
        prefix = after.cacheable_prefix
        return _Length(there, (prefix.tokens or 0) if tokens else prefix.characters, unit)
    if isinstance(at_least, int):
        return _Length(there, at_least, unit)
    whole = (after.count(after.text) or 0) if tokens else len(after.text)
    return _Length(there / whole if whole else 1.0, at_least, "fraction")


def _message(length: _Length, change: PromptDiff, before: Prompt, after: Prompt) -> str:
    first = f"the prompts begin with the same {length}"
    if change.offset is None:
        return f"{first}; they are equal"
    line, column = _place(after.text, change.offset)
    return "\n".join(
        (
            first,
            f"they part at character {number(change.offset)} (line {line}, column {column})",
            f"there stands {_culprit(change)}",
            f"  before: {_excerpt(before.text, change.offset)}",
            f"  after:  {_excerpt(after.text, change.offset)}",
        )
    )


def _place(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _culprit(change: PromptDiff) -> str:
    segment = change.segment
    if segment is None:
        return "no text of a template"
    place = f"line {segment.span.line} of {segment.template}"
    kind = {"text": "text", "output": "an output", "block": "a block"}[segment.kind]
    said = f"{kind} ({place}), which holds for: {segment.scope.name.lower()}"
    if change.variables:
        said += f"; it reads {', '.join(f'`{name}`' for name in change.variables)}"
    if change.providers:
        said += f", from {', '.join(f'`{name}`' for name in change.providers)}"
    return said


def _excerpt(text: str, offset: int) -> str:
    start, end = max(0, offset - _AROUND), offset + _AROUND
    return repr(text[start:end])[1:-1].replace("\\n", "⏎")

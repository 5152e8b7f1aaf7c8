"""Outlines: what all prompts of one template have in common, made once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..source import Span
from .blocks import Block
from .scope import Scope

__all__ = ["Form", "Outline"]


class Form(NamedTuple):
    """A segment but for its text."""

    span: Span
    kind: str
    variables: frozenset[str]
    scope: Scope


class Outline:
    """The segments of a template but for their texts, and how they make blocks.

    Attributes:
        forms: the segments, in order.
        front: the texts of the first ones, when they are the same in every prompt.
        blocks: the blocks of these, which no prompt joins again.
        size: characters in front.
    """

    __slots__ = ("_runs", "blocks", "forms", "front", "size")

    def __init__(self, forms: Sequence[Form], front: Sequence[str] = ()) -> None:
        self.forms = tuple(forms)
        self.front = tuple(front)
        count = len(self.front)
        runs = list(_runs(self.forms))
        texts = [
            (scope, "".join(self.front[start:stop])) for scope, start, stop in runs if start < count
        ]
        self.blocks = tuple(Block(text, scope) for scope, text in texts if text)
        self.size = sum(len(block.text) for block in self.blocks)
        self._runs = tuple(
            (scope, max(start - count, 0), stop - count)
            for scope, start, stop in runs
            if stop > count
        )

    def joined(self, texts: Sequence[str]) -> list[Block]:
        """The blocks of a prompt, none of them empty.

        Args:
            texts: the texts of the segments after the front.
        """
        blocks = list(self.blocks)
        for scope, start, stop in self._runs:
            text = "".join(texts[start:stop])
            if text:
                if blocks and blocks[-1].scope == scope:
                    text = blocks.pop().text + text
                blocks.append(Block(text, scope))
        return blocks


def _runs(forms: Sequence[Form]) -> Iterator[tuple[Scope, int, int]]:
    """Runs of like stability: that of all text up to their ends, where they start and stop.

    Text that is empty now may come at another turn, so it counts all the same.
    """
    reached, start = Scope.STATIC, 0
    for index, form in enumerate(forms):
        if form.scope > reached:
            if index > start:
                yield reached, start, index
            reached, start = form.scope, index
    if len(forms) > start:
        yield reached, start, len(forms)

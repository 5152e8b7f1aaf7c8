"""Choices: an `if` around plain outputs as pieces of text, made by Arrow without the engine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...compiler import Choice, Filling
from ..arrow import TEXT, np, pa, pc, texts_of
from .values import Column, Texts

__all__ = ["Pieces", "chosen"]

Pieces = tuple[str | Texts, ...]
"""What stands one after the other in each row."""

_FORMAT = re.compile(r"%%|%s|[^%]+")
_EMPTY = pa.scalar("", TEXT)


def chosen(choice: Choice, columns: Mapping[str, Column]) -> Pieces | None:
    """What a choice prints; None when something that it reads is not text in every row.

    Null is like empty text to it: it is given, it is not filled, and it prints nothing.
    """
    texts: dict[str, Texts] = {}
    for name in {*choice.tests, *choice.then.names, *choice.otherwise.names}:
        found = columns[name].text() if name in columns else None
        if found is None:
            return None
        texts[name] = found
    if not choice.filled:
        return tuple(_pieces(choice.then, texts))
    filled = [_is_filled(texts[name]) for name in dict.fromkeys(choice.filled)]
    taken = np.logical_and.reduce(filled)
    # Where it alone decides, a name is empty anyway when the other way is taken.
    alone = choice.filled[0] if len(filled) == 1 else None
    then = _Way(taken, taken.astype(np.int64), 1, alone)
    otherwise = _Way(~taken, then.index, 0, None)
    return (
        *(then.limited(piece, name) for piece, name in _named(choice.then, texts)),
        *(otherwise.limited(piece, name) for piece, name in _named(choice.otherwise, texts)),
    )


class _Way:
    """One of the two ways that a row may go.

    Args:
        mask: the rows that go it.
        index: 1 for the rows that go the first way, 0 for others; shared by both ways, as
            pieces with the same index are glued together.
        number: which of the two it is in there.
        alone: the name that is empty in every other row.
    """

    def __init__(self, mask: Any, index: Any, number: int, alone: str | None) -> None:
        self.index = index
        self._mask = mask
        self._number = number
        self._alone = alone

    def limited(self, piece: str | Texts, name: str | None) -> Texts:
        """A piece in the rows that go this way, and nothing in the others."""
        if isinstance(piece, str):
            return Texts(texts_of([piece, ""] if self._number == 0 else ["", piece]), self.index)
        if name == self._alone:
            return piece
        if piece.index is None:
            return Texts(pc.if_else(pa.array(self._mask), piece.entries, _EMPTY))
        entries = pa.concat_arrays([piece.entries, texts_of([""])])
        return Texts(entries, np.where(self._mask, piece.index, len(entries) - 1))


def _is_filled(texts: Texts) -> Any:
    """The rows whose text is not empty."""
    lengths = pc.fill_null(pc.binary_length(texts.entries), 0).to_numpy(zero_copy_only=False)
    filled = lengths > 0
    return filled if texts.index is None else filled[texts.index]


def _pieces(filling: Filling, texts: Mapping[str, Texts]) -> Iterator[str | Texts]:
    return (piece for piece, _ in _named(filling, texts))


def _named(
    filling: Filling, texts: Mapping[str, Texts]
) -> Iterator[tuple[str | Texts, str | None]]:
    """The pieces of a format, and the names of those that are values."""
    names = iter(filling.names)
    text = ""
    for piece in _FORMAT.findall(filling.format):
        if piece != "%s":
            text += "%" if piece == "%%" else piece
            continue
        if text:
            yield text, None
        name = next(names)
        text = ""
        yield texts[name], name
    if text:
        yield text, None

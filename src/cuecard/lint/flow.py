"""Flow: what is printed before and after a tag, whichever way the render takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .pieces import Piece

__all__ = ["Flow", "Seam"]

_BRANCHES = frozenset(("elif", "else"))
_VALUES = frozenset(("macro", "set", "call"))
"""Blocks whose text is not printed where it stands."""
_UNKNOWN = frozenset(("include", "extends", "break", "continue", "call", "endcall"))
"""Tags after which it cannot be told what is printed."""


class Seam(NamedTuple):
    """What stands on one side of a tag, on the line that is printed.

    Attributes:
        text: the printed text next to the tag; "" when an output is next to it.
        has_text: whether there is text of the template on the line, other than blanks.
        has_output: whether there is an output on it.
    """

    text: str = ""
    has_text: bool = False
    has_output: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing visible is printed on this side of the line."""
        return not (self.has_text or self.has_output)


class Flow:
    """The order in which the pieces of a template may be printed.

    Args:
        text: the template.
        pieces: its pieces, all of them.
    """

    def __init__(self, text: str, pieces: Sequence[Piece]) -> None:
        self._text = text
        self._pieces = pieces
        self._opener: dict[int, int] = {}
        self._closer: dict[int, int] = {}
        self._extends = any(piece.word == "extends" for piece in pieces)
        self._pair()

    def _pair(self) -> None:
        stack: list[tuple[int, list[int]]] = []
        for index, piece in enumerate(self._pieces):
            if piece.kind != "tag":
                continue
            if piece.opens:
                stack.append((index, []))
            elif stack and piece.word in _BRANCHES:
                stack[-1][1].append(index)
            elif stack and piece.word.startswith("end"):
                opening, branches = stack.pop()
                self._closer[opening] = index
                for inner in (*branches, index):
                    self._opener[inner] = opening
                    self._closer.setdefault(inner, index)

    def opener(self, index: int) -> int | None:
        """The tag that opened the block of a branch or of a closing tag."""
        return self._opener.get(index)

    def closer(self, index: int) -> int | None:
        """The tag that closes the block of an opening tag."""
        return self._closer.get(index)

    def _is_value(self, index: int) -> bool:
        """Whether a tag opens or closes a block that is not printed where it stands."""
        word = self._pieces[index].word.removeprefix("end")
        if word == "block":
            return self._extends
        return word in _VALUES and (self._pieces[index].opens or index in self._opener)

    # before ------------------------------------------------------------------------------------

    def before(self, index: int) -> Seam:
        """What is printed before a tag, of what stands on its line of the template."""
        seam = Seam()
        line_start = self._text.rfind("\n", 0, self._pieces[index].start) + 1
        place = self._step_back(index)
        while place is not None and place >= 0 and self._pieces[place].end > line_start:
            piece = self._pieces[place]
            if piece.kind == "output":
                seam = seam._replace(has_output=True)
            elif piece.kind == "text":
                line = piece.shown[max(0, line_start - piece.shown_start) :]
                if seam.is_empty:
                    seam = seam._replace(text=line + seam.text)
                seam = seam._replace(has_text=seam.has_text or bool(line.strip()))
            place = place - 1 if piece.kind != "tag" else self._back_over(place)
        return seam

    def _step_back(self, index: int) -> int | None:
        """The piece before a tag that was reached by the render."""
        if self._pieces[index].word in _BRANCHES:
            opening = self._opener.get(index)
            return None if opening is None else self._step_back(opening)
        if self._is_value(index):
            return None if self._pieces[index].opens else self._opener[index] - 1
        return index - 1

    def _back_over(self, index: int) -> int | None:
        """The piece before a tag that is met on the way back."""
        if self._pieces[index].word in _UNKNOWN:
            return None
        return self._step_back(index)

    # after -------------------------------------------------------------------------------------

    def after(self, index: int) -> Seam:
        """What is printed on the line after a tag, in the next round of a loop too."""
        # What is behind a loop's end is never printed before its next round.
        return self._after(index, frozenset((index,)))

    def _after(self, index: int, rounds: frozenset[int]) -> Seam:
        blanks = ""
        place: int | None = index
        while place is not None and place < len(self._pieces):
            piece = self._pieces[place]
            if piece.kind == "output":
                return Seam(blanks, has_output=True)
            if piece.kind == "text":
                line, newline, _ = piece.shown.partition("\n")
                if line.strip():
                    return Seam(blanks + line, has_text=True)
                if newline or self._is_joined_by_marks(place):
                    return Seam()
                blanks += line
            elif piece.word == "endfor" and place in self._opener and place not in rounds:
                again = self._after(self._opener[place], rounds | {place})
                if not again.is_empty:
                    return again._replace(text=blanks + again.text)
                rounds |= {place}
            place = self._over(place, place == index)
        return Seam()

    def _is_joined_by_marks(self, index: int) -> bool:
        """Whether the author removes the line break that a text holds, by a `-`."""
        around = self._pieces[max(0, index - 1) : index + 2]
        piece = self._pieces[index]
        has_break = "\n" in self._text[piece.start : piece.end]
        return has_break and (around[0].trail == "-" or around[-1].lead == "-")

    def _over(self, index: int, is_first: bool) -> int | None:
        """The piece that is printed after one; None when that cannot be told."""
        piece = self._pieces[index]
        if piece.kind != "tag":
            return index + 1
        if piece.word in _UNKNOWN:
            return None
        if self._is_value(index):
            if piece.opens:
                return None if is_first else self._closer.get(index, len(self._pieces)) + 1
            return index + 1 if is_first else None
        if piece.word in _BRANCHES and not is_first:
            return self._closer.get(index)
        return index + 1

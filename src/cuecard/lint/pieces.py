"""Pieces: what a template prints by itself, with the white space that its profile leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from ..profile import Profile
from ..scanner import Part, literal_text, opens_block, without_dropped_newline

__all__ = ["Piece", "fenced_ranges", "pieces_of"]

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_COMMENT = "comment"


class Piece(NamedTuple):
    """A text, an output or a single tag; a raw block is a tag, a text and a tag.

    Attributes:
        kind: what it is. An output that only raises an exception counts as a tag.
        start: its first character in the template.
        end: the character after its last.
        shown: of a text, what is printed of it.
        shown_start: of a text, where that begins in the template.
        word: of a tag, its first word, or `comment`.
        opens: of a tag, whether it opens a block.
        lead: of a tag, the white-space mark of its first delimiter.
        trail: of a tag, the mark of its last.
    """

    kind: Literal["text", "output", "tag"]
    start: int
    end: int
    shown: str = ""
    shown_start: int = 0
    word: str = ""
    opens: bool = False
    lead: str = ""
    trail: str = ""

    @property
    def shown_end(self) -> int:
        """Of a text, where what is printed of it ends."""
        return self.shown_start + len(self.shown)

    @property
    def named(self) -> str:
        """A tag as messages call it."""
        return "this comment" if self.word == _COMMENT else f"`{{% {self.word} %}}`"


def pieces_of(text: str, parts: list[Part], profile: Profile) -> tuple[Piece, ...]:
    """The pieces of a template, in order.

    Args:
        text: the template.
        parts: its parts; none for a text without tags.
        profile: how it is rendered.
    """
    text = without_dropped_newline(text, profile)
    if not parts:
        return (Piece("text", 0, len(text), text, 0),)
    found: list[Piece] = []
    for index, part in enumerate(parts):
        if part.kind == "text":
            found.append(_text(text, parts, index, profile))
        elif part.kind == "raw":
            found.extend(_raw(text, parts, index, profile))
        else:
            found.append(_tag(part))
    return tuple(found)


def _tag(part: Part) -> Piece:
    if part.kind == "comment":
        word, opens = _COMMENT, False
    else:
        word = part.tokens[0].text if part.tokens else ""
        opens = part.kind == "block" and opens_block(part.tokens)
    prints = part.kind == "output" and word != "raise_exception"
    kind: Literal["output", "tag"] = "output" if prints else "tag"
    return Piece(kind, part.start, part.end, "", 0, word, opens, part.lead, part.trail)


def _text(text: str, parts: list[Part], index: int, profile: Profile) -> Piece:
    part = parts[index]
    end = min(part.end, len(text))
    shown = _literal(text, parts, index, profile)
    if len(shown) == end - part.start:
        return Piece("text", part.start, end, shown, part.start)
    # Without what follows it only its start is trimmed, which tells where it begins.
    begin = max(0, index - 1)
    whole = _literal(text, parts[begin : index + 1], index - begin, profile)
    return Piece("text", part.start, end, shown, end - len(whole))


def _raw(text: str, parts: list[Part], index: int, profile: Profile) -> Iterator[Piece]:
    part = parts[index]
    content = part.tokens[0]
    after, before = part.inner
    open_ended = part._replace(inner=(after, "+"))
    whole = _literal(text, [open_ended], 0, profile)
    shown = _literal(text, parts, index, profile)
    yield Piece("tag", part.start, content.start, "", 0, "raw", True, part.lead, after)
    yield Piece("text", content.start, content.end, shown, content.end - len(whole))
    yield Piece("tag", content.end, part.end, "", 0, "endraw", False, before, part.trail)


def _literal(text: str, parts: list[Part], index: int, profile: Profile) -> str:
    return literal_text(
        text,
        parts,
        index,
        trim_blocks=profile.trim_blocks,
        lstrip_blocks=profile.lstrip_blocks,
    )


def fenced_ranges(text: str) -> Sequence[tuple[int, int]]:
    """The ranges of a Markdown text that are code between fences, the fences included."""
    found: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opening is None:
            opening = match
        elif match[1].startswith(opening[1]) and not match[2].strip():
            found.append((opening.start(), match.end()))
            opening = None
    if opening is not None:
        found.append((opening.start(), len(text)))
    return found

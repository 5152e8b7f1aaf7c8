"""Tags of a text that is being typed: all that can be read, whatever is unfinished.

A text that the scanner reads gives the scanner's tags. Where it would refuse, a tag that is
not closed ends with its line, or where the next one begins.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from ..scanner import Token

__all__ = ["Tag", "read_tags", "tag_at"]

_OPEN = re.compile(r"\{[{%#]")
_SPACE = re.compile(r"[ \t\n\r\f]*")
_SIMPLE = re.compile(r"\{(?:\{[^{}%'\"]*\}|%[^{}%'\"]*%)\}")
"""A tag without anything that could hold its end."""
_TOKEN = re.compile(
    r"""(?P<name>[^\W\d]\w*)
    |(?P<number>0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+
        |[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][-+]?[0-9]+)?)
    |(?P<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")
    |(?P<operator>//|\*\*|==|!=|>=|<=|[-+*/%.,:~|=<>()\[\]{}])""",
    re.VERBOSE | re.DOTALL,
)
_RAW = re.compile(r"\{%[-+]?[ \t\n\r\f]*raw[ \t\n\r\f]*[-+]?%\}")
_ENDRAW = re.compile(r"\{%[-+]?[ \t\n\r\f]*endraw[ \t\n\r\f]*[-+]?%\}")
_LINE_END = re.compile(r"[\r\n]|\Z")


class Tag(NamedTuple):
    """A tag, with character offsets in the text.

    Attributes:
        kind: what it is; a `raw` one is the whole block.
        start: where it starts.
        end: where it ends.
        closed: whether it has its closing delimiter.
        tokens: what it holds; a string that is not closed is no token.
    """

    kind: Literal["output", "block", "comment", "raw"]
    start: int
    end: int
    closed: bool
    tokens: tuple[Token, ...] = ()

    @property
    def word(self) -> str:
        """The word that a block tag begins with; "" for others."""
        return self.tokens[0].text if self.kind == "block" and self.tokens else ""

    def holds(self, offset: int) -> bool:
        """Whether an offset is inside of the delimiters."""
        end = self.end - 2 if self.closed else self.end
        return self.start + 2 <= offset <= end


def read_tags(text: str, start: int = 0) -> list[Tag]:
    """The tags of a text.

    Args:
        text: the text.
        start: offset of the first character that is part of the template.
    """
    tags: list[Tag] = []
    while found := _OPEN.search(text, start):
        tag = _tag(text, found.start())
        tags.append(tag)
        start = tag.end
    return tags


def tag_at(tags: list[Tag], offset: int) -> Tag | None:
    """The tag around an offset; None outside of tags, and in comments and raw blocks."""
    for tag in tags:
        if tag.kind in ("output", "block") and tag.holds(offset):
            return tag
    return None


def _tag(text: str, start: int) -> Tag:
    mark = text[start + 1]
    if mark == "#":
        return _until(text, start, "comment", text.find("#}", start + 2), 2)
    if mark == "%" and (raw := _RAW.match(text, start)):
        closing = _ENDRAW.search(text, raw.end())
        width = len(closing[0]) if closing else 0
        return _until(text, start, "raw", closing.start() if closing else -1, width)
    kind: Literal["output", "block"] = "output" if mark == "{" else "block"
    if simple := _SIMPLE.match(text, start):
        tokens = tuple(
            Token(token.kind, token.text, token.start + start, token.end + start)
            for token in _simple_tokens(simple[0])
        )
        return Tag(kind, start, simple.end(), True, tokens)
    return _slowly(text, start, kind)


def _until(text: str, start: int, kind: Literal["comment", "raw"], found: int, width: int) -> Tag:
    if found < 0:
        return Tag(kind, start, len(text), False)
    return Tag(kind, start, found + width, True)


@lru_cache(maxsize=4096)
def _simple_tokens(tag: str) -> tuple[Token, ...]:
    """The tokens of a tag that stands alone; at the next keystroke most tags are the same."""
    return _slowly(tag, 0, "output" if tag[1] == "{" else "block").tokens


def _slowly(text: str, start: int, kind: Literal["output", "block"]) -> Tag:
    close = "}}" if kind == "output" else "%}"
    position = start + 2 + (text[start + 2 : start + 3] in ("-", "+"))
    tokens: list[Token] = []
    brackets = 0
    while position < len(text):
        position = _end_of(_SPACE, text, position)
        marked = position + (text[position : position + 1] in ("-", "+"))
        if brackets <= 0 and text.startswith(close, marked):
            return Tag(kind, start, marked + 2, True, tuple(tokens))
        if _OPEN.match(text, position):
            break
        found = _TOKEN.match(text, position)
        if found is None or _runs_away(found):
            # A string that is not closed, or a character of no token.
            position += 1
            continue
        tokens.append(Token(found.lastgroup, found[0], position, found.end()))  # type: ignore[arg-type]
        position = found.end()
        brackets += (found[0] in "([{") - (found[0] in ")]}")
    return _unclosed(text, start, kind, tokens)


def _end_of(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def _runs_away(found: re.Match[str]) -> bool:
    """Whether a string seems to begin in one tag and to end in another."""
    return (
        found.lastgroup == "string"
        and re.search(r"[%}]\}.*\{[{%]", found[0], re.DOTALL) is not None
    )


def _unclosed(text: str, start: int, kind: Literal["output", "block"], tokens: list[Token]) -> Tag:
    line_end = _LINE_END.search(text, start).start()  # type: ignore[union-attr]
    opener = _OPEN.search(text, start + 2, line_end)
    closer = re.compile(r"[%}]\}").search(text, start + 2, opener.start() if opener else line_end)
    end = closer.end() if closer else opener.start() if opener else line_end
    kept = tuple(token for token in tokens if token.end <= end - (2 if closer else 0))
    return Tag(kind, start, end, closer is not None, kept)

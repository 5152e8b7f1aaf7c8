"""The scanner: one pass over a source that gives every part its exact place.

A template is a sequence of parts: text, outputs `{{ … }}`, block tags `{% … %}`, comments
`{# … #}` and raw blocks. The scanner reads them as the engine's lexer does (strings and
brackets included, so that `}}` inside a string or a mapping ends nothing), and refuses
what the engine's parser could not survive.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from .errors import TemplateLimitError, TemplateSyntaxError
from .profile import Limits, Profile
from .source import Source

__all__ = [
    "BLOCKS",
    "WHITE_SPACE",
    "Part",
    "Token",
    "has_tags",
    "literal_text",
    "opens_block",
    "scan",
    "without_dropped_newline",
]

PartKind = Literal["text", "output", "block", "comment", "raw"]
TokenKind = Literal["name", "number", "string", "operator"]


class Token(NamedTuple):
    """A token within a tag, with its character offsets in the source."""

    kind: TokenKind
    text: str
    start: int
    end: int


class Part(NamedTuple):
    """A part of a template, with its character offsets in the source.

    `lead` and `trail` are the white-space marks (`-`, `+` or nothing) of its first and last
    delimiter. A raw block's `tokens` hold one token, its content, and `inner` the marks of
    the two delimiters that face the content.
    """

    kind: PartKind
    start: int
    end: int
    tokens: tuple[Token, ...] = ()
    lead: str = ""
    trail: str = ""
    inner: tuple[str, str] = ("", "")


BLOCKS = {
    "for": "endfor",
    "if": "endif",
    "macro": "endmacro",
    "call": "endcall",
    "filter": "endfilter",
    "block": "endblock",
    "with": "endwith",
    "autoescape": "endautoescape",
    "set": "endset",
}
"""Tags that open a block, and what closes it; `set` opens one only without `=`."""

# What Rust, and so the engine, takes for white space. Python's `str.strip` would take the
# separators U+001C to U+001F too.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
_BLANKS = WHITE_SPACE.replace("\n", "").replace("\r", "")

_OPEN = re.compile(r"\{[{%#]")
_SPACE = re.compile(r"[ \t\n\r\f]*")
_TOKEN = re.compile(
    r"""(?P<name>[^\W\d]\w*)
    |(?P<number>0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+
        |[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][-+]?[0-9]+)?)
    |(?P<string>'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")
    |(?P<operator>//|\*\*|==|!=|>=|<=|[-+*/%.,:~|=<>()\[\]{}])""",
    re.VERBOSE | re.DOTALL,
)
_RAW = re.compile(r"\{%([-+]?)[ \t\n\r\f]*raw[ \t\n\r\f]*([-+]?)%\}")
_ENDRAW = re.compile(r"\{%([-+]?)[ \t\n\r\f]*endraw[ \t\n\r\f]*([-+]?)%\}")
_RAW_HINT = "text that is no template goes between `{% raw %}` and `{% endraw %}`"


def has_tags(text: str) -> bool:
    """Whether a text holds any delimiter at all."""
    return _OPEN.search(text) is not None


def scan(source: Source, limits: Limits) -> list[Part]:
    """Split a source into its parts, in order and without gaps.

    Raises:
        TemplateLimitError: the source is too large or has too many tags (P110), a tag has too
            many tokens (P111), an `if` has too many branches (P112), or blocks or brackets nest
            too deeply (P113).
        TemplateSyntaxError: a tag, comment, raw block or string is not closed, or a tag
            holds a character that no token starts with (P101).
    """
    text = source.text
    # A character has at most four bytes: counting them is needed only near the limit.
    if len(text) * 4 > limits.source and len(text.encode("utf-8", "replace")) > limits.source:
        raise TemplateLimitError(
            f"the source is larger than {limits.source:,} bytes",
            code="P110",
            source=source,
            start=0,
            end=0,
            hint="move data out of the template and pass it in the context",
        )
    if not text.isascii():
        _refuse_surrogates(source)
    scanner = _Scanner(source, limits)
    parts: list[Part] = []
    position = tags = 0
    while True:
        found = _OPEN.search(text, position)
        if found is None:
            break
        if found.start() > position:
            parts.append(Part("text", position, found.start()))
        part = scanner.part(found.start())
        parts.append(part)
        position = part.end
        tags += 1
        if tags > limits.tags:
            raise _too_many_tags(source, limits, found.start())
    if position < len(text):
        parts.append(Part("text", position, len(text)))
    return parts


def _too_many_tags(source: Source, limits: Limits, start: int) -> TemplateLimitError:
    return TemplateLimitError(
        f"the template has more than {limits.tags:,} tags",
        code="P110",
        source=source,
        start=start,
        end=start + 2,
        hint="move data out of the template and pass it in the context",
    )


def opens_block(tokens: Sequence[Token]) -> bool:
    """Whether a tag opens a block."""
    word = tokens[0].text
    return word in BLOCKS and not (word == "set" and any(token.text == "=" for token in tokens))


def without_dropped_newline(text: str, profile: Profile) -> str:
    """A source without the final newline that its profile drops, as the engine drops it."""
    if profile.end != "drop_newline":
        return text
    return text.removesuffix("\n").removesuffix("\r")


def literal_text(
    text: str, parts: list[Part], index: int, *, trim_blocks: bool, lstrip_blocks: bool
) -> str:
    """What is printed of a text or raw part, white-space control applied as the engine does.

    Args:
        text: the source, without a final newline that the profile drops.
        parts: all its parts.
        index: which of them.
        trim_blocks: whether the line break after a tag vanishes.
        lstrip_blocks: whether the blanks before a tag at the start of a line vanish.
    """
    part = parts[index]
    if part.kind == "raw":
        content = part.tokens[0]
        after, before = part.inner
        literal = _trimmed_start(content.text, after, trim_blocks)
        if before == "-":
            return literal.rstrip(WHITE_SPACE)
        return _without_blanks(literal) if before == "" and lstrip_blocks else literal
    literal = text[part.start : part.end]
    if index > 0:
        previous = parts[index - 1]
        literal = _trimmed_start(literal, previous.trail, trim_blocks and previous.kind != "output")
    if index + 1 < len(parts):
        following = parts[index + 1]
        if following.lead == "-":
            return literal.rstrip(WHITE_SPACE)
        if (
            lstrip_blocks
            and following.lead == ""
            and following.kind != "output"
            and _starts_line(text, following.start)
        ):
            return _without_blanks(literal)
    return literal


def _trimmed_start(literal: str, mark: str, trim: bool) -> str:
    if mark == "-":
        return literal.lstrip(WHITE_SPACE)
    if mark == "" and trim:
        return literal.removeprefix("\r").removeprefix("\n")
    return literal


def _without_blanks(literal: str) -> str:
    trimmed = literal.rstrip(_BLANKS)
    return trimmed if not trimmed or trimmed.endswith("\n") else literal


def _starts_line(text: str, offset: int) -> bool:
    """Whether only blanks stand before an offset in its line."""
    while offset > 0:
        offset -= 1
        if text[offset] in "\r\n":
            return True
        if text[offset] not in WHITE_SPACE:
            return False
    return True


def _refuse_surrogates(source: Source) -> None:
    try:
        source.text.encode()
    except UnicodeEncodeError as error:
        raise TemplateSyntaxError(
            "the template has a lone surrogate, which is no Unicode character",
            source=source,
            start=error.start,
            end=error.end,
        ) from None


class _Scanner:
    def __init__(self, source: Source, limits: Limits) -> None:
        self._source = source
        self._text = source.text
        self._limits = limits
        self._open_blocks: list[int] = []

    def part(self, start: int) -> Part:
        mark = self._text[start + 1]
        if mark == "#":
            return self._comment(start)
        if mark == "%":
            raw = _RAW.match(self._text, start)
            if raw is not None:
                return self._raw(start, raw)
        return self._tag(start, "output" if mark == "{" else "block")

    def _comment(self, start: int) -> Part:
        lead = self._mark(start + 2)
        begin = start + 2 + len(lead)
        end = self._text.find("#}", begin)
        if end < 0:
            raise self._syntax("the comment is not closed", start, start + 2, _RAW_HINT)
        # The mark of an empty comment is its first one alone: `{#-#}`.
        return Part("comment", start, end + 2, lead=lead, trail=self._mark(max(begin, end - 1)))

    def _raw(self, start: int, opening: re.Match[str]) -> Part:
        closing = _ENDRAW.search(self._text, opening.end())
        if closing is None:
            raise self._syntax(
                "the raw block is not closed", start, opening.end(), "add `{% endraw %}`"
            )
        content = Token(
            "string",
            self._text[opening.end() : closing.start()],
            opening.end(),
            closing.start(),
        )
        return Part(
            "raw",
            start,
            closing.end(),
            (content,),
            opening[1],
            closing[2],
            (opening[2], closing[1]),
        )

    def _tag(self, start: int, kind: Literal["output", "block"]) -> Part:
        text = self._text
        close = "}}" if kind == "output" else "%}"
        lead = self._mark(start + 2)
        position = start + 2 + len(lead)
        tokens: list[Token] = []
        brackets = 0
        while True:
            position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
            if brackets == 0:
                mark = self._mark(position)
                if text.startswith(close, position + len(mark)):
                    break
            found = _TOKEN.match(text, position)
            if found is None:
                raise self._broken_tag(start, position, kind)
            word = found[0]
            tokens.append(Token(found.lastgroup, word, position, found.end()))  # type: ignore[arg-type]
            position = found.end()
            if word in "([{":
                brackets += 1
                if brackets > self._limits.nesting:
                    raise self._too_deep("brackets nest", tokens[-1].start)
            elif word in ")]}":
                brackets -= 1
                if brackets < 0 and word != "}":
                    raise self._syntax(f"unexpected `{word}`", position - 1, position, _RAW_HINT)
            if len(tokens) > self._limits.tag_tokens:
                raise self._limit(
                    "P111", f"the tag has more than {self._limits.tag_tokens:,} tokens", start
                )
        if kind == "block":
            self._track_nesting(tokens)
        return Part(kind, start, position + len(mark) + 2, tuple(tokens), lead, mark)

    def _track_nesting(self, tokens: list[Token]) -> None:
        if not tokens:
            return
        word = tokens[0].text
        blocks = self._open_blocks
        if word == "elif" and blocks:
            blocks[-1] += 1
            if blocks[-1] > self._limits.elifs:
                raise self._limit(
                    "P112",
                    f"an `if` has more than {self._limits.elifs} `elif` branches",
                    tokens[0].start,
                )
        elif word.startswith("end") and blocks:
            blocks.pop()
        elif opens_block(tokens):
            blocks.append(0)
            if len(blocks) > self._limits.nesting:
                raise self._too_deep("blocks nest", tokens[0].start)

    def _mark(self, position: int) -> str:
        mark = self._text[position : position + 1]
        return mark if mark in ("-", "+") else ""

    def _broken_tag(self, start: int, position: int, kind: str) -> TemplateSyntaxError:
        text = self._text
        what = "output" if kind == "output" else "tag"
        close = "}}" if kind == "output" else "%}"
        if position >= len(text):
            return self._syntax(f"the {what} is not closed", start, start + 2, f"add `{close}`")
        character = text[position]
        if character in "'\"":
            return self._syntax("the text in quotes is not closed", position, position + 1)
        return self._syntax(
            f"unexpected character {character!r}", position, position + 1, _RAW_HINT
        )

    def _syntax(
        self, message: str, start: int, end: int, hint: str | None = None
    ) -> TemplateSyntaxError:
        return TemplateSyntaxError(message, source=self._source, start=start, end=end, hint=hint)

    def _limit(self, code: str, message: str, start: int) -> TemplateLimitError:
        return TemplateLimitError(
            message,
            code=code,
            source=self._source,
            start=start,
            end=start + 2,
            hint="compute it outside the template and pass the result in the context",
        )

    def _too_deep(self, what: str, start: int) -> TemplateLimitError:
        return self._limit("P113", f"{what} more than {self._limits.nesting} deep", start)

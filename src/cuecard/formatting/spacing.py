"""Spacing: the blanks between the tokens of a tag, and the quotes of its texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from ..scanner import Token

__all__ = ["Style", "quoted", "styles_of"]

_Role = Literal["word", "value", "prefix", "infix", "assign", "open", "close", "comma", "dot"]

_KEYWORDS = frozenset(("and", "or", "not", "in", "is", "if", "else"))
_CLOSING = {")": "(", "]": "[", "}": "{"}
_SIGNS = frozenset(("-", "+", "*", "**"))
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class Style(NamedTuple):
    """How a token is written.

    Attributes:
        space: whether a blank stands before it.
        text: the token, with its quotes; "" for a comma that is left out.
    """

    space: bool
    text: str


def styles_of(
    tokens: Sequence[Token], *, is_block: bool, breaks: Collection[int] = ()
) -> list[Style]:
    """How the tokens of a tag are written.

    Args:
        tokens: the tokens.
        is_block: whether it is a block tag, whose first word says what it does.
        breaks: the numbers of the tokens that begin a line.
    """
    writer = _Writer(tokens, is_block, breaks)
    return [writer.style(index) for index in range(len(tokens))]


def quoted(text: str) -> str:
    """A text in double quotes; in single ones when it has double quotes and no single."""
    quote, content = text[0], text[1:-1]
    other = '"' if quote == "'" else "'"
    if other in content or (quote == '"' and '"' not in content):
        return text
    freed = _ESCAPED.sub(lambda match: quote if match[1] == quote else match[0], content)
    return other + freed + other


class _Writer:
    """Goes through the tokens of one tag, and knows what stands before each."""

    def __init__(self, tokens: Sequence[Token], is_block: bool, breaks: Collection[int]) -> None:
        self._tokens = tokens
        self._is_block = is_block
        self._breaks = breaks
        self._brackets: list[str] = []
        self._role: _Role | None = None
        self._is_test = False

    def style(self, index: int) -> Style:
        token = self._tokens[index]
        if self._is_spare_comma(index):
            return Style(False, "")
        role = self._role_of(index)
        if role == "close" and self._brackets:
            self._brackets.pop()
        space = index > 0 and self._may_follow(index) and self._may_precede(role, index)
        self._is_test = self._names_a_test(index)
        if role == "open":
            is_call = token.text == "(" and not space and self._role in ("value", "close")
            self._brackets.append("call" if is_call else token.text)
        self._role = role
        return Style(space, quoted(token.text) if token.kind == "string" else token.text)

    def _is_spare_comma(self, index: int) -> bool:
        """Whether a comma stands before a closing bracket of its line, and makes no tuple."""
        tokens = self._tokens
        if tokens[index].text != "," or index + 1 == len(tokens) or not self._brackets:
            return False
        if index in self._breaks or index + 1 in self._breaks or self._role == "open":
            return False
        return tokens[index + 1].text in _CLOSING and self._brackets[-1] != "("

    def _role_of(self, index: int) -> _Role:
        token = self._tokens[index]
        text = token.text
        if token.kind != "operator":
            return self._role_of_word(index)
        if text in _CLOSING:
            return "close"
        if text in ("(", "[", "{"):
            return "open"
        if text == ",":
            return "comma"
        if text == ".":
            return "dot"
        if text == "=":
            return "assign"
        if text in _SIGNS and (not self._ends_value() or (self._is_test and text in "+-")):
            return "prefix"
        return "infix"

    def _role_of_word(self, index: int) -> _Role:
        text = self._tokens[index].text
        if self._role == "dot" or self._tokens[index].kind != "name":
            return "value"
        if index == 0 and self._is_block:
            # `call(item)` takes its parameters like a macro.
            return "value" if text == "call" else "word"
        return "word" if text in _KEYWORDS else "value"

    def _ends_value(self) -> bool:
        return self._role in ("value", "close")

    def _names_a_test(self, index: int) -> bool:
        """Whether a word is the name of a test, which an argument may follow without brackets."""
        before = [token.text for token in self._tokens[max(0, index - 2) : index]]
        return before[-1:] == ["is"] or before == ["is", "not"]

    def _may_follow(self, index: int) -> bool:
        """Whether a blank may stand behind the token before."""
        if self._role in ("open", "dot", "prefix"):
            return False
        if self._role == "assign":
            return not self._brackets
        is_colon = self._tokens[index - 1].text == ":"
        return not (is_colon and self._brackets[-1:] == ["["])

    def _may_precede(self, role: _Role, index: int) -> bool:
        """Whether a blank may stand before a token."""
        token = self._tokens[index]
        if role in ("close", "comma") or token.text == ":":
            return False
        if role == "dot":
            # `1 .x` without its blank could be another number.
            return self._tokens[index - 1].kind == "number"
        if role == "assign":
            return not self._brackets
        if role == "open" and token.text != "{" and self._ends_value():
            return self._is_test and token.text == "["
        return True

"""What stands at the cursor: a variable, a filter, a tag's word, and what stands before it."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..language.expressions import Expressions, Node, UnreadableError
from ..scanner import Token
from .tags import Tag

__all__ = ["Cursor", "base_before", "cursor_at"]

Kind = Literal[
    "variable",
    "function",
    "attribute",
    "filter",
    "test",
    "tag",
    "partial",
    "keyword",
    "operator",
    "nothing",
]

_PARTIAL_TAGS = ("include", "import", "from", "extends")
_OPERATORS = frozenset(("and", "or", "not", "in", "if", "else", "is"))
_NEW_NAMES = frozenset(("set", "macro", "block", "with"))


class Cursor(NamedTuple):
    """A place in a tag.

    Attributes:
        kind: what stands there, or could; `operator` is a place behind a whole value.
        start: where the word at the cursor starts; the cursor when there is none.
        end: where it ends.
        word: the word.
        before: the tag's tokens before it.
        tag: the tag.
    """

    kind: Kind
    start: int
    end: int
    word: str
    before: tuple[Token, ...]
    tag: Tag


def cursor_at(tag: Tag, offset: int) -> Cursor:
    """The place of an offset in a tag that holds it."""
    before: list[Token] = []
    for index, token in enumerate(tag.tokens):
        if token.start <= offset <= token.end and token.kind in ("name", "string"):
            follower = tag.tokens[index + 1] if index + 1 < len(tag.tokens) else None
            kind = _kind(tag, before, token, follower)
            return Cursor(kind, token.start, token.end, token.text, tuple(before), tag)
        if token.end > offset:
            break
        before.append(token)
    return Cursor(_kind(tag, before, None, None), offset, offset, "", tuple(before), tag)


def _kind(tag: Tag, before: list[Token], token: Token | None, follower: Token | None) -> Kind:
    if token is not None and token.kind == "string":
        named = len(before) == 1 and tag.word in _PARTIAL_TAGS
        return "partial" if named else "nothing"
    if not before:
        return "tag" if tag.kind == "block" else _name_kind(follower)
    last = before[-1]
    if last.text == "." or last.text == "|":
        return "attribute" if last.text == "." else "filter"
    if last.text == "is" or (last.text == "not" and before[-2:-1] and before[-2].text == "is"):
        return "test"
    if tag.kind == "block" and len(before) == 1:
        return _first_kind(tag.word, follower)
    if _ends_value(last):
        return "operator"
    return "nothing" if _binds(tag, before) else _name_kind(follower, last)


def _name_kind(follower: Token | None, last: Token | None = None) -> Kind:
    if follower is None:
        return "variable"
    if follower.text == "=" and last is not None and last.text in ("(", ","):
        return "nothing"
    return "function" if follower.text == "(" else "variable"


def _first_kind(word: str, follower: Token | None) -> Kind:
    """What stands behind the word of a tag."""
    if word == "filter":
        return "filter"
    if word in _PARTIAL_TAGS:
        return "partial"
    if word in _NEW_NAMES or word == "for" or word.startswith("end") or word in ("else", "raw"):
        return "nothing"
    return _name_kind(follower)


def _binds(tag: Tag, before: list[Token]) -> bool:
    """Whether the name at a place is one that the tag binds."""
    texts = [token.text for token in before]
    if tag.word == "for":
        return "in" not in texts
    if tag.word == "set":
        return "=" not in texts
    if tag.word == "macro":
        return texts[-1] in ("(", ",") and texts.count("(") - texts.count(")") == 1
    if tag.word in ("import", "from"):
        return True
    return tag.word == "block"


def _ends_value(token: Token) -> bool:
    if token.kind == "name":
        return token.text not in _OPERATORS
    return token.kind in ("number", "string") or token.text in (")", "]", "}")


def base_before(before: tuple[Token, ...]) -> Node | None:
    """The value whose attribute is asked for, of the tokens that end with its dot."""
    depth = 0
    first = len(before) - 1
    while first > 0:
        token = before[first - 1]
        if token.text in (")", "]", "}"):
            depth += 1
        elif token.text in ("(", "[", "{"):
            depth -= 1
            if depth < 0:
                break
        elif depth == 0 and not _continues(before, first - 1):
            break
        first -= 1
    try:
        return Expressions(before[first:-1]).condition()
    except UnreadableError:
        return None


def _continues(before: tuple[Token, ...], index: int) -> bool:
    """Whether a token belongs to the path that ends with the last dot."""
    token, follower = before[index], before[index + 1]
    if token.text == ".":
        return True
    if token.kind == "name" and token.text not in _OPERATORS:
        # Two names in a row are no path: the first is a tag's word.
        return follower.text in (".", "[", "(")
    return False

"""Bindings: the names that the template itself binds where the cursor stands.

They are read tag by tag, so that a template that does not parse yet has them too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ..language.expressions import Expressions, Node, UnreadableError
from ..lint.shapes import ANY, TEXT, Shape, mapping_of
from ..scanner import BLOCKS, Token, opens_block
from .tags import Tag

__all__ = ["Binding", "bindings_at", "open_blocks", "shape_of"]

_NUMBER = Shape("number")
_LOOP = mapping_of(
    index=_NUMBER,
    index0=_NUMBER,
    revindex=_NUMBER,
    revindex0=_NUMBER,
    first=Shape("boolean"),
    last=Shape("boolean"),
    length=_NUMBER,
    depth=_NUMBER,
    depth0=_NUMBER,
    previtem=ANY,
    nextitem=ANY,
    cycle=ANY,
    changed=ANY,
)
_SCOPES = frozenset(("for", "macro", "call", "with", "block"))
"""Blocks after which the names that are bound in them are gone."""
_KEEPS_SHAPE = frozenset(
    (
        *("d", "default", "list", "reject", "rejectattr", "reverse"),
        *("select", "selectattr", "sort", "unique"),
    )
)
_KEYWORDS = frozenset(("in", "if", "recursive", "with", "without", "context", "as", "import"))


class Binding(NamedTuple):
    """A name that a template binds.

    Attributes:
        name: the name.
        what: what it is, such as `loop variable`.
        start: where it is bound; the tag's start for what has no place of its own.
        end: where the name ends there.
        shape: what its values look like.
    """

    name: str
    what: str
    start: int
    end: int
    shape: Shape = ANY


class _Frame(NamedTuple):
    tag: Tag
    names: dict[str, Binding]


def bindings_at(tags: list[Tag], offset: int, variables: Mapping[str, Shape]) -> dict[str, Binding]:
    """The names that are bound at an offset, by name; the innermost of equal ones.

    Args:
        tags: the tags of the text.
        offset: where to look from.
        variables: the shapes of the variables that something gives.
    """
    return _walk(tags, offset, variables).bound()


def open_blocks(tags: list[Tag], offset: int) -> list[Tag]:
    """The tags whose blocks are open at an offset, the innermost last."""
    return [frame.tag for frame in _walk(tags, offset, {}).frames[1:]]


def _walk(tags: list[Tag], offset: int, variables: Mapping[str, Shape]) -> _Walk:
    walk = _Walk(variables)
    for tag in tags:
        if tag.start >= offset or tag.holds(offset):
            break
        if tag.word:
            walk.read(tag)
    return walk


def shape_of(node: Node, known: Callable[[str], Shape | None]) -> Shape:
    """What the value of an expression looks like, `ANY` when that cannot be told."""
    if node.kind == "name":
        return known(node.value) or ANY
    if node.kind == "text":
        return TEXT
    if node.kind in ("attr", "item"):
        return shape_of(node.children[0], known).inner(node)
    if node.kind == "filter" and node.children:
        base = shape_of(node.children[0], known)
        if node.value in _KEEPS_SHAPE:
            return base
        if node.value in ("first", "last", "max", "min"):
            return base.item or ANY
    if node.kind in ("or", "if_expr"):
        return shape_of(node.children[0], known)
    return ANY


class _Walk:
    """Reads tags in order, and keeps the names that are bound."""

    def __init__(self, variables: Mapping[str, Shape]) -> None:
        self._variables = variables
        self.frames: list[_Frame] = [_Frame(Tag("block", 0, 0, True), {})]

    def bound(self) -> dict[str, Binding]:
        merged: dict[str, Binding] = {}
        for frame in self.frames:
            merged.update(frame.names)
        return merged

    def read(self, tag: Tag) -> None:
        """Bind what a tag binds, and open or close its block."""
        word = tag.word
        if word.startswith("end"):
            self._close(word)
            return
        inner = dict(self._inner(tag))
        if word in ("import", "from"):
            self._bind(self._imported(tag))
        elif word == "set":
            self._bind(self._set(tag))
        elif word == "macro" and len(tag.tokens) > 1:
            self._bind([_binding(tag.tokens[1], "macro")])
        if opens_block(tag.tokens):
            self.frames.append(_Frame(tag, inner))

    def _bind(self, bindings: Iterator[Binding] | list[Binding]) -> None:
        # What a condition or a filter holds stays bound after it.
        frame = next(
            (f for f in reversed(self.frames[1:]) if f.tag.word in _SCOPES), self.frames[0]
        )
        frame.names.update({binding.name: binding for binding in bindings})

    def _close(self, word: str) -> None:
        for index in range(len(self.frames) - 1, 0, -1):
            if BLOCKS.get(self.frames[index].tag.word) == word:
                del self.frames[index:]
                return

    def _inner(self, tag: Tag) -> Iterator[tuple[str, Binding]]:
        """The names that hold within the block that a tag opens."""
        if tag.word == "for":
            yield from ((b.name, b) for b in self._targets(tag))
            yield "loop", Binding("loop", "loop", tag.start, tag.start, _LOOP)
        elif tag.word in ("macro", "call"):
            first = 2 if tag.word == "macro" else 1
            if tag.word == "macro" or (tag.tokens[1:2] and tag.tokens[1].text == "("):
                yield from ((b.name, b) for b in _parameters(tag.tokens[first:]))
            if tag.word == "macro":
                yield "caller", Binding("caller", "macro", tag.start, tag.start)
        elif tag.word == "with":
            yield from ((b.name, b) for b in self._assigned(tag.tokens[1:], "name of `with`"))

    def _targets(self, tag: Tag) -> Iterator[Binding]:
        names: list[Token] = []
        shape = ANY
        for index, token in enumerate(tag.tokens[1:], 1):
            if token.text == "in":
                shape = self._shape(tag.tokens, index + 1)
                break
            if token.kind == "name":
                names.append(token)
        item = (shape.item or ANY) if len(names) == 1 else ANY
        return (_binding(token, "loop variable", item) for token in names)

    def _set(self, tag: Tag) -> Iterator[Binding]:
        if not opens_block(tag.tokens):
            yield from self._assigned(tag.tokens[1:], "name of `set`")
        elif len(tag.tokens) > 1 and tag.tokens[1].kind == "name":
            yield _binding(tag.tokens[1], "name of `set`", TEXT)

    def _assigned(self, tokens: tuple[Token, ...], what: str) -> Iterator[Binding]:
        """Names before a `=` outside of brackets."""
        names: list[Token] = []
        depth = 0
        for index, token in enumerate(tokens):
            if token.text == "=" and depth == 0:
                shape = self._shape(tokens, index + 1) if len(names) == 1 else ANY
                yield from (_binding(name, what, shape) for name in names)
                names = []
            elif token.text in "([{":
                depth += 1
            elif token.text in ")]}":
                depth -= 1
            elif token.text == "." and depth == 0:
                names = []
                # `ns.x = 1` binds nothing.
                if index + 2 < len(tokens) and tokens[index + 2].text == "=":
                    return
            elif token.kind == "name" and token.text not in _KEYWORDS and depth == 0:
                if index and tokens[index - 1].text not in (",", "(", ")"):
                    names = []
                names.append(token)

    def _imported(self, tag: Tag) -> Iterator[Binding]:
        tokens = tag.tokens[1:]
        begin = next((i for i, t in enumerate(tokens) if t.text in ("as", "import")), len(tokens))
        what = "imported template" if tag.word == "import" else "imported macro"
        for index in range(begin + 1, len(tokens)):
            token = tokens[index]
            follower = tokens[index + 1].text if index + 1 < len(tokens) else ""
            if token.kind == "name" and token.text not in _KEYWORDS and follower != "as":
                yield _binding(token, what)

    def _shape(self, tokens: tuple[Token, ...], first: int) -> Shape:
        try:
            node = Expressions(tokens, first).condition()
        except UnreadableError:
            return ANY
        bound = self.bound()

        def known(name: str) -> Shape | None:
            return bound[name].shape if name in bound else self._variables.get(name)

        return shape_of(node, known)


def _parameters(tokens: tuple[Token, ...]) -> Iterator[Binding]:
    depth = 0
    for index, token in enumerate(tokens):
        if token.text in "([{":
            depth += 1
        elif token.text in ")]}":
            depth -= 1
            if depth == 0:
                return
        elif token.kind == "name" and depth == 1 and tokens[index - 1].text in ("(", ","):
            yield _binding(token, "parameter")


def _binding(token: Token, what: str, shape: Shape = ANY) -> Binding:
    return Binding(token.text, what, token.start, token.end, shape)

"""Expressions: the nodes of a template's tree, and the reader of what stands in one tag.

Nodes are of one class; `kind` says which, `value` and `children` what they hold:

========== ============================ ==============================================
kind       value                        children
========== ============================ ==============================================
name       identifier
const      `none`, `true`, a literal's source text
text       a string literal's content
attr       attribute name               base
item                                    base, index
slice                                   base, bounds…
call                                    callee, arguments…
filter     filter name                  base (absent in a filter block), arguments…
test       test name                    base, arguments…
not, neg                                operand
and, or                                 left, right
binary     operator                     left, right
if_expr                                 value, condition, alternative (may be absent)
keyword    argument name                value
spread     `*` or `**`                  value
list, tuple, map                        items… (of a map: key, value, key, value…)
========== ============================ ==============================================
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..scanner import Token
from ..source import Source

__all__ = ["Expressions", "Node", "UnreadableError", "is_path", "path_text", "root_name"]


class Node:
    """A node of the tree, with its character offsets in the source.

    `at` is where its own word stands: the name of an attribute, a filter or a test. Of a
    call it is the closing bracket. (Brackets around a node count to the node.)
    """

    __slots__ = ("at", "children", "end", "kind", "start", "value")

    def __init__(
        self,
        kind: str,
        start: int,
        end: int,
        value: Any = None,
        children: tuple[Node, ...] = (),
        at: int | None = None,
    ) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.value = value
        self.children = children
        self.at = start if at is None else at

    def __repr__(self) -> str:
        return f"<{self.kind} {self.value!r} {self.start}:{self.end}>"

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in the order of the source."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


def is_path(node: Node) -> bool:
    """Whether a node is a name, or attributes and items of one."""
    while node.kind in ("attr", "item"):
        node = node.children[0]
    return node.kind == "name"


def root_name(node: Node) -> str | None:
    """The name that a path starts with; None for anything else."""
    while node.kind in ("attr", "item"):
        node = node.children[0]
    return str(node.value) if node.kind == "name" else None


def path_text(node: Node, source: Source) -> str:
    """A path as errors name it, such as `user.name` or `items[0]`."""
    if node.kind == "attr":
        return f"{path_text(node.children[0], source)}.{node.value}"
    if node.kind == "item":
        index = node.children[1]
        return f"{path_text(node.children[0], source)}[{source.text[index.start : index.end]}]"
    return str(node.value) if node.kind == "name" else source.text[node.start : node.end]


class UnreadableError(Exception):
    """The reader does not understand a tag, which starts at `args[0]`."""


_NOT = 3
_STRENGTH = {
    **dict.fromkeys(("or",), 1),
    **dict.fromkeys(("and",), 2),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in", "not in"), 4),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("~",), 6),
    **dict.fromkeys(("*", "/", "//", "%"), 7),
    **dict.fromkeys(("**",), 8),
}
"""How strongly operators bind; `not` stands between `and` and the comparisons."""
_KEYWORDS = frozenset(("and", "or", "not", "in", "is", "if", "else"))


class Expressions:
    """Reads expressions from the tokens of one tag."""

    def __init__(self, tokens: tuple[Token, ...], first: int = 0) -> None:
        self._tokens = tokens
        self._position = first

    # tokens -----------------------------------------------------------------------------

    def peek(self, ahead: int = 0) -> str:
        """Text of the next token; "" at the end. A string never equals an operator."""
        index = self._position + ahead
        if index >= len(self._tokens):
            return ""
        token = self._tokens[index]
        return token.text if token.kind != "string" else '"'

    def take(self) -> Token:
        """The next token, which is consumed."""
        if self._position >= len(self._tokens):
            raise UnreadableError
        token = self._tokens[self._position]
        self._position += 1
        return token

    def accept(self, text: str) -> bool:
        """Consume the next token if it is this one."""
        if self.peek() == text:
            self._position += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        """Consume the next token, which has to be this one."""
        if self.peek() != text:
            raise UnreadableError
        return self.take()

    def name(self) -> Token:
        """Consume the next token, which has to be a name."""
        token = self.take()
        if token.kind != "name":
            raise UnreadableError
        return token

    def last_end(self) -> int:
        """Where the token that was consumed last ends."""
        return self._tokens[self._position - 1].end

    def finish(self) -> None:
        """Nothing may be left of the tag."""
        if self._position != len(self._tokens):
            raise UnreadableError

    # expressions, loosest first -----------------------------------------------------------

    def expression(self) -> Node:
        """An expression, an inline `if` included."""
        node = self.condition()
        while self.accept("if"):
            condition = self.condition()
            children: tuple[Node, ...] = (node, condition)
            if self.accept("else"):
                children += (self.expression(),)
            node = Node("if_expr", node.start, self.last_end(), None, children)
        return node

    def expression_or_tuple(self) -> Node:
        """An expression, or several with commas between them."""
        first = self.expression()
        if self.peek() != ",":
            return first
        items = [first]
        while self.accept(","):
            if not self.peek():
                break
            items.append(self.expression())
        return Node("tuple", first.start, self.last_end(), None, tuple(items))

    def condition(self) -> Node:
        """An expression without an inline `if`."""
        return self._operators(1)

    def _operators(self, weakest: int) -> Node:
        """Operands joined by operators that bind at least as strongly as `weakest`."""
        node = self._negated(weakest) if self.peek() == "not" else self._unary()
        while True:
            operator = self.peek()
            if operator == "not" and self.peek(1) == "in":
                operator = "not in"
            strength = _STRENGTH.get(operator, 0)
            if strength < weakest:
                return node
            for _ in operator.split():
                self.take()
            right = self._operators(strength + 1)
            if operator in ("or", "and"):
                node = Node(operator, node.start, right.end, None, (node, right))
            else:
                node = Node("binary", node.start, right.end, operator, (node, right))

    def _negated(self, weakest: int) -> Node:
        if weakest > _NOT:
            raise UnreadableError
        starts = []
        while self.peek() == "not":
            starts.append(self.take().start)
        node = self._operators(_NOT + 1)
        for start in reversed(starts):
            node = Node("not", start, node.end, None, (node,))
        return node

    def _unary(self) -> Node:
        return self._filters(self._postfix(self._negation()))

    def _negation(self) -> Node:
        starts = []
        while self.peek() in ("-", "+"):
            starts.append(self.take().start)
        node = self._primary()
        for start in reversed(starts):
            node = Node("neg", start, node.end, None, (node,))
        return node

    def _postfix(self, node: Node) -> Node:
        while True:
            if self.accept("."):
                word = self.take()
                if word.kind == "name":
                    node = Node("attr", node.start, word.end, word.text, (node,), word.start)
                elif word.kind == "number":
                    index = Node("const", word.start, word.end, word.text)
                    node = Node("item", node.start, word.end, None, (node, index))
                else:
                    raise UnreadableError
            elif self.peek() == "[":
                node = self._subscript(node)
            elif self.peek() == "(":
                arguments = self._arguments()
                end = self.last_end()
                node = Node("call", node.start, end, None, (node, *arguments), end - 1)
            else:
                return node

    def _subscript(self, base: Node) -> Node:
        self.expect("[")
        bounds = []
        is_slice = False
        while not self.accept("]"):
            if self.accept(":"):
                is_slice = True
            else:
                bounds.append(self.expression())
        if not is_slice and len(bounds) != 1:
            raise UnreadableError
        kind = "slice" if is_slice else "item"
        return Node(kind, base.start, self.last_end(), None, (base, *bounds))

    def _arguments(self) -> list[Node]:
        self.expect("(")
        arguments: list[Node] = []
        while not self.accept(")"):
            if arguments:
                self.expect(",")
                if self.accept(")"):
                    break
            start = self._tokens[self._position].start if self.peek() else 0
            if self.peek() in ("*", "**"):
                spread = self.take().text
                value = self.expression()
                arguments.append(Node("spread", start, value.end, spread, (value,)))
            elif self.peek(1) == "=":
                name = self.name().text
                self.expect("=")
                value = self.expression()
                arguments.append(Node("keyword", start, value.end, name, (value,)))
            else:
                arguments.append(self.expression())
        return arguments

    def _filters(self, node: Node) -> Node:
        while True:
            if self.accept("|"):
                node = self._filter(node)
            elif self.accept("is"):
                node = self._test(node)
            else:
                return node

    def _dotted_name(self) -> tuple[str, int]:
        token = self.name()
        name = token.text
        while self.accept("."):
            name += "." + self.name().text
        return name, token.start

    def _filter(self, base: Node | None) -> Node:
        name, at = self._dotted_name()
        arguments = self._arguments() if self.peek() == "(" else []
        children = (base, *arguments) if base is not None else tuple(arguments)
        start = base.start if base is not None else at
        return Node("filter", start, self.last_end(), name, children, at)

    def filter_chain(self) -> list[Node]:
        """Filters without a base, as a filter block has them."""
        chain = [self._filter(None)]
        while self.accept("|"):
            chain.append(self._filter(None))
        return chain

    def _test(self, base: Node) -> Node:
        negated = self.accept("not")
        name, at = self._dotted_name()
        arguments: list[Node] = []
        if self.peek() == "(":
            arguments = self._arguments()
        elif self._starts_test_argument():
            arguments = [self._postfix(self._negation())]
        node = Node("test", base.start, self.last_end(), name, (base, *arguments), at)
        return Node("not", node.start, node.end, None, (node,)) if negated else node

    def _starts_test_argument(self) -> bool:
        if self._position >= len(self._tokens):
            return False
        token = self._tokens[self._position]
        if token.kind == "name":
            return token.text not in ("and", "or", "else", "is", "if", "in", "not")
        return token.kind != "operator" or token.text in ("+", "-", "[", "{")

    def _primary(self) -> Node:
        token = self.take()
        if token.kind == "name":
            if token.text in _KEYWORDS:
                raise UnreadableError
            if token.text.lower() in ("none", "true", "false") and (
                token.text[1:] == token.text[1:].lower()
            ):
                return Node("const", token.start, token.end, token.text.lower())
            return Node("name", token.start, token.end, token.text)
        if token.kind == "number":
            return Node("const", token.start, token.end, token.text)
        if token.kind == "string":
            return self._strings(token)
        if token.text == "(":
            return self._parenthesis(token)
        if token.text in ("[", "{"):
            return self._collection(token)
        raise UnreadableError

    def _strings(self, token: Token) -> Node:
        content = token.text[1:-1]
        end = token.end
        while self.peek() == '"':
            follower = self.take()
            content += follower.text[1:-1]
            end = follower.end
        return Node("text", token.start, end, content)

    def _parenthesis(self, opening: Token) -> Node:
        items: list[Node] = []
        comma = False
        while not self.accept(")"):
            items.append(self.expression())
            if self.accept(","):
                comma = True
            elif self.peek() != ")":
                raise UnreadableError
        if len(items) == 1 and not comma:
            # The brackets belong to the node, so that wrapping it keeps them balanced.
            inner = items[0]
            return Node(
                inner.kind, opening.start, self.last_end(), inner.value, inner.children, inner.at
            )
        return Node("tuple", opening.start, self.last_end(), None, tuple(items))

    def _collection(self, opening: Token) -> Node:
        close, kind = ("]", "list") if opening.text == "[" else ("}", "map")
        items: list[Node] = []
        while not self.accept(close):
            items.append(self.expression())
            if kind == "map":
                self.expect(":")
                items.append(self.expression())
            if not self.accept(",") and self.peek() != close:
                raise UnreadableError
        return Node(kind, opening.start, self.last_end(), None, tuple(items))

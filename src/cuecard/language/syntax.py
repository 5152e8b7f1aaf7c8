"""The tree of a template: what its tags say, for every question but rendering.

The engine alone decides what a template means and whether it parses. This tree answers
which names it reads and where, which of them are guarded, and what must be rewritten or
refused before the engine sees the source.

Statements are nodes like expressions: `data`, `comment`, `raw`, `output`, `if` (of
`branch`es), `for`, `set`, `set_block`, `with`, `macro`, `call_block`, `filter_block`,
`block`, `autoescape`, `include`, `import`, `from`, `extends`, `do`, `break`, `continue`;
`body` holds a list of statements. The names that a statement binds are its `value`.
"""

from __future__ import annotations

from typing import Any

from ..scanner import Part
from .expressions import Expressions, Node, UnreadableError

__all__ = ["parse"]


def parse(parts: list[Part]) -> Node:
    """The tree of a scanned source.

    Raises:
        RecursionError: the caller is too deep within a program of its own.
        UnreadableError: a tag is not understood; whether it is a syntax error, and which,
            is for the engine to say.
    """
    reader = _Reader(parts)
    try:
        return reader.template()
    except UnreadableError as error:
        raise UnreadableError(reader.last_tag) from error


class _Reader:
    """Reads statements: the parts of a template, block by block."""

    def __init__(self, parts: list[Part]) -> None:
        self._parts = parts
        self._position = 0

    @property
    def last_tag(self) -> int:
        """Where the part that was read last starts."""
        return self._parts[self._position - 1].start if self._parts else 0

    def template(self) -> Node:
        body, closing = self._body(())
        if closing is not None:
            raise UnreadableError
        return body

    def _body(self, ends: tuple[str, ...]) -> tuple[Node, Part | None]:
        """Statements up to one of the tags `ends`, which is returned and consumed."""
        start = self._parts[self._position].start if self._position < len(self._parts) else 0
        statements: list[Node] = []
        while self._position < len(self._parts):
            part = self._parts[self._position]
            self._position += 1
            if part.kind == "block":
                if not part.tokens:
                    raise UnreadableError
                if part.tokens[0].text in ends:
                    return Node("body", start, part.start, None, tuple(statements)), part
                statements.append(self._statement(part))
            elif part.kind == "output":
                reader = Expressions(part.tokens)
                expression = reader.expression_or_tuple()
                reader.finish()
                statements.append(Node("output", part.start, part.end, None, (expression,)))
            else:
                kind = "data" if part.kind == "text" else part.kind
                statements.append(Node(kind, part.start, part.end))
        if ends:
            raise UnreadableError
        end = self._parts[-1].end if self._parts else 0
        return Node("body", start, end, None, tuple(statements)), None

    def _closed_body(self, end: str) -> Node:
        return self._body((end,))[0]

    def _statement(self, part: Part) -> Node:
        word = part.tokens[0].text
        method = getattr(self, f"_read_{word}", None)
        if method is None or part.tokens[0].kind != "name":
            raise UnreadableError
        tag = Expressions(part.tokens, 1)
        kind, value, children = method(part, tag)
        end = self._parts[self._position - 1].end
        return Node(kind, part.start, end, value, tuple(children), part.tokens[0].start)

    def _read_if(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        branches: list[Node] = []
        test: Node | None = tag.expression()
        tag.finish()
        opening: Part | None = part
        while True:
            assert opening is not None
            body, closing = self._body(
                ("elif", "else", "endif") if test is not None else ("endif",)
            )
            children = (body,) if test is None else (test, body)
            branches.append(Node("branch", opening.start, body.end, None, children))
            assert closing is not None
            word = closing.tokens[0].text
            if word == "endif":
                return "if", None, branches
            opening = closing
            test = None
            if word == "elif":
                reader = Expressions(closing.tokens, 1)
                test = reader.expression()
                reader.finish()

    def _read_for(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        targets = self._targets(tag)
        tag.expect("in")
        # A condition after the iterable belongs to the loop, not to an inline `if`.
        iterable = tag.condition()
        children = [iterable]
        if tag.accept("if"):
            children.append(Node("filter_if", tag.last_end(), 0, None, (tag.expression(),)))
        tag.accept("recursive")
        tag.finish()
        body, closing = self._body(("else", "endfor"))
        children.append(body)
        if closing is not None and closing.tokens[0].text == "else":
            children.append(self._closed_body("endfor"))
        return "for", targets, children

    def _targets(self, tag: Expressions) -> tuple[str, ...]:
        """Names to assign to, with or without brackets, up to what follows them."""
        names: list[str] = []
        while True:
            if tag.accept("("):
                names.extend(self._targets(tag))
                tag.expect(")")
            else:
                names.append(tag.name().text)
            if not tag.accept(",") or tag.peek() in ("in", "=", ")", ""):
                return tuple(names)

    def _read_set(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        if tag.peek(1) == ".":
            base = tag.name()
            target = Node("name", base.start, base.end, base.text)
            while tag.accept("."):
                word = tag.name()
                target = Node("attr", base.start, word.end, word.text, (target,), word.start)
            targets: tuple[str, ...] = ()
            places = [target]
        else:
            targets, places = self._targets(tag), []
        if tag.accept("="):
            value = tag.expression_or_tuple()
            tag.finish()
            return "set", targets, [value, *places]
        filters = []
        if tag.accept("|"):
            filters = tag.filter_chain()
        tag.finish()
        return "set_block", targets, [*filters, self._closed_body("endset"), *places]

    def _read_with(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        names: list[str] = []
        values: list[Node] = []
        while tag.peek():
            if values:
                tag.expect(",")
            if tag.accept("("):
                names.extend(self._targets(tag))
                tag.expect(")")
            else:
                names.append(tag.name().text)
            tag.expect("=")
            values.append(tag.expression())
        return "with", tuple(names), [*values, self._closed_body("endwith")]

    def _parameters(self, tag: Expressions) -> tuple[list[str], list[Node]]:
        names: list[str] = []
        defaults: list[Node] = []
        tag.expect("(")
        while not tag.accept(")"):
            if names:
                tag.expect(",")
                if tag.accept(")"):
                    break
            names.append(tag.name().text)
            if tag.accept("="):
                defaults.append(tag.expression())
        return names, defaults

    def _read_macro(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        name = tag.name().text
        parameters, defaults = self._parameters(tag)
        tag.finish()
        return "macro", (name, *parameters), [*defaults, self._closed_body("endmacro")]

    def _read_call(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        parameters: list[str] = []
        defaults: list[Node] = []
        if tag.peek() == "(":
            parameters, defaults = self._parameters(tag)
        callee = tag.expression()
        tag.finish()
        body = self._closed_body("endcall")
        return "call_block", tuple(parameters), [callee, *defaults, body]

    def _read_filter(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        filters = tag.filter_chain()
        tag.finish()
        return "filter_block", None, [*filters, self._closed_body("endfilter")]

    def _read_block(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        name = tag.name().text
        tag.accept("scoped")
        tag.accept("required")
        tag.finish()
        return "block", name, [self._closed_body("endblock")]

    def _read_autoescape(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        value = tag.expression()
        tag.finish()
        return "autoescape", None, [value, self._closed_body("endautoescape")]

    def _read_include(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        target = tag.expression()
        self._context_mark(tag)
        optional = tag.accept("ignore") and bool(tag.expect("missing"))
        self._with_context(tag)
        return "include", "optional" if optional else None, [target]

    def _context_mark(self, tag: Expressions) -> None:
        if tag.accept("with") or tag.accept("without"):
            tag.expect("context")

    def _with_context(self, tag: Expressions) -> None:
        self._context_mark(tag)
        tag.finish()

    def _read_import(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        target = tag.expression()
        tag.expect("as")
        names = self._targets(tag)
        self._with_context(tag)
        return "import", names, [target]

    def _read_from(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        target = tag.expression()
        tag.expect("import")
        names: list[str] = []
        while tag.peek() and tag.peek() not in ("with", "without"):
            if names:
                tag.expect(",")
                if not tag.peek():
                    break
            name = tag.name().text
            names.append(tag.name().text if tag.accept("as") else name)
        self._with_context(tag)
        return "from", tuple(names), [target]

    def _read_extends(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        target = tag.expression()
        tag.finish()
        return "extends", None, [target]

    def _read_do(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        value = tag.expression()
        tag.finish()
        return "do", None, [value]

    def _read_break(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        tag.finish()
        return "break", None, []

    def _read_continue(self, part: Part, tag: Expressions) -> tuple[str, Any, list[Node]]:
        tag.finish()
        return "continue", None, []

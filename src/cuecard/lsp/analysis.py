"""Analysis: all that is known of one text, each part found when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from ..errors import PromptError
from ..language import Node
from ..lint import Checker, Document, Finding, Target, read_target
from ..lint.collecting import is_checked
from ..lint.shapes import Shape, Variable
from ..source import Span
from .bindings import Binding, bindings_at, shape_of
from .header import header_end
from .tags import Tag, read_tags

__all__ = ["Analysis"]

_NO_VARIABLES: Mapping[str, Variable] = {}


class Analysis:
    """What is known of a text. All offsets are characters of the text as the editor has it.

    Attributes:
        text: the text.
        target: the file, and what it is taken for.
        checker: what checks it.

    Args:
        text: the text.
        target: the file, and what it is taken for.
        checker: what checks it.
        before: what was known before the last change.
    """

    def __init__(
        self, text: str, target: Target, checker: Checker, before: Analysis | None = None
    ) -> None:
        self.text = text
        self.target = target
        self.checker = checker
        # What a header declared before it was spoiled by what is typed now.
        self._declared_before = before.variables if before is not None else _NO_VARIABLES

    @property
    def mark(self) -> int:
        """Characters of a byte order mark, which others do not count."""
        return int(self.text.startswith("\ufeff"))

    @cached_property
    def document(self) -> Document | None:
        """The file as the rules see it."""
        try:
            return read_target(self.target, self.checker.settings, self.text)
        except PromptError:
            return None

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What the rules find; nothing in a file that a check of its folder would pass over."""
        settings = self.checker.settings
        if self.document is None or not is_checked(self.target.path, self.text, settings):
            return ()
        return self.checker.check_document(self.document).findings

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        """What is known of the variables that something gives."""
        document = self.document
        if document is None:
            return self._declared_before
        if document.header_error is None and document.agent_error is None:
            return document.variables
        return {**document.variables, **self._declared_before}

    @cached_property
    def header_end(self) -> int:
        """Where the template begins."""
        return header_end(self.text)

    @cached_property
    def tags(self) -> list[Tag]:
        """The tags of the template, even of one that does not parse."""
        return read_tags(self.text, self.header_end)

    def bindings(self, offset: int) -> dict[str, Binding]:
        """The names that the template binds at an offset."""
        return bindings_at(self.tags, offset, self.shapes)

    def shape(self, node: Node, tag: Tag) -> Shape:
        """What the value of an expression in a tag looks like."""
        bound = self.bindings(tag.start)

        def known(name: str) -> Shape | None:
            return bound[name].shape if name in bound else self.shapes.get(name)

        return shape_of(node, known)

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """The shapes of the variables."""
        return {name: variable.shape for name, variable in self.variables.items()}

    # places ------------------------------------------------------------------------------------

    def offset_in_body(self, offset: int) -> int:
        """Offset in the text of a character of the template."""
        assert self.document is not None, "there is no template"
        return self.mark + self.document.body_start + offset

    def range_of(self, span: Span | None) -> tuple[int, int]:
        """Where a finding is; the start of the file for one without a place."""
        if span is None:
            return 0, 0
        start = self._offset(span.line, span.column)
        return start, max(start, self._offset(span.end_line, span.end_column))

    def _offset(self, line: int, column: int) -> int:
        starts = self._line_starts
        # A byte order mark stands in the first line, and counts for nobody else.
        start = starts[min(line, len(starts)) - 1] if line > 1 else self.mark
        return min(start + column - 1, len(self.text))

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

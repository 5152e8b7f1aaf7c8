"""Rewriting: what is changed in a source before the engine reads it, and the way back.

The engine is asked for exactly what the author wrote, but for a few places where its own
behaviour is not the one promised:

- the literal `none` becomes a name that is bound to a null which prints nothing, and
  `mapping.get(key)` gets that null as its default;
- `"...".format(...)` becomes a filter that bounds the widths;
- under a strict profile, a value that only a filter, a test or a collection touches is
  looked at first, since the engine takes its absence for an empty value there.

A `Probe` asks for more: after a failure, the same template is rewritten so that it says
which expression failed. Every edit keeps the lines as they are, and `Rewritten.offset`
leads from a place in the rewritten text back to the source.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from ..engine.program import FORMAT_NAME, NULL_NAME, UNDEFINED_NAME
from ..language.expressions import Node, is_path
from ..language.vocabulary import FUNCTIONS
from ..source import Source

__all__ = ["ALIAS_NAME", "Probe", "Rewritten", "Site", "rewrite"]

ALIAS_NAME = "__at_{}"

_ASKED_ELSEWHERE = frozenset(("tojson", "json", "raw", "xml_text", "indent", "format"))
"""Filters of our own: they see an absent value themselves."""


_WITH_OPTIONS = frozenset(
    (
        "batch",
        "dictsort",
        "float",
        "int",
        "join",
        "lstrip",
        "pluralize",
        "replace",
        "round",
        "rsplit",
        "rstrip",
        "slice",
        "sort",
        "split",
        "splitlines",
        "strip",
        "trim",
        "truncate",
        "unique",
        "urlencode",
        "wordwrap",
    )
)
"""Filters and methods of the engine that take a null for an option which is not given."""


class Site(NamedTuple):
    """A place that a rewritten template reports by its number."""

    source: Source
    node: Node


class Probe(NamedTuple):
    """What a template is asked to say about its failure.

    Attributes:
        depth: report absent paths of so many steps (1 is a bare name); 0 for none.
        names: filters, tests and functions whose calls are to be told apart.
    """

    depth: int = 0
    names: frozenset[str] = frozenset()


class Rewritten:
    """A rewritten text and its map back to the source."""

    def __init__(self, source: Source, edits: list[tuple[int, int, str]]) -> None:
        self.source = source
        pieces: list[str] = []
        self._new: list[int] = [0]
        self._old: list[int] = [0]
        self._inserted: list[bool] = [False]
        position = length = 0
        for start, end, text in edits:
            pieces += (source.text[position:start], text)
            length += start - position
            self._mark(length, start, True)
            length += len(text)
            self._mark(length, end, False)
            position = end
        pieces.append(source.text[position:])
        self.text = "".join(pieces)
        self._as_source = source if not edits else Source(self.text)

    def _mark(self, new: int, old: int, inserted: bool) -> None:
        self._new.append(new)
        self._old.append(old)
        self._inserted.append(inserted)

    def offset(self, byte_offset: int) -> int:
        """Character offset in the source of a byte offset in the rewritten text."""
        offset = self._as_source.offset_of_byte(byte_offset)
        index = bisect_right(self._new, offset) - 1
        if self._inserted[index]:
            return self._old[index]
        return self._old[index] + offset - self._new[index]


def rewrite(
    source: Source,
    tree: Node,
    *,
    strict: bool,
    sites: list[Site],
    probe: Probe | None = None,
) -> Rewritten:
    """Rewrite a source for the engine.

    Args:
        source: the template.
        tree: its tree.
        strict: whether an absent value is an error.
        sites: receives the places that the text reports by their index in this list.
        probe: what to report beside, after a failure.
    """
    writer = _Writer(source, strict, sites, probe or Probe())
    writer.visit(tree)
    return Rewritten(source, writer.edits())


class _Writer:
    def __init__(self, source: Source, strict: bool, sites: list[Site], probe: Probe) -> None:
        self._source = source
        self._strict = strict
        self._sites = sites
        self._probe = probe
        # Of the edits at one place, those that close a node come first, the inner before
        # the outer; then those that open one, the outer before the inner.
        self._edits: list[tuple[int, int, int, int, str]] = []
        self._macros: set[str] = set()

    def edits(self) -> list[tuple[int, int, str]]:
        return [(start, end, text) for start, _, _, end, text in sorted(self._edits)]

    def _open(self, position: int, text: str) -> None:
        self._edits.append((position, 1, len(self._edits), position, text))

    def _close(self, position: int, text: str) -> None:
        self._edits.append((position, 0, -len(self._edits), position, text))

    def _replace(self, start: int, end: int, text: str) -> None:
        self._edits.append((start, 2, len(self._edits), end, text))

    def visit(self, node: Node, parents: tuple[Node, ...] = ()) -> None:
        """Edit what the node needs, and all below it."""
        kind = node.kind
        if kind == "const" and node.value == "none" and not _is_option(parents):
            word = self._source.text.lower().find("none", node.start)
            self._replace(word, word + 4, NULL_NAME)
            return
        if kind in ("macro", "from", "import"):
            self._macros.update(node.value)
        if kind == "call":
            self._call(node)
        elif kind in ("filter", "test") and node.value in self._probe.names:
            self._replace(node.at, node.at + len(node.value), self._alias(node))
        for index, child in enumerate(node.children):
            if is_path(child) and self._is_asked(node, index, child):
                self._ask(child)
            self.visit(child, (node, *parents[:1]))

    def _call(self, node: Node) -> None:
        callee = node.children[0]
        close = self._source.text.rindex(")", callee.end, node.end)
        if callee.kind == "attr" and callee.value == "format":
            self._open(node.start, "(")
            dot = self._source.text.rindex(".", callee.children[0].end, callee.at)
            self._replace(dot, callee.end, "|" + FORMAT_NAME)
            self._close(node.end, ")")
        elif callee.kind == "attr" and callee.value == "get" and len(node.children) == 2:
            self._replace(close, close, ", " + NULL_NAME)
        elif callee.kind == "name" and callee.value in self._probe.names:
            self._replace(callee.start, callee.end, self._alias(node))

    def _alias(self, node: Node) -> str:
        self._sites.append(Site(self._source, node))
        return ALIAS_NAME.format(len(self._sites) - 1)

    def _ask(self, node: Node) -> None:
        self._sites.append(Site(self._source, node))
        path = self._source.text[node.start : node.end].replace("\n", " ").replace("\r", " ")
        number = len(self._sites) - 1
        self._open(node.start, "(")
        self._close(node.end, f" if {path} is defined else {UNDEFINED_NAME}({number}))")

    def _is_asked(self, parent: Node, index: int, path: Node) -> bool:
        """Whether the engine must look at a path's presence before it uses the value."""
        if _is_target(parent, index) or (index == 0 and _provides(parent)):
            return False
        if parent.kind == "call" and index == 0 and path.kind != "item":
            return False
        if _steps(path) == self._probe.depth:
            is_base = index == 0 and parent.kind in ("attr", "item", "slice")
            return self._strict or is_base
        return self._strict and self._is_silent(parent, index)

    def _is_silent(self, parent: Node, index: int) -> bool:
        kind = parent.kind
        if kind == "filter":
            if index == 0:
                return parent.value not in _ASKED_ELSEWHERE
            return parent.value not in ("default", "d")
        if kind == "call":
            callee = parent.children[0]
            return callee.kind == "attr" or callee.value in FUNCTIONS - self._macros
        return kind in ("test", "list", "tuple", "map")


def _is_option(parents: tuple[Node, ...]) -> bool:
    """Whether a literal `none` is an option of the engine's own, which knows its own null."""
    if parents and parents[0].kind == "keyword":
        parents = parents[1:]
    if not parents:
        return False
    owner = parents[0]
    if owner.kind == "filter":
        return owner.value in _WITH_OPTIONS
    return owner.kind == "call" and owner.children[0].value in _WITH_OPTIONS


def _steps(path: Node) -> int:
    steps = 1
    while path.kind != "name":
        path = path.children[0]
        steps += 1
    return steps


def _provides(parent: Node) -> bool:
    """Whether the parent provides for the absence of its first operand."""
    if parent.kind == "test":
        return parent.value in ("defined", "undefined")
    return parent.kind == "filter" and parent.value in ("default", "d")


def _is_target(parent: Node, index: int) -> bool:
    return (
        parent.kind in ("set", "set_block")
        and index == len(parent.children) - 1 > 0
        and (not parent.value)
    )

"""Units: a template or partial that has been read - scanned, understood and checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..errors import PromptError, TemplateNotFoundError, TemplateSyntaxError
from ..files import Folder
from ..profile import Profile
from ..scanner import Part, scan
from ..source import Source
from .expressions import Node, UnreadableError
from .names import Names, find_names
from .safety import check_safety, needs_guard
from .syntax import parse

__all__ = ["Partials", "UnderstandingError", "Unit", "read_newlines", "read_unit"]


class Unit(NamedTuple):
    """A template that has been read.

    Attributes:
        source: its text.
        parts: its parts, in order.
        tree: what its tags say.
        nodes: all nodes of the tree, in the order of the source.
        names: what it reads.
        guarded: whether its containers must hide their methods.
    """

    source: Source
    parts: list[Part]
    tree: Node
    nodes: tuple[Node, ...]
    names: Names
    guarded: bool

    def references(self) -> Iterator[tuple[str | None, Node]]:
        """Partials that it names, with the place; None for a name that is computed."""
        for node in self.nodes:
            if node.kind in ("include", "import", "from", "extends"):
                target = node.children[0]
                literal = target.kind == "text" and "\\" not in target.value
                yield (target.value if literal else None), target


class UnderstandingError(TemplateSyntaxError):
    """A tag is not understood; the engine may know better what is wrong with it."""

    source: Source


def read_newlines(source: Source, profile: Profile) -> Source:
    """A source with the line breaks that a profile asks for."""
    if profile.newline == "keep" or "\r\n" not in source.text:
        return source
    text = source.text.replace("\r\n", "\n")
    return Source(text, source.name, first_line=source.first_line)


def read_unit(source: Source, profile: Profile, *, folder: bool) -> Unit:
    """Scan, understand and check a template.

    Raises:
        TemplateLimitError: it exceeds a limit of the profile.
        UnderstandingError: a tag is not understood.
        TemplateSyntaxError: it does what templates may not do.
    """
    parts = scan(source, profile.limits)
    try:
        tree = parse(parts)
    except UnreadableError as unreadable:
        start = unreadable.args[0]
        part = next(part for part in parts if part.start == start)
        error = UnderstandingError(
            "this tag is not understood", source=source, start=start, end=part.end
        )
        error.source = source
        raise error from None
    nodes = tuple(tree.walk())
    names = find_names(tree, profile.undefined)
    check_safety(source, nodes, names, profile, folder)
    return Unit(source, parts, tree, nodes, names, needs_guard(nodes, names))


class Partials:
    """The partials of one template: read when named, and again when their files change.

    Args:
        folder: where they are.
        profile: how they are read.
    """

    def __init__(self, folder: Folder, profile: Profile) -> None:
        self._folder = folder
        self._profile = profile
        self._units: dict[str, Unit] = {}
        self._stamps: dict[str, tuple[int, ...]] = {}

    @property
    def units(self) -> dict[str, Unit]:
        """What has been read, by name."""
        return self._units

    def changed(self) -> bool:
        """Whether the file of a partial that was read, or missed, has changed since."""
        stamps = list(self._stamps.items())
        return any(self._folder.stamp(name) != stamp for name, stamp in stamps)

    def unit(self, name: str) -> Unit:
        """A partial by name.

        Raises:
            PromptError: it is not there, cannot be read, or is no valid template.
        """
        unit = self._units.get(name)
        if unit is None:
            self._stamps[name] = self._folder.stamp(name)
            source = read_newlines(self._folder.load(name), self._profile)
            unit = read_unit(source, self._profile, folder=True)
            self._units[name] = unit
        return unit

    def gather(self, unit: Unit) -> bool:
        """Read all partials that a template names, and those that they name.

        Returns:
            Whether every name is written out, so that all partials are known.

        Raises:
            TemplateSyntaxError: partials include each other in a cycle (P805).
            PromptError: a partial is not there, cannot be read, or is no valid template.
        """
        return self._gather(unit, (), {})

    def _gather(self, unit: Unit, path: tuple[str, ...], done: dict[str, bool]) -> bool:
        complete = True
        for name, node in unit.references():
            if name is None:
                complete = False
                continue
            if name in path:
                cycle = " → ".join((*path[path.index(name) :], name))
                raise TemplateSyntaxError(
                    f"the partials include each other: {cycle}",
                    code="P805",
                    source=unit.source,
                    start=node.start,
                    end=node.end,
                )
            if name not in done:
                # Each once: partials that name others many times have more ways than time.
                partial = self._named(name, unit, node)
                if partial is None:
                    continue
                done[name] = self._gather(partial, (*path, name), done)
            complete &= done[name]
        return complete

    def _named(self, name: str, unit: Unit, node: Node) -> Unit | None:
        """A partial that a tag names; None for one that may be missing, and is."""
        try:
            return self.unit(name)
        except TemplateNotFoundError as error:
            if error.code == "P803" and self._is_optional(unit, node):
                return None
            raise _at(error, unit, node) from None

    @staticmethod
    def _is_optional(unit: Unit, target: Node) -> bool:
        return any(
            node.kind == "include" and node.children[0] is target and node.value == "optional"
            for node in unit.nodes
        )


def _at(error: TemplateNotFoundError, unit: Unit, node: Node) -> PromptError:
    """The same error at the place of the tag that names the partial."""
    return TemplateNotFoundError(
        error.message,
        code=error.code,
        source=unit.source,
        start=node.start,
        end=node.end,
        hint=error.hint,
    )

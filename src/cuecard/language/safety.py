"""Safety: what a template may not do, found in its tree before the engine sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..errors import TemplateSyntaxError
from ..profile import Profile
from ..source import Source
from ..values.frozen import METHOD_NAMES
from .expressions import Node, root_name
from .names import Names

__all__ = ["check_safety", "needs_guard"]

_ATTRIBUTE_FILTERS = {
    "attr": 1,
    "selectattr": 1,
    "rejectattr": 1,
    "groupby": 1,
    "join": 2,
    "map": 99,
    "sort": 99,
    "unique": 99,
    "sum": 99,
    "min": 99,
    "max": 99,
}
"""Filters that read an attribute by name; those at 99 take it as a keyword only."""

_BY_NAME = frozenset(("map", "select", "reject", "selectattr", "rejectattr"))
"""Filters that are given the name of another filter, with its arguments."""

_BINDING = frozenset(("set", "set_block", "with", "for", "macro", "call_block", "import", "from"))
_RESERVED = re.compile(r"__(?:null|undefined|format|measured|spent|wrapped|refused|at_\d+)$")
_ASKING = frozenset(("attr", "item", "filter"))
_COMPOSITION = frozenset(("include", "import", "from", "extends"))


def check_safety(
    source: Source, nodes: Sequence[Node], names: Names, profile: Profile, folder: bool
) -> None:
    """Refuse what a template may not do.

    Args:
        source: the template.
        nodes: all nodes of its tree.
        names: the names that it reads.
        profile: how it will be rendered.
        folder: whether a folder of partials was given.

    Raises:
        TemplateSyntaxError: it composes where the profile or the lack of a folder forbids
            it (P107), asks for a name with an underscore in front (P108), or lets a
            namespace leak (P109).
    """
    private: list[tuple[int, int, str, str]] = []
    for use in names.uses:
        if use.name.startswith("_"):
            private.append((use.node.start, use.node.end, "name", use.name))
    for callee in names.calls:
        if callee.value.startswith("_"):
            private.append((callee.start, callee.end, "function", str(callee.value)))
    for node in nodes:
        kind = node.kind
        if kind in _COMPOSITION:
            _check_composition(source, node, profile, folder)
        elif kind in _ASKING:
            for name, start, end in _asked_names(node):
                if any(step.startswith("_") for step in name.split(".")):
                    private.append((start, end, "attribute", name))
        if kind in _BINDING:
            # A template may call its own names what it likes, but not what we call ours.
            for name in filter(_RESERVED.match, node.value):
                start = source.text.find(name, node.at)
                private.append((start, start + len(name), "name", name))
        elif kind in ("filter", "test") and node.value.startswith("_"):
            private.append((node.at, node.at + len(node.value), kind, node.value))
    if private:
        raise _private(source, *min(private))
    _check_namespaces(source, nodes)


def _check_composition(source: Source, node: Node, profile: Profile, folder: bool) -> None:
    if profile.partials and folder:
        return
    if profile.partials:
        hint = "give a folder: `partials=cuecard.Folder(path)`, or `--partials DIR`"
    else:
        hint = f"the profile `{profile.name}` renders one text by itself"
    tag = source.text[node.at :].split(None, 1)[0]
    raise TemplateSyntaxError(
        f"`{tag}` is not available here",
        code="P107",
        source=source,
        start=node.at,
        end=node.at + len(tag),
        hint=hint,
    )


def _private(source: Source, start: int, end: int, what: str, name: str) -> TemplateSyntaxError:
    return TemplateSyntaxError(
        f"access to {what} `{name}` is refused",
        code="P108",
        source=source,
        start=start,
        end=end,
        hint="names with an underscore in front are private",
    )


def _asked_names(node: Node) -> Iterator[tuple[str, int, int]]:
    """Attribute names that a node asks for, with their place."""
    if node.kind == "attr":
        yield node.value, node.at, node.at + len(node.value)
    elif node.kind == "item" and node.children[1].kind == "text":
        yield node.children[1].value, node.children[1].start, node.children[1].end
    elif node.kind == "filter" and node.value in _ATTRIBUTE_FILTERS:
        for argument in _attribute_arguments(node):
            if argument.kind == "text":
                yield argument.value, argument.start, argument.end


def _attribute_arguments(node: Node) -> Iterator[Node]:
    # In a filter block the base is absent; looking at one argument too many does no harm.
    position = _ATTRIBUTE_FILTERS[node.value]
    named = node.value in _BY_NAME and any(
        argument.kind != "keyword" and argument.value in _ATTRIBUTE_FILTERS
        for argument in node.children[1:]
    )
    for index, argument in enumerate(node.children):
        if argument.kind == "keyword" and argument.value == "attribute":
            yield argument.children[0]
        elif argument.kind == "spread" or index == position or (named and index > 0):
            yield argument


def needs_guard(nodes: Iterable[Node], names: Names) -> bool:
    """Whether a template could reach a method of a plain list or mapping.

    Such a template gets guarded containers, which cost more; the others cannot tell.
    """
    for node in nodes:
        if node.kind == "attr" and node.value in METHOD_NAMES:
            base = node.children[0]
            if base.kind == "name" and base.value == "loop" and _loops_are_its_own(names):
                continue
            return True
        if node.kind == "item" and not _is_plain_index(node.children[1]):
            return True
        if node.kind == "filter" and node.value in _ATTRIBUTE_FILTERS:
            for argument in _attribute_arguments(node):
                if argument.kind != "text" or not _is_plain_name(argument.value):
                    return True
        if node.kind in _COMPOSITION:
            return True
    return False


def _loops_are_its_own(names: Names) -> bool:
    """Whether `loop` can only be the engine's own, which has an `index`."""
    return "loop" not in names.bound and "loop" not in names.variables


def _is_plain_name(name: str) -> bool:
    # An escape sequence could spell any name.
    return "\\" not in name and METHOD_NAMES.isdisjoint(name.split("."))


def _is_plain_index(index: Node) -> bool:
    if index.kind == "text":
        return _is_plain_name(index.value)
    return index.kind == "const" or (index.kind == "neg" and index.children[0].kind == "const")


def _check_namespaces(source: Source, nodes: Sequence[Node]) -> None:
    """A namespace may be read and written by attribute, and nothing else.

    Were it a value like others, it could be put into itself, and printing it would end the
    process: the engine's stack overflows.
    """
    spaces: set[str] = set()
    creations: set[Node] = set()
    owners: set[Node] = set()
    allowed: set[Node] = set()
    for node in nodes:
        if node.kind == "set" and _is_namespace_call(node.children[0]):
            spaces.update(node.value)
            creations.add(node.children[0].children[0])
    if not spaces and "namespace" not in source.text and not any(map(_sets_attribute, nodes)):
        return
    for node in nodes:
        if node.kind in ("attr", "item") and node.children[0].kind == "name":
            owners.add(node.children[0])
        allowed.update(_only_shown(node))
        if _sets_attribute(node):
            base = root_name(node.children[1])
            if base not in spaces:
                target = node.children[1]
                raise _leak(source, target, f"`{base}` is no namespace of this template")
    for node in nodes:
        if node.kind != "name" or node in creations:
            continue
        if node.value == "namespace" and node not in allowed | owners:
            raise _leak(source, node, "`namespace(...)` may only be assigned to a name")
        if node.value in spaces and node not in owners:
            raise _leak(source, node, f"namespace `{node.value}` may only be used by attribute")


def _sets_attribute(node: Node) -> bool:
    return node.kind == "set" and not node.value


def _only_shown(node: Node) -> Iterator[Node]:
    """Names that a node prints or tests, so that their values go nowhere else.

    A variable may be called `namespace`, as one of the built-in providers' is.
    """
    if node.kind == "output":
        shown = node.children[0]
        while shown.kind == "filter" and shown.children:
            shown = shown.children[0]
        yield shown
    elif node.kind == "test" or (node.kind == "branch" and len(node.children) > 1):
        yield node.children[0]


def _is_namespace_call(node: Node) -> bool:
    return (
        node.kind == "call"
        and node.children[0].kind == "name"
        and node.children[0].value == "namespace"
    )


def _leak(source: Source, node: Node, message: str) -> TemplateSyntaxError:
    return TemplateSyntaxError(
        message,
        code="P109",
        source=source,
        start=node.start,
        end=node.end,
        hint="write `{% set ns = namespace(n=0) %}`, then `{% set ns.n = ns.n + 1 %}`",
    )

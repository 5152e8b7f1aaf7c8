"""Guards: what a condition tells of the values that it looks at.

What is told is kept as keys: `user.name` says that this path is neither absent nor null,
`?user.name` that it is not absent.
"""

from __future__ import annotations

from collections.abc import Callable

from ..language import Node, is_path

__all__ = ["NOTHING", "implied", "path_key"]

NOTHING: frozenset[str] = frozenset()
Origin = Callable[[Node], "Node | None"]


def path_key(node: Node) -> str | None:
    """A path as one text; None for what is no path, or one with a computed step."""
    if node.kind == "name":
        return str(node.value)
    if node.kind not in ("attr", "item"):
        return None
    base = path_key(node.children[0])
    if base is None:
        return None
    if node.kind == "attr":
        return f"{base}.{node.value}"
    index = node.children[1]
    if index.kind == "text":
        return f"{base}.{index.value}"
    step = index.value if index.kind == "const" else path_key(index)
    return None if step is None else f"{base}[{step}]"


def implied(node: Node, outcome: bool, origin: Origin) -> frozenset[str]:
    """What is known where a condition is true, or false.

    Args:
        node: the condition.
        outcome: whether it is true.
        origin: gives the expression that a name was set to, if it is known.
    """
    if node.kind == "not":
        return implied(node.children[0], not outcome, origin)
    if node.kind in ("and", "or"):
        left, right = (implied(child, outcome, origin) for child in node.children)
        return left | right if (node.kind == "and") == outcome else left & right
    if node.kind == "test":
        return _of_test(node, outcome)
    if node.kind == "binary":
        return _of_comparison(node, outcome)
    known = _present(node) if outcome else NOTHING
    value = origin(node) if node.kind == "name" else None
    return known if value is None else known | implied(value, outcome, origin)


def _of_test(node: Node, outcome: bool) -> frozenset[str]:
    subject, *arguments = node.children
    if node.value in ("defined", "undefined"):
        return _defined(subject) if outcome == (node.value == "defined") else NOTHING
    if node.value == "none":
        return NOTHING if outcome else _present(subject)
    if not outcome:
        return NOTHING
    return _present(subject).union(*map(_present, arguments))


def _of_comparison(node: Node, outcome: bool) -> frozenset[str]:
    left, right = node.children
    if node.value in ("==", "!="):
        equal = outcome == (node.value == "==")
        for value, other in ((left, right), (right, left)):
            if other.kind == "const" and other.value in ("none", "0"):
                return NOTHING if equal else _present(value)
        outcome = equal
    return _present(left) | _present(right) if outcome else NOTHING


def _defined(node: Node) -> frozenset[str]:
    key = path_key(node)
    if key is None:
        return NOTHING
    base = NOTHING if node.kind == "name" else _present(node.children[0])
    return base | {f"?{key}"}


def _present(node: Node) -> frozenset[str]:
    """The keys of a path, and of those that it is an attribute of, filters left out."""
    while not is_path(node):
        if node.kind not in ("filter", "call", "slice", "attr", "item") or not node.children:
            return NOTHING
        node = node.children[0]
    keys: set[str] = set()
    while True:
        key = path_key(node)
        if key is not None:
            keys.update((key, f"?{key}"))
        if node.kind == "name":
            return frozenset(keys)
        node = node.children[0]

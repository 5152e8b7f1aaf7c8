"""Shadowing: names that hide another which is read again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..language import Node
from .bindings import Binding, Frame, Read
from .document import Document

__all__ = ["shadowing_bindings"]

_KINDS = frozenset(("set", "with", "for", "macro"))


def shadowing_bindings(document: Document) -> Iterator[Binding]:
    """Bindings that hide another name which is read again, the first of each name."""
    seen: set[tuple[Frame, str]] = set()
    reads: dict[str, list[Read]] = {}
    for read in document.scopes.reads.values():
        reads.setdefault(read.node.value, []).append(read)
    for binding in document.scopes.bindings:
        key = binding.frame, binding.name
        if binding.kind not in _KINDS or binding.frame.parent is None or key in seen:
            continue
        seen.add(key)
        if _hides_outer(document, binding, reads.get(binding.name, ())):
            yield binding


def _hides_outer(document: Document, binding: Binding, reads: Sequence[Read]) -> bool:
    """Whether a name of a frame hides one of a frame around it that is read again."""
    frame = binding.frame
    hidden = [b for b in binding.hides if b is None or b.frame is not frame]
    hidden = [b for b in hidden if _counts(document, binding, b)]
    if binding.kind == "with" and _reads_itself(binding):
        return False
    for read in reads:
        if any(b in read.bindings for b in hidden):
            if read.node.start >= frame.node.end:
                return True
            if _is_of_an_earlier_turn(binding, read, hidden):
                return True
    return False


def _counts(document: Document, binding: Binding, hidden: Binding | None) -> bool:
    if hidden is None:
        return binding.name in document.given
    # A macro sees what is around it, but what it binds is its own.
    frame: Frame | None = binding.frame
    while frame is not None and frame is not hidden.frame:
        if frame.kind in ("macro", "call_block"):
            return False
        frame = frame.parent
    return hidden.kind not in ("partial", "import")


def _is_of_an_earlier_turn(binding: Binding, read: Read, hidden: Sequence[Binding | None]) -> bool:
    """Whether a read in a loop seems to expect what the turn before has set."""
    if binding.kind != "set" or binding.frame.kind != "for" or None in hidden:
        return False
    within = binding.frame.node.start <= read.node.start
    if read.node.start < binding.node.start:
        return within
    value = binding.value
    added = value is not None and value.kind == "binary" and value.value in ("+", "-", "~")
    return added and value is not None and value.start <= read.node.start < value.end


def _reads_itself(binding: Binding) -> bool:
    node: Node = binding.node if binding.value is None else binding.value
    return any(n.kind == "name" and n.value == binding.name for n in node.walk())

"""Escaping: names that a template reads outside the loop that binds them."""

from __future__ import annotations

from collections.abc import Iterator

from .bindings import Read
from .document import Document

__all__ = ["escaped_reads"]


def escaped_reads(document: Document) -> Iterator[Read]:
    """Reads of a loop's names, or of `loop`, where nothing gives them.

    A name that is set within a loop counts where nothing but what is declared gives
    variables; elsewhere the caller may have meant to pass it.
    """
    if document.is_open:
        return
    names = _names_of_loops(document)
    opened = document.scopes.opened
    for read in document.scopes.reads.values():
        name = read.node.value
        if name not in names or not read.is_context or read.guarded:
            continue
        if name not in document.variables and (opened is None or read.node.start < opened):
            yield read


def _names_of_loops(document: Document) -> frozenset[str]:
    of_loops = (b for b in document.scopes.bindings if b.frame.kind == "for")
    kinds = ("for", "set") if document.closed else ("for",)
    return frozenset(("loop", *(b.name for b in of_loops if b.kind in kinds)))

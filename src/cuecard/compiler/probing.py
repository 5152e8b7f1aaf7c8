"""Probing: places that report themselves while a template renders, and what is asked of them."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from ..language.expressions import Node
from ..source import Source

__all__ = ["ALIAS_NAME", "Marks", "Probe", "Site"]

ALIAS_NAME = "__at_{}"
"""The name under which a filter or function of our own is called at one site."""


class Site(NamedTuple):
    """A place that a rewritten template reports by its number."""

    source: Source
    node: Node


class Probe(NamedTuple):
    """What a template is asked to say about its failure.

    Attributes:
        depth: report absent paths of so many steps (1 is a bare name); 0 for none.
        names: filters, tests and functions whose calls are to be told apart.
        defaults: report what `default` would give, too.
    """

    depth: int = 0
    names: frozenset[str] = frozenset()
    defaults: bool = False


class Marks:
    """Marks that a rewritten template prints around outputs, to find them in the text.

    They hold a random number, so that no value can hold one by chance or by design.
    """

    def __init__(self) -> None:
        self._secret = os.urandom(8).hex()
        self.nodes: list[Node] = []
        self.pattern = re.compile(rf"\x00{self._secret}([<>])(\d+)\x00")

    def add(self, node: Node) -> int:
        """Give an output its number."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def text(self, number: int, opens: bool) -> str:
        """The expression that prints a mark."""
        return f"'\x00{self._secret}{'<' if opens else '>'}{number}\x00'"

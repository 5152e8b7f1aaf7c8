"""Names: what a template reads from its context, where, and which uses are guarded.

A use is guarded when the render cannot fail for want of the name: under `is defined` or
`default(...)`, behind a test that rules the absent case out, or, under a profile that
takes absent names for empty, in a condition and behind one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from .expressions import Node, is_path, root_name

__all__ = ["Names", "Use", "find_names"]

_NO_NAMES: frozenset[str] = frozenset()
_Visitor = Callable[[Node, set[str], frozenset[str]], None]


class Use(NamedTuple):
    """One place where a template reads a name of the context.

    `node` is the name itself; `guarded` says whether its absence is provided for.
    """

    name: str
    node: Node
    guarded: bool


class Names:
    """The names that a template reads, with every place.

    Attributes:
        uses: every place, in the order in which the template is read.
        loops: loop variables and the node of what they loop over.
        bound: every name that the template itself binds somewhere.
        origins: what the names that it binds are made from.
        calls: functions that are called by name.
        around: names that are bound where a partial is named, by the node that names it.
    """

    def __init__(self) -> None:
        self.uses: list[Use] = []
        self.loops: dict[str, Node] = {}
        self.bound: set[str] = set()
        self.origins: dict[str, list[Node]] = {}
        self.calls: list[Node] = []
        self.around: dict[Node, frozenset[str]] = {}

    # The walk is over when these are asked for, so that they are found once.

    @cached_property
    def variables(self) -> frozenset[str]:
        """Every name that is read."""
        return frozenset(use.name for use in self.uses)

    @cached_property
    def required(self) -> frozenset[str]:
        """Names with at least one use that is not guarded."""
        return frozenset(use.name for use in self.uses if not use.guarded)

    @property
    def optional(self) -> frozenset[str]:
        """Names of which every use is guarded."""
        return self.variables - self.required


def find_names(tree: Node, undefined: str) -> Names:
    """Find the names that a tree reads.

    Args:
        tree: a template's tree.
        undefined: the profile's treatment of absent names.
    """
    walk = _Walk(undefined)
    # Blocks of a template that is extended are reached through `self`.
    has_blocks = any(node.kind == "block" for node in tree.walk())
    walk.statements(tree, {"self"} if has_blocks else set(), _NO_NAMES)
    return walk.names


class _Walk:
    def __init__(self, undefined: str) -> None:
        self.names = Names()
        self._lenient = undefined != "strict"
        self._chainable = undefined == "chainable"

    # statements: `scope` holds the names that are bound for certain, and grows --------------

    def statements(self, body: Node, scope: set[str], guards: frozenset[str]) -> None:
        for statement in body.children:
            handler = getattr(self, f"_{statement.kind}", None)
            if handler is not None:
                handler(statement, scope, guards)

    def _bind(
        self, names: tuple[str, ...], scope: set[str], origins: tuple[Node, ...] = ()
    ) -> None:
        scope.update(names)
        self.names.bound.update(names)
        for name in names:
            self.names.origins.setdefault(name, []).extend(origins)

    def _output(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        self._expression(node.children[0], scope, guards)

    _do = _output

    def _if(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        outcomes: list[set[str]] = []
        refuted = guards
        has_else = False
        for branch in node.children:
            inner = set(scope)
            held = refuted
            if len(branch.children) == 2:
                test = branch.children[0]
                self._condition(test, scope, refuted)
                held = refuted | self._implied(test, True)
                refuted = refuted | self._implied(test, False)
            else:
                has_else = True
            self.statements(branch.children[-1], inner, held)
            outcomes.append(inner)
        if has_else:
            scope.update(set.intersection(*outcomes))

    def _for(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        iterable, *rest = node.children
        self._condition(iterable, scope, guards)
        inner = set(scope)
        self._bind(node.value, inner, (iterable,))
        inner.add("loop")
        self.names.origins.setdefault("loop", []).append(iterable)
        if len(node.value) == 1:
            self.names.loops[node.value[0]] = iterable
        if rest[0].kind == "filter_if":
            condition = rest.pop(0).children[0]
            self._condition(condition, inner, guards)
            guards = guards | self._implied(condition, True)
        self.statements(rest[0], inner, guards | self._implied(iterable, True))
        if len(rest) == 2:
            self.statements(rest[1], set(scope), guards)

    def _set(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        for child in node.children:
            self._expression(child, scope, guards)
        self._bind(node.value, scope, node.children[:1])

    def _set_block(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        self._wrapped_body(node, scope, guards)
        self._bind(node.value, scope, node.children)

    def _with(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        *values, body = node.children
        for value in values:
            self._expression(value, scope, guards)
        inner = set(scope)
        self._bind(node.value, inner, tuple(values))
        self.statements(body, inner, guards)

    def _macro(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        *defaults, body = node.children
        name, *parameters = node.value
        self._bind((name,), scope)
        inner = {*scope, "caller"}
        self._bind(tuple(parameters), inner)
        for default in defaults:
            self._expression(default, inner, guards)
        # The guards of the place do not hold where the macro is called from.
        self.statements(body, inner, _NO_NAMES)

    def _call_block(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        callee, *defaults, body = node.children
        self._expression(callee, scope, guards)
        inner = set(scope)
        self._bind(node.value, inner)
        for default in defaults:
            self._expression(default, inner, guards)
        self.statements(body, inner, guards)

    def _wrapped_body(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        # What is bound within a filter or a captured text holds after it.
        for child in node.children:
            if child.kind == "body":
                self.statements(child, scope, guards)
            else:
                self._expression(child, scope, guards)

    _filter_block = _wrapped_body
    _autoescape = _wrapped_body

    def _block(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        self._wrapped_body(node, set(scope), guards)

    def _include(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        self._expression(node.children[0], scope, guards)
        self.names.around[node.children[0]] = frozenset(scope)

    _extends = _include

    def _import(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        self._include(node, scope, guards)
        self._bind(node.value, scope)

    _from = _import

    # expressions ---------------------------------------------------------------------------

    def _expression(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        kind = node.kind
        if kind == "name":
            self._read(node, scope, node.value in guards)
        elif kind in ("and", "or"):
            self._logical(node, scope, guards, self._expression)
        elif kind == "if_expr":
            value, condition, *alternative = node.children
            self._condition(condition, scope, guards)
            self._expression(value, scope, guards | self._implied(condition, True))
            for other in alternative:
                self._expression(other, scope, guards | self._implied(condition, False))
        elif self._provides_for_absence(node):
            self._guarded(node.children[0], scope, guards)
            for argument in node.children[1:]:
                self._expression(argument, scope, guards)
        elif kind == "call" and node.children[0].kind == "name":
            callee = node.children[0]
            if callee.value not in scope:
                self.names.calls.append(callee)
            for argument in node.children[1:]:
                self._expression(argument, scope, guards)
        else:
            for child in node.children:
                self._expression(child, scope, guards)

    def _read(self, node: Node, scope: set[str], guarded: bool) -> None:
        name = node.value
        if name not in scope:
            self.names.uses.append(Use(name, node, guarded))

    def _provides_for_absence(self, node: Node) -> bool:
        if node.kind == "test":
            return node.value in ("defined", "undefined")
        return node.kind == "filter" and node.value in ("default", "d") and bool(node.children)

    def _guarded(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        """An operand whose absence is provided for."""
        root = root_name(node)
        # An attribute of an absent name still fails, unless the profile chains.
        if root is not None and (node.kind == "name" or self._chainable):
            guards = guards | {root}
        self._expression(node, scope, guards)

    def _condition(self, node: Node, scope: set[str], guards: frozenset[str]) -> None:
        """An expression of which only the truth counts: an absent name is false if lenient."""
        if not self._lenient:
            self._expression(node, scope, guards)
        elif node.kind == "not":
            self._condition(node.children[0], scope, guards)
        elif node.kind in ("and", "or"):
            self._logical(node, scope, guards, self._condition)
        elif node.kind in ("binary", "test"):
            for child in node.children:
                self._guarded(child, scope, guards)
        elif is_path(node):
            self._guarded(node, scope, guards)
        else:
            self._expression(node, scope, guards)

    def _logical(
        self, node: Node, scope: set[str], guards: frozenset[str], visit: _Visitor
    ) -> None:
        left, right = node.children
        visit(left, scope, guards)
        visit(right, scope, guards | self._implied(left, node.kind == "and"))

    def _implied(self, node: Node, outcome: bool) -> frozenset[str]:
        """Names that are present, or tested for, if the expression is true (or false)."""
        if node.kind == "not":
            return self._implied(node.children[0], not outcome)
        if node.kind in ("and", "or"):
            left, right = (self._implied(child, outcome) for child in node.children)
            return left | right if (node.kind == "and") == outcome else left & right
        if node.kind == "test" and node.value in ("defined", "undefined"):
            root = root_name(node.children[0])
            present = outcome == (node.value == "defined")
            return frozenset((root,)) if present and root is not None else _NO_NAMES
        if not self._lenient or not outcome:
            return _NO_NAMES
        operands = node.children if node.kind in ("binary", "test") else (node,)
        roots = (root_name(operand) for operand in operands)
        return frozenset(root for root in roots if root is not None)

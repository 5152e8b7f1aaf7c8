"""Scoping: a walk through a template in the order in which it is rendered.

At each place it is known what a name may stand for and what the conditions around tell. A
loop, a `with`, a block and a macro keep what they bind; an `if`, a captured text and a
filter block do not. A macro sees what is bound where it is called, so its body is read last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..language import Node, Unit, is_path
from .bindings import Binding, BindingKind, Frame, Read, Scopes, Site
from .guards import NOTHING, implied
from .states import CONTEXT, State, joined

__all__ = ["find_scopes"]

_SITES = frozenset(("attr", "item", "call", "filter", "binary", "neg", "slice"))


def find_scopes(
    tree: Node, undefined: str, partials: Mapping[str, Unit] | None, *, blocks: bool
) -> Scopes:
    """Find what the names of a tree stand for.

    Args:
        tree: a template's tree.
        undefined: the profile's treatment of absent names.
        partials: the partials that it names; None when a name is computed.
        blocks: whether it has blocks, which are reached through `self`.
    """
    walk = _Walk(undefined, partials)
    frame = Frame("template", tree, None)
    state = State({}, NOTHING, frame)
    if blocks:
        walk.bind(state, "self", "self", tree)
    walk.frame(tree, state)
    return walk.scopes()


class _Walk:
    def __init__(self, undefined: str, partials: Mapping[str, Unit] | None) -> None:
        self._lenient = undefined != "strict"
        self._chainable = undefined == "chainable"
        self._partials = partials
        self._bindings: list[Binding] = []
        self._reads: dict[Node, Read] = {}
        self._calls: dict[Node, Read] = {}
        self._sites: dict[Node, Site] = {}
        self._opened: int | None = None
        self._macros: dict[Frame, list[tuple[Node, State]]] = {}
        self._handlers: dict[str, Callable[[Node, State], None] | None] = {}

    def scopes(self) -> Scopes:
        return Scopes(self._bindings, self._reads, self._calls, self._sites, self._opened)

    # names -------------------------------------------------------------------------------------

    def bind(
        self,
        state: State,
        name: str,
        kind: BindingKind,
        node: Node,
        value: Node | None = None,
        after: int | None = None,
    ) -> Binding:
        binding = Binding(
            name,
            kind,
            node,
            state.frame,
            value=value,
            hides=state.env.get(name, CONTEXT),
            after=node.at + len(kind) if after is None else after,
        )
        self._bindings.append(binding)
        state.env[name] = (binding,)
        if name in state.known or f"?{name}" in state.known:
            state.known = frozenset(key for key in state.known if _root(key) != name)
        return binding

    def _read(self, node: Node, state: State, asked: bool, reads: dict[Node, Read]) -> None:
        bindings = state.env.get(node.value, CONTEXT)
        for binding in bindings:
            if binding is not None:
                binding.reads += 1
        reads[node] = Read(node, bindings, state.known, asked)

    def _origin(self, node: Node) -> Node | None:
        """What a name was set to, if that is certain."""
        read = self._reads.get(node)
        if read is None or len(read.bindings) != 1 or read.bindings[0] is None:
            return None
        binding = read.bindings[0]
        return binding.value if binding.kind in ("set", "with") else None

    def _implied(self, node: Node, outcome: bool) -> frozenset[str]:
        return implied(node, outcome, self._origin)

    # frames and statements ---------------------------------------------------------------------

    def frame(self, body: Node, state: State) -> None:
        """A body whose names end with it; the macros that it holds are read at its end."""
        self.statements(body, state)
        for node, defined in self._macros.pop(state.frame, ()):
            outer = State(joined([defined.env, state.env]), NOTHING, state.frame)
            self._macro_body(node, outer)

    def statements(self, body: Node, state: State) -> None:
        for statement in body.children:
            kind = statement.kind
            if kind not in self._handlers:
                self._handlers[kind] = getattr(self, f"_{kind}", None)
            handler = self._handlers[kind]
            if handler is not None:
                handler(statement, state)

    def _output(self, node: Node, state: State) -> None:
        value = node.children[0]
        self._expression(value, state)
        if value.kind == "call" and value.children[0].value == "raise_exception":
            state.ended = True

    _do = _output

    def _break(self, node: Node, state: State) -> None:
        state.ended = True

    _continue = _break

    def _if(self, node: Node, state: State) -> None:
        outcomes: list[State] = []
        refuted = state.known
        for branch in node.children:
            inner = state.copy(refuted)
            if len(branch.children) == 2:
                test = branch.children[0]
                self._condition(test, inner)
                inner.known = refuted | self._implied(test, True)
                refuted = refuted | self._implied(test, False)
            self.statements(branch.children[-1], inner)
            outcomes.append(inner)
        if len(node.children[-1].children) == 2:
            outcomes.append(state.copy(refuted))
        state.join(outcomes)

    def _for(self, node: Node, state: State) -> None:
        iterable, *rest = node.children
        self._condition(iterable, state)
        inner = state.inner("for", node)
        inner.known = state.known | self._implied(iterable, True)
        for name in node.value:
            self.bind(inner, name, "for", node, iterable)
        self.bind(inner, "loop", "loop", node)
        if rest[0].kind == "filter_if":
            condition = rest.pop(0).children[0]
            self._condition(condition, inner)
            inner.known = inner.known | self._implied(condition, True)
        self.frame(rest[0], inner)
        if len(rest) == 2:
            without = state.copy()
            self.statements(rest[1], without)
            state.join([state.copy(), without])

    def _set(self, node: Node, state: State) -> None:
        for child in node.children:
            self._expression(child, state)
        value = node.children[0] if len(node.value) == 1 else None
        for name in node.value:
            self.bind(state, name, "set", node, value)

    def _set_block(self, node: Node, state: State) -> None:
        self._wrapped(node, state)
        for name in node.value:
            self.bind(state, name, "set", node, node)

    def _with(self, node: Node, state: State) -> None:
        *values, body = node.children
        inner = state.inner("with", node)
        after = node.at + len("with")
        single = len(values) == len(node.value)
        for index, value in enumerate(values):
            self._expression(value, inner)
            if single:
                self.bind(inner, node.value[index], "with", node, value, after)
                after = value.end
        for name in () if single else node.value:
            self.bind(inner, name, "with", node)
        self.frame(body, inner)
        state.ended = inner.ended

    def _macro(self, node: Node, state: State) -> None:
        self.bind(state, node.value[0], "macro", node)
        self._macros.setdefault(state.frame, []).append((node, state.copy()))

    def _macro_body(self, node: Node, outer: State) -> None:
        *defaults, body = node.children
        for default in defaults:
            self._expression(default, outer)
        inner = outer.inner("macro", node)
        for name in node.value[1:]:
            self.bind(inner, name, "parameter", node)
        self.bind(inner, "caller", "caller", node)
        self.frame(body, inner)

    def _call_block(self, node: Node, state: State) -> None:
        callee, *defaults, body = node.children
        self._expression(callee, state)
        for default in defaults:
            self._expression(default, state)
        inner = state.inner("call_block", node)
        for name in node.value:
            self.bind(inner, name, "parameter", node)
        self.frame(body, inner)

    def _wrapped(self, node: Node, state: State) -> None:
        for child in node.children:
            if child.kind == "body":
                self.statements(child, state)
            else:
                self._expression(child, state)

    _filter_block = _wrapped
    _autoescape = _wrapped

    def _block(self, node: Node, state: State) -> None:
        self.frame(node.children[0], state.inner("block", node))

    def _include(self, node: Node, state: State) -> None:
        target = node.children[0]
        self._expression(target, state)
        self._partials_read(state)
        if node.kind == "include":
            self._partials_bind(node, state)

    _extends = _include

    def _import(self, node: Node, state: State) -> None:
        self._include(node, state)
        for name in node.value:
            self.bind(state, name, "import", node, after=node.children[0].end)

    _from = _import

    def _partials_read(self, state: State) -> None:
        """A partial reads what is bound where it is named."""
        names: Iterable[str] = state.env
        if self._partials is not None:
            names = {n for unit in self._partials.values() for n in unit.names.variables}
        for name in names:
            for binding in state.env.get(name, ()):
                if binding is not None:
                    binding.reads += 1

    def _partials_bind(self, node: Node, state: State) -> None:
        """What an included partial sets holds after it."""
        if self._partials is None:
            self._opened = node.end if self._opened is None else self._opened
            return
        for name in {n for unit in self._partials.values() for n in unit.names.bound}:
            before = state.env.get(name, CONTEXT)
            state.env[name] = (*before, self.bind(state, name, "partial", node))

    # expressions -------------------------------------------------------------------------------

    def _expression(self, node: Node, state: State, asked: bool = False) -> None:
        kind = node.kind
        if kind in _SITES:
            self._sites[node] = Site(state.known, asked)
        if kind == "name":
            self._read(node, state, asked, self._reads)
        elif kind in ("attr", "item"):
            self._expression(node.children[0], state, asked and self._chainable)
            for index in node.children[1:]:
                self._expression(index, state)
        elif kind in ("and", "or"):
            self._logical(node, state, self._expression)
        elif kind == "if_expr":
            self._inline_if(node, state)
        elif kind == "call":
            self._call(node, state)
        elif _provides_for_absence(node):
            self._expression(node.children[0], state, True)
            for argument in node.children[1:]:
                self._expression(argument, state)
        else:
            for child in node.children:
                self._expression(child, state)

    def _call(self, node: Node, state: State) -> None:
        callee, *arguments = node.children
        if callee.kind == "name":
            self._read(callee, state, False, self._calls)
        elif callee.kind == "attr":
            self._expression(callee.children[0], state)
        else:
            self._expression(callee, state)
        for argument in arguments:
            self._expression(argument, state)

    def _inline_if(self, node: Node, state: State) -> None:
        value, condition, *alternative = node.children
        known = state.known
        self._condition(condition, state)
        state.known = known | self._implied(condition, True)
        self._expression(value, state)
        state.known = known | self._implied(condition, False)
        for other in alternative:
            self._expression(other, state)
        state.known = known

    def _logical(self, node: Node, state: State, visit: Callable[[Node, State], None]) -> None:
        left, right = node.children
        known = state.known
        visit(left, state)
        state.known = known | self._implied(left, node.kind == "and")
        visit(right, state)
        state.known = known

    def _condition(self, node: Node, state: State) -> None:
        """An expression of which only the truth counts: an absent value is false if lenient."""
        if not self._lenient:
            self._expression(node, state)
        elif node.kind == "not":
            self._condition(node.children[0], state)
        elif node.kind in ("and", "or"):
            self._logical(node, state, self._condition)
        elif node.kind in ("binary", "test"):
            for child in node.children:
                self._expression(child, state, True)
        else:
            self._expression(node, state, is_path(node))


def _provides_for_absence(node: Node) -> bool:
    if node.kind == "test":
        return node.value in ("defined", "undefined")
    return node.kind == "filter" and node.value in ("default", "d") and bool(node.children)


def _root(key: str) -> str:
    return key.lstrip("?").partition(".")[0].partition("[")[0]

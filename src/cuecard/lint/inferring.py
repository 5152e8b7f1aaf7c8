"""Inferring: what the values of expressions look like, from what is known of their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..language import Node
from .bindings import Binding, Scopes
from .shapes import ANY, TEXT, Shape, Variable, list_of, mapping_of

__all__ = ["LOOP", "Inference"]

_NUMBER = Shape("number")
_BOOLEAN = Shape("boolean")
_LIST = Shape("list")
LOOP = mapping_of(
    **dict.fromkeys(("index", "index0", "revindex", "revindex0", "length"), _NUMBER),
    **dict.fromkeys(("depth", "depth0"), _NUMBER),
    **dict.fromkeys(("first", "last"), _BOOLEAN),
    **dict.fromkeys(("previtem", "nextitem", "cycle", "changed"), ANY),
)
"""What a loop tells of itself."""

_SAME = frozenset(("sort", "unique", "select", "reject", "selectattr", "rejectattr"))
_ONE = frozenset(("first", "last", "min", "max"))
_LISTS = frozenset(("batch", "slice", "dictsort", "items", "groupby"))
_TEXT_LISTS = frozenset(("split", "lines", "splitlines"))
_NUMBERS = frozenset(("length", "count", "int", "float", "round", "abs", "find", "rfind"))
_TEXTS = frozenset(
    (
        *("capitalize", "filesizeformat", "format", "indent", "join", "json", "lower"),
        *("lstrip", "pluralize", "pprint", "replace", "rstrip", "string", "strip", "striptags"),
        *("title", "tojson", "trim", "truncate", "upper", "urlencode", "wordwrap", "xml_text"),
    )
)
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">=", "in", "not in"))


class Inference:
    """Infers shapes in one template.

    Args:
        scopes: what its names stand for.
        variables: what is known of the variables of the context, by name.
    """

    def __init__(self, scopes: Scopes, variables: Mapping[str, Variable]) -> None:
        self._scopes = scopes
        self._variables = variables
        self._known: dict[Node, Shape] = {}
        self._of_kind: Mapping[str, Callable[[Node], Shape]] = {
            "name": self._of_name,
            "const": self._of_constant,
            "attr": self._of_step,
            "item": self._of_step,
            "slice": lambda node: self.shape(node.children[0]),
            "filter": self._of_filter,
            "call": self._of_call,
            "list": self._of_list,
            "tuple": self._of_list,
            "map": self._of_mapping,
            "or": self._of_choice,
            "if_expr": self._of_inline_if,
            "binary": self._of_binary,
            "text": lambda node: TEXT,
            "set_block": lambda node: TEXT,
            "test": lambda node: _BOOLEAN,
            "not": lambda node: _BOOLEAN,
        }

    def shape(self, node: Node) -> Shape:
        """What the value of an expression looks like, `ANY` when that cannot be told."""
        known = self._known.get(node)
        if known is None:
            self._known[node] = ANY
            infer = self._of_kind.get(node.kind)
            known = self._known[node] = ANY if infer is None else infer(node)
        return known

    # names -------------------------------------------------------------------------------------

    def _of_name(self, node: Node) -> Shape:
        read = self._scopes.reads.get(node)
        if read is None:
            return ANY
        return _common(
            [self._of_variable(node) if b is None else self._of_binding(b) for b in read.bindings]
        )

    def _of_variable(self, node: Node) -> Shape:
        variable = self._variables.get(node.value)
        return ANY if variable is None else variable.shape

    def _of_binding(self, binding: Binding) -> Shape:
        if binding.kind == "loop":
            return LOOP
        if binding.value is None:
            return ANY
        if binding.kind == "for":
            return self._of_target(binding, binding.value)
        return self.shape(binding.value) if binding.kind in ("set", "with") else ANY

    def _of_target(self, binding: Binding, iterable: Node) -> Shape:
        looped = self.shape(iterable)
        if len(binding.node.value) == 1:
            if looped.kind == "list":
                return looped.item or ANY
            return TEXT if looped.kind in ("mapping", "text") else ANY
        return ANY

    # steps, filters and calls ------------------------------------------------------------------

    def _of_step(self, node: Node) -> Shape:
        base = self.shape(node.children[0])
        if base.kind == "mapping" and node.kind == "item" and base.fields is not None:
            index = node.children[1]
            return base.fields.get(index.value, ANY) if index.kind == "text" else ANY
        return base.inner(node)

    def _of_filter(self, node: Node) -> Shape:
        if not node.children or node.start == node.at:
            return ANY
        name = node.value
        base = self.shape(node.children[0])
        if name in ("default", "d"):
            return self._or(base, node.children[1]) if len(node.children) == 2 else ANY
        if name in _SAME or name == "list":
            return base if base.kind == "list" else _LIST
        if name == "reverse":
            return base if base.kind in ("list", "text") else ANY
        if name in _ONE:
            return (base.item or ANY) if base.kind == "list" else ANY
        if name == "map":
            return self._of_map(node, base)
        return _named_result(name)

    def _of_map(self, node: Node, base: Shape) -> Shape:
        first = node.children[1] if len(node.children) > 1 else None
        if first is None or first.kind != "keyword" or first.children[0].kind != "text":
            return _LIST
        item = base.item.fields if base.item is not None else None
        return list_of((item or {}).get(first.children[0].value, ANY))

    def _of_call(self, node: Node) -> Shape:
        callee = node.children[0]
        if callee.kind == "attr":
            if callee.value == "keys":
                return list_of(TEXT)
            return _LIST if callee.value == "values" else _named_result(callee.value)
        read = self._scopes.calls.get(callee)
        if read is None or not read.is_context:
            return ANY
        return list_of(_NUMBER) if callee.value == "range" else ANY

    # literals and operations -------------------------------------------------------------------

    def _of_constant(self, node: Node) -> Shape:
        if node.value == "none":
            return ANY
        return _BOOLEAN if node.value in ("true", "false") else _NUMBER

    def _of_list(self, node: Node) -> Shape:
        return Shape("list", item=_common([self.shape(child) for child in node.children]))

    def _of_mapping(self, node: Node) -> Shape:
        keys, values = node.children[::2], node.children[1::2]
        if any(key.kind != "text" or "\\" in key.value for key in keys):
            return Shape("mapping")
        pairs = zip(keys, values, strict=True)
        return Shape("mapping", {str(key.value): self.shape(value) for key, value in pairs})

    def _of_choice(self, node: Node) -> Shape:
        return self._or(self.shape(node.children[0]), node.children[1])

    def _or(self, shape: Shape, other: Node) -> Shape:
        """The shape of a value, or of another one: an empty one says nothing of its kind."""
        if other.kind in ("list", "map", "tuple") and not other.children:
            return shape
        if other.kind == "text" and not other.value:
            return shape
        return _common([shape, self.shape(other)])

    def _of_inline_if(self, node: Node) -> Shape:
        value, _, *alternative = node.children
        shape = self.shape(value)
        return self._or(shape, alternative[0]) if alternative else shape

    def _of_binary(self, node: Node) -> Shape:
        if node.value == "~":
            return TEXT
        if node.value in _COMPARISONS:
            return _BOOLEAN
        left, right = (self.shape(child) for child in node.children)
        if node.value == "+" and left.kind == right.kind:
            return left if left == right else Shape(left.kind)
        return ANY


def _common(shapes: list[Shape]) -> Shape:
    if not shapes or any(shape != shapes[0] for shape in shapes):
        return ANY
    return shapes[0]


def _named_result(name: str) -> Shape:
    """What a filter or a method gives, whatever it is put on."""
    if name in _TEXTS:
        return TEXT
    if name in _TEXT_LISTS:
        return list_of(TEXT)
    if name in _LISTS:
        return _LIST
    return _NUMBER if name in _NUMBERS else ANY

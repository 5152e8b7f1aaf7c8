"""Declared inputs: the variables that an agent's header says its prompt takes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import ContextError
from ..language.vocabulary import nearest
from ..profile import Limits
from ..source import Diagnostic
from ..values import Freezer

__all__ = ["TYPES", "Filled", "Input", "fill"]

TYPES = {
    "any": "any",
    "array": "array",
    "bool": "boolean",
    "boolean": "boolean",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "integer": "integer",
    "list": "array",
    "mapping": "object",
    "number": "number",
    "object": "object",
    "str": "string",
    "string": "string",
    "text": "string",
}
"""JSON Schema's names of the types, by these and by their other usual names."""

_WHOLE = re.compile(r"[+-]?\d+")
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class Input:
    """A variable that an agent's header declares.

    Attributes:
        name: the variable.
        type: `"string"`, `"integer"`, `"number"`, `"boolean"`, `"array"`, `"object"` (JSON
            Schema's names) or `"any"`.
        required: whether a render fails without it.
        default: the value when it is absent; None for none.
        description: what it is for, for people and for protocols that list it.
    """

    name: str
    type: str = "any"
    required: bool = True
    default: Any = None
    description: str | None = None

    def accepts(self, value: Any) -> bool:
        """Whether a value is of the declared type, as a template would see it.

        Raises:
            ContextError: a value that is no plain data and cannot be made such (P701).
        """
        accepts = _ACCEPTS[self.type]
        if accepts(value) or type(value) in _PLAIN:
            return accepts(value)
        return accepts(Freezer(Limits(), guarded=False).freeze(self.name, value))

    def read(self, text: str) -> Any:
        """The value that a text stands for, as a header or a command line gives it.

        Raises:
            ValueError: the text is none of the declared type.
        """
        reader = _READERS.get(self.type)
        if reader is None:
            return text
        return reader(text.strip())


class Filled(NamedTuple):
    """A context that was held against the declared inputs.

    Attributes:
        context: the values, with the defaults of what was absent.
        diagnostics: a warning (P712) for each value that no input declares.
    """

    context: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]


def fill(
    inputs: Iterable[Input],
    context: Mapping[str, Any],
    *,
    guarded: Collection[str] = (),
    template: str | None = None,
) -> Filled:
    """Hold a context against declared inputs.

    Args:
        inputs: what is declared. With none, any context will do.
        context: the values by name; null counts as absent.
        guarded: names that the template itself provides for: an absent one of these stays
            absent, where another becomes null.
        template: what diagnostics call the template.

    Raises:
        ContextError: required inputs are absent (P710), or values are of another type than
            declared (P711). All of them are named at once.
    """
    declared = {entry.name: entry for entry in inputs}
    if not declared:
        return Filled(dict(context), ())
    _refuse_missing(declared, context, template)
    _refuse_mistyped(declared, context, template)
    filled = {name: value for name, value in context.items() if value is not None}
    for name, entry in declared.items():
        if name not in filled and (entry.default is not None or name not in guarded):
            filled[name] = entry.default
    undeclared = [name for name in context if name not in declared]
    return Filled(filled, tuple(_undeclared(name, declared, template) for name in undeclared))


def _refuse_missing(
    declared: Mapping[str, Input], context: Mapping[str, Any], template: str | None
) -> None:
    missing = [n for n, entry in declared.items() if entry.required and context.get(n) is None]
    if not missing:
        return
    names = ", ".join(f"`{name}`" for name in missing)
    raise ContextError(
        f"missing input{'s' if len(missing) > 1 else ''} {names}",
        code="P710",
        template=template,
        hint=_hint_for_missing(missing, declared, context),
    )


def _hint_for_missing(
    missing: list[str], declared: Mapping[str, Input], context: Mapping[str, Any]
) -> str:
    for name in context:
        hint = nearest(name, missing) if name not in declared else None
        if hint:
            return f"`{name}` is given, which no input declares. {hint}"
    return "pass it, or declare it with `required: false` or a default"


def _refuse_mistyped(
    declared: Mapping[str, Input], context: Mapping[str, Any], template: str | None
) -> None:
    wrong = [
        entry
        for name, entry in declared.items()
        if context.get(name) is not None and not entry.accepts(context[name])
    ]
    if not wrong:
        return
    entry, *others = wrong
    more = "".join(f"; `{other.name}` must be {_article(other.type)}" for other in others)
    raise ContextError(
        f"input `{entry.name}` must be {_article(entry.type)}, "
        f"got `{type(context[entry.name]).__name__}`{more}",
        code="P711",
        path=f"$.{entry.name}",
        template=template,
        hint="pass a value of the declared type, or declare another",
    )


def _article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aio' else 'a'} `{kind}`"


def _undeclared(name: str, declared: Mapping[str, Input], template: str | None) -> Diagnostic:
    return Diagnostic(
        "P712",
        f"`{name}` is given, but no input declares it",
        None,
        template,
        "warning",
        nearest(name, declared) or "declare it under `inputs`, or leave it out",
    )


def _is_number(value: Any) -> bool:
    # A decimal's class is looked up by name: its module takes long to load.
    decimal = type(value).__module__ == "decimal" and type(value).__name__ == "Decimal"
    return decimal or (isinstance(value, (int, float)) and not isinstance(value, bool))


_PLAIN = frozenset((bool, dict, float, int, list, str, tuple, type(None)))

_ACCEPTS: dict[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "array": lambda value: isinstance(value, (list, tuple)),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": _is_number,
    "object": lambda value: isinstance(value, Mapping),
    "string": lambda value: isinstance(value, str),
}


def _read_integer(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError("not a whole number")
    return int(text)


def _read_number(text: str) -> int | float:
    if _WHOLE.fullmatch(text):
        return int(text)
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    return number


def _read_boolean(text: str) -> bool:
    truth = _TRUTHS.get(text.lower())
    if truth is None:
        raise ValueError("neither true nor false")
    return truth


def _read_json(kind: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        import json

        value = json.loads(text)
        if not isinstance(value, kind):
            raise ValueError("JSON of another type")
        return value

    return read


_READERS: dict[str, Callable[[str], Any]] = {
    "array": _read_json(list),
    "boolean": _read_boolean,
    "integer": _read_integer,
    "number": _read_number,
    "object": _read_json(dict),
}

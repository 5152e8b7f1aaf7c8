"""Words about variables, in one line or as Markdown."""

from __future__ import annotations

from ..lint.shapes import Shape, Variable
from . import words
from .bindings import Binding
from .words import Word

__all__ = [
    "describe_binding",
    "describe_shape",
    "describe_variable",
    "describe_word",
    "detail_of",
]


def describe_variable(variable: Variable) -> str:
    """What is known of a variable, as Markdown."""
    facts = [_given(variable)]
    facts.append("It may be absent." if variable.optional else "It is always there.")
    if variable.shape.kind == "any" and variable.source not in ("input", "slot"):
        # Of a runtime's own provider nothing but its names is known.
        facts.pop()
    text = variable.description or words.VARIABLES.get(variable.name, "")
    return _page(variable.name, describe_shape(variable.shape), text, " ".join(facts))


def _given(variable: Variable) -> str:
    source = "an input of the header" if variable.source == "input" else variable.source
    source = {"section": "the folder's facts", "slot": "the task"}.get(source, source)
    holds = f", and holds for the scope `{variable.scope}`" if variable.scope else ""
    return f"Given by {source}{holds}."


def describe_binding(binding: Binding) -> str:
    """What is known of a name that the template binds, as Markdown."""
    text = words.VARIABLES["loop"] if binding.what == "loop" else ""
    what = "" if binding.what == "loop" else f"A {binding.what} of this template."
    if binding.what[0] in "aeio":
        what = f"An {binding.what} of this template."
    return _page(binding.name, describe_shape(binding.shape), text, what)


def describe_word(name: str, kind: str, word: Word) -> str:
    """What a word of the language does, with its example, as Markdown."""
    shown = word.result.replace("\n", "⏎")
    result = f"\n\n→ `{shown}`" if shown.strip() else ""
    return f"**`{name}`** — {kind}\n\n{word.text}\n\n```jinja\n{word.example}\n```{result}"


def describe_shape(shape: Shape) -> str:
    """A shape in words, such as `list of mapping`; "" when nothing is known."""
    if shape.kind == "any":
        return ""
    if shape.kind == "list" and shape.item is not None and shape.item.kind != "any":
        return f"list of {describe_shape(shape.item)}"
    if shape.kind == "mapping" and shape.fields:
        return f"mapping with {', '.join(f'`{name}`' for name in shape.fields)}"
    return shape.kind


def detail_of(variable: Variable) -> str:
    """Source and scope of a variable in a few words."""
    return f"{variable.source}, {variable.scope}" if variable.scope else variable.source


def _page(name: str, shape: str, *paragraphs: str) -> str:
    head = f"**`{name}`**" + (f" — {shape}" if shape else "")
    return "\n\n".join((head, *filter(None, paragraphs)))

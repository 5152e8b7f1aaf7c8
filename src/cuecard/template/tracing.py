"""Tracing: the pieces of a prompt, with their places, and what was noticed on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..compiler import Compiled, SegmentPlan
from ..errors import PromptError
from ..profile import Profile
from ..prompt import Piece, Scope, widest
from ..scanner import WHITE_SPACE
from ..source import Diagnostic, Span

__all__ = [
    "absent_names",
    "as_diagnostic",
    "finish_pieces",
    "trace_piece",
    "unread_scopes",
]


def trace_piece(
    compiled: Compiled,
    plan: SegmentPlan,
    values: Mapping[str, Any],
    scopes: Mapping[str, Scope],
) -> Piece:
    """Render one part of a template, with its place and the places of its outputs."""
    text, outputs = compiled.segments().render_marked(plan, values)
    marks = tuple(
        (start, end, output.span, output.names, widest(output.names, scopes))
        for start, end, output in outputs
    )
    names = values if plan.names is None else plan.names
    return Piece(text, plan.span, plan.kind, frozenset(names), widest(names, scopes), marks)


def finish_pieces(pieces: Sequence[Piece], end: Span) -> list[Piece]:
    """The pieces of a text that ends in one newline and no other white space."""
    kept = list(pieces)
    for index in range(len(kept) - 1, -1, -1):
        # A piece that prints nothing now stays: at another turn it may print something.
        text = kept[index].text.rstrip(WHITE_SPACE)
        if text != kept[index].text:
            kept[index] = _shortened(kept[index], text)
        if text:
            break
    return [*kept, Piece("\n", end, "text", frozenset(), Scope.STATIC)]


def _shortened(piece: Piece, text: str) -> Piece:
    size = len(text)
    marks = tuple(
        (min(start, size), min(end, size), span, names, scope)
        for start, end, span, names, scope in piece.marks
    )
    return piece._replace(text=text, marks=marks)


def absent_names(
    compiled: Compiled, context: Mapping[str, Any], profile: Profile
) -> Iterator[Diagnostic]:
    """A warning for every name whose absence a lenient profile took for empty."""
    if profile.undefined == "strict":
        return
    seen: set[str] = set()
    for unit in compiled.units.values():
        for use in unit.names.uses:
            if not use.guarded and use.name not in context and use.name not in seen:
                seen.add(use.name)
                yield Diagnostic(
                    "P201",
                    f"undefined variable `{use.name}` prints nothing",
                    unit.source.span(use.node.start, use.node.end),
                    unit.source.name,
                    "warning",
                    "pass it, or guard it with `is defined` or `default`",
                )


def unread_scopes(
    scopes: Mapping[str, Scope], variables: frozenset[str], template: str
) -> Iterator[Diagnostic]:
    """A warning for scopes of names that the template does not read."""
    unread = sorted(scopes.keys() - variables)
    if unread:
        listed = ", ".join(f"`{name}`" for name in unread)
        yield Diagnostic(
            "P501",
            f"scopes are given for names that the template does not read: {listed}",
            None,
            template,
            "warning",
        )


def as_diagnostic(error: PromptError) -> Diagnostic:
    """An error as a finding."""
    return Diagnostic(error.code, error.message, error.span, error.template, "error", error.hint)

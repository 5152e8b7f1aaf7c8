"""Tracing: the pieces of a prompt, with their places, and what was noticed on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..compiler import Compiled, SegmentPlan
from ..profile import Profile
from ..prompt import Form, Marks, Scope, widest
from ..scanner import WHITE_SPACE
from ..source import Diagnostic, Source

__all__ = [
    "absent_names",
    "end_form",
    "find_marks",
    "forms_of",
    "trimmed_end",
    "unread_scopes",
]


def forms_of(
    plans: Iterable[SegmentPlan], values: Iterable[str], scopes: Mapping[str, Scope]
) -> list[Form]:
    """The segments that the parts of a template make, but for their texts.

    Args:
        plans: the parts.
        values: the names that are given, for a part of which it is not known what it reads.
        scopes: how long the values of variables hold.
    """
    forms = []
    for plan in plans:
        names = frozenset(values if plan.names is None else plan.names)
        forms.append(Form(plan.span, plan.kind, names, widest(names, scopes)))
    return forms


def find_marks(
    compiled: Compiled,
    plan: SegmentPlan,
    text: str,
    values: Mapping[str, Any],
    scopes: Mapping[str, Scope],
) -> Marks:
    """The outputs within a part; none when they cannot be found without changing its text."""
    if plan.marked is None:
        return ()
    try:
        marked, outputs = compiled.segments().render_marked(plan, values)
    except Exception:
        # With the marks it may exceed a limit that it just keeps without them.
        return ()
    if marked != text:
        return ()
    return [
        (start, end, output.span, output.names, widest(output.names, scopes))
        for start, end, output in outputs
    ]


def end_form(source: Source) -> Form:
    """The segment that ends a text whose end is trimmed: one newline."""
    end = len(source.text)
    return Form(source.span(end, end), "text", frozenset(), Scope.STATIC)


def trimmed_end(texts: Sequence[str]) -> tuple[list[str], bool]:
    """Texts without the white space at their end, and whether anything else was left."""
    trimmed = list(texts)
    for index in range(len(trimmed) - 1, -1, -1):
        trimmed[index] = trimmed[index].rstrip(WHITE_SPACE)
        if trimmed[index]:
            return trimmed, True
    return trimmed, False


def absent_names(compiled: Compiled, profile: Profile) -> dict[str, Diagnostic]:
    """For every name whose absence a lenient profile takes for empty, a warning of that."""
    found: dict[str, Diagnostic] = {}
    if profile.undefined == "strict":
        return found
    for unit in compiled.units.values():
        for use in unit.names.uses:
            if not use.guarded and use.name not in found:
                found[use.name] = Diagnostic(
                    "P201",
                    f"undefined variable `{use.name}` prints nothing",
                    unit.source.span(use.node.start, use.node.end),
                    unit.source.name,
                    "warning",
                    "pass it, or guard it with `is defined` or `default`",
                )
    return found


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

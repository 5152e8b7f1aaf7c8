"""Listing: an explanation as text, in colours for a terminal and plain for a file."""

from __future__ import annotations

from collections.abc import Iterator

from ..layout import excerpt, names_of, number, part_of, plural, styled, table, visible
from ..prompt import Scope, Segment
from .explanation import Explanation
from .wording import counter_note, lines_of, scope_name

__all__ = ["SCOPE_STYLES", "listing"]

SCOPE_STYLES = {Scope.STATIC: "32", Scope.SESSION: "36", Scope.DAY: "33", Scope.TURN: "35"}
"""Colours of a terminal, by scope."""

_MEANINGS = {
    Scope.STATIC: "as long as the agent's definition",
    Scope.SESSION: "as long as the conversation",
    Scope.DAY: "until midnight",
    Scope.TURN: "for one turn",
}
_COLUMNS = ("#", "kind", "lines", "scope", "characters", "tokens", "variables")
_RIGHT = {"#", "lines", "characters", "tokens"}
_EXCERPT = 40


def listing(explanation: Explanation, *, colour: bool = False, width: int | None = None) -> str:
    """An explanation as text: a table of the segments, and what follows from them.

    Args:
        explanation: what is to be shown.
        colour: whether to show the prompt itself before it, in a terminal's colours.
        width: columns that there are, if they are few.
    """
    lines: list[str] = []
    if colour:
        lines += [*_painted(explanation), "", _legend(), ""]
    lines += _table(explanation, colour, width)
    lines += ["", *_summary(explanation, colour)]
    return "\n".join(lines) + "\n"


def _painted(explanation: Explanation) -> list[str]:
    """The prompt in the colours of its scopes; outputs within blocks are underlined."""
    painted = "".join(
        _styled_lines(explanation.prompt.text[start:end], SCOPE_STYLES[scope] + more)
        for segment in explanation.prompt.segments
        for start, end, scope, more in _stretches(segment)
    )
    return painted.removesuffix("\n").split("\n")


def _stretches(segment: Segment) -> Iterator[tuple[int, int, Scope, str]]:
    position = segment.start
    for child in sorted(segment.children):
        if child.start >= position:
            yield position, child.start, segment.scope, ""
            yield child.start, child.end, child.scope, ";4"
            position = child.end
    yield position, segment.end, segment.scope, ""


def _styled_lines(text: str, style: str) -> str:
    return "\n".join(styled(line, style, True) for line in visible(text).split("\n"))


def _legend() -> str:
    scopes = (
        f"{styled(scope_name(scope), SCOPE_STYLES[scope], True)} {_MEANINGS[scope]}"
        for scope in Scope
    )
    return f"{'; '.join(scopes)}; {styled('underlined', '4', True)} an output within a block"


def _table(explanation: Explanation, colour: bool, width: int | None) -> list[str]:
    rows = [
        _row(explanation, index, segment)
        for index, segment in enumerate(explanation.prompt.segments, 1)
        # Literal text of which white-space control left nothing is of no interest.
        if segment.kind != "text" or segment.end > segment.start
    ]
    counted = explanation.counter is not None
    columns = [name for name in _COLUMNS if counted or name != "tokens"]
    cells = [[row[name] for name in columns] for row in rows]
    right = {columns.index(name) for name in _RIGHT.intersection(columns)}
    lines = table(columns, cells, right=right)
    lines = _with_excerpts(lines, [row["text"] for row in rows], width)
    if not colour:
        return lines
    scopes = [row["scope"] for row in rows]
    return [styled(lines[0], "1", True), *map(_with_scope, lines[1:], scopes)]


def _with_excerpts(lines: list[str], texts: list[str], width: int | None) -> list[str]:
    """The lines with a last column of excerpts, as wide as there is room."""
    used = max(map(len, lines)) + 2
    room = _EXCERPT if width is None else min(_EXCERPT, width - used)
    if room < _EXCERPT // 3:
        return lines
    last = ["text", *(excerpt(text, room) for text in texts)]
    return [(line.ljust(used) + text).rstrip() for line, text in zip(lines, last, strict=True)]


def _with_scope(line: str, scope: str) -> str:
    style = SCOPE_STYLES[Scope[scope.upper()]]
    return line.replace(f"  {scope}", f"  {styled(scope, style, True)}", 1)


def _row(explanation: Explanation, index: int, segment: Segment) -> dict[str, str]:
    start, end = segment.start, segment.end
    return {
        "#": str(index),
        "kind": segment.kind,
        "lines": lines_of(segment.span),
        "scope": scope_name(segment.scope),
        "characters": number(end - start),
        "tokens": number(explanation.tokens(start, end)),
        "variables": names_of(segment.variables),
        "text": explanation.prompt.text[start:end],
    }


def _summary(explanation: Explanation, colour: bool) -> list[str]:
    prompt, prefix = explanation.prompt, explanation.prefix
    total = len(prompt.text)
    runs = [
        f"{styled(scope_name(run.scope), SCOPE_STYLES[run.scope], colour)} "
        f"{_size(run.end - run.start, run.tokens)}"
        for run in explanation.runs
    ]
    facts = [
        ("prompt", f"{_size(total, explanation.total)}, {plural(len(prompt.segments), 'segment')}"),
        ("blocks", "; ".join(runs) or "none"),
        (
            "cacheable prefix",
            f"{_size(prefix.characters, prefix.tokens)} ({part_of(prefix.characters, total)})",
        ),
    ]
    lines = [f"{styled(f'{name}:', '1', colour)} {text}" for name, text in facts]
    if explanation.counter is not None:
        lines.append(counter_note(explanation.counter))
    return lines


def _size(characters: int, tokens: int | None) -> str:
    counted = "" if tokens is None else f", {plural(tokens, 'token')}"
    return plural(characters, "character") + counted

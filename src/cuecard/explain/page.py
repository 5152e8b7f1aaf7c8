"""Page: an explanation as one HTML page that needs nothing else, and lets nothing in.

Every text is escaped, and a policy in the page allows its own style and script, by their
hashes, and no request at all. Its layout is in `page.html`, `page.css` and `page.js`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from ..layout import part_of, plural
from ..prompt import Prefix, Scope, Segment
from .explanation import Explanation
from .links import Linked, Links, link
from .wording import counter_note, lines_of, scope_name

__all__ = ["page"]

_ESCAPES: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n\r"},
    # The parser of HTML would turn a bare one into a line feed.
    0x0D: "&#13;",
    0x22: "&quot;",
    0x26: "&amp;",
    0x27: "&#39;",
    0x3C: "&lt;",
    0x3E: "&gt;",
}


def page(explanation: Explanation) -> str:
    """The explanation as the text of an HTML page."""
    links = link(explanation.prompt, len(explanation.source.text))
    style, script = _resource("page.css"), _resource("page.js")
    parts = {
        "policy": _policy(style, script),
        "style": style,
        "script": script,
        "title": _escaped(explanation.prompt.template),
        "facts": _facts(explanation),
        "bar": _bar(explanation),
        "legend": _legend(explanation),
        "findings": _findings(explanation),
        "source": _pane(explanation, links, explanation.source.text, links.source, "s"),
        "output": _pane(explanation, links, explanation.prompt.text, links.output, "o"),
        "data": _data(explanation, links),
    }
    # In one pass, so that no text that is put in is searched for places to put something in.
    return re.sub(r"<!--(\w+)-->", lambda found: parts[found[1]], _resource("page.html"))


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _policy(*inline: str) -> str:
    style, script = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline
    )
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


# the head ----------------------------------------------------------------------------------------


def _facts(explanation: Explanation) -> str:
    prompt = explanation.prompt
    facts = [f"profile {explanation.profile}", plural(len(prompt.text), "character")]
    if explanation.total is not None:
        facts.append(plural(explanation.total, "token"))
    blocks = ", ".join(
        f"{scope_name(run.scope)} {run.end - run.start:,}" for run in explanation.runs
    )
    facts += [
        plural(len(prompt.segments), "segment"),
        f"blocks: {blocks or 'none'}",
        _front(explanation.prefix, prompt.text),
    ]
    if explanation.counter is not None:
        facts.append(counter_note(explanation.counter))
    return "".join(f"<li>{_escaped(fact)}</li>" for fact in facts)


def _front(prefix: Prefix, text: str) -> str:
    size = plural(prefix.characters, "character")
    if prefix.tokens is not None:
        size += f", {plural(prefix.tokens, 'token')}"
    return f"cacheable prefix {size} ({part_of(prefix.characters, len(text))})"


def _bar(explanation: Explanation) -> str:
    """The whole prompt as a line in the colours of its scopes."""
    total = max(1, len(explanation.prompt.text))
    rectangles = []
    for start, end, scope in _stretches(explanation.prompt.segments):
        title = f"{scope_name(scope)}, characters {start:,} to {end:,}"
        rectangles.append(
            f'<rect class="{scope_name(scope)}" x="{1000 * start / total:.2f}" y="0" '
            f'width="{1000 * (end - start) / total:.2f}" height="10"><title>{title}</title></rect>'
        )
    cut = 1000 * explanation.prefix.characters / total
    return (
        '<svg viewBox="0 0 1000 14" preserveAspectRatio="none" role="img" '
        'aria-label="The prompt from its beginning to its end, by scope">'
        f"{''.join(rectangles)}"
        f'<rect class="cut" x="{max(0.0, cut - 1):.2f}" y="0" width="2" height="14">'
        "<title>the cacheable prefix ends here</title></rect></svg>"
    )


def _stretches(segments: tuple[Segment, ...]) -> Iterator[tuple[int, int, Scope]]:
    """Runs of one scope, whatever came before them."""
    start, scope = 0, Scope.STATIC
    for segment in segments:
        if segment.end > segment.start and segment.scope != scope:
            if segment.start > start:
                yield start, segment.start, scope
            start, scope = segment.start, segment.scope
    if segments and segments[-1].end > start:
        yield start, segments[-1].end, scope


def _legend(explanation: Explanation) -> str:
    sizes = explanation.characters_by_scope
    return "".join(
        f'<li><span class="chip {scope_name(scope)}">{scope_name(scope)}</span> '
        f"{plural(sizes[scope], 'character')}</li>"
        for scope in Scope
    )


def _findings(explanation: Explanation) -> str:
    found = [
        f'<li class="{finding.severity}">{_escaped(f"{finding.severity}: {finding}")}</li>'
        for finding in explanation.prompt.diagnostics
    ]
    return f'<ul class="findings">{"".join(found)}</ul>' if found else ""


# the panes ---------------------------------------------------------------------------------------


def _pane(
    explanation: Explanation, links: Links, text: str, ranges: list[Linked], prefix: str
) -> str:
    """A text as numbered lines, in which every range carries its key."""
    line = explanation.source.first_line if prefix == "s" else 1
    cut = explanation.prefix.characters if prefix == "o" else -1
    prints = {
        key for part in links.output if part.key for key in (part.key, part.key.split(".")[0])
    }
    pieces = [f'<div class="line" data-line="{line}">']
    for index, part in enumerate(ranges):
        if part.start >= cut >= 0:
            if 0 < cut < len(text):
                pieces.append('<span class="cut"></span>')
            cut = -1
        attributes = _attributes(part.key, links, f"{prefix}{index}", prints)
        for first, piece in enumerate(text[part.start : part.end].split("\n")):
            if first:
                line += 1
                # The line break stands at the end of its line, so that the text of the pane
                # is the text.
                pieces.append(
                    f'<span{attributes}>\n</span></div><div class="line" data-line="{line}">'
                )
            if piece:
                pieces.append(f"<span{attributes}>{_escaped(piece)}</span>")
    pieces.append("</div>")
    return "".join(pieces)


def _attributes(key: str | None, links: Links, name: str, prints: set[str]) -> str:
    if key is None:
        return ""
    part = links.parts[key]
    classes = [scope_name(part.scope), part.kind]
    if "." in key:
        classes.append("inner")
    if key not in prints:
        classes.append("silent")
    return f' class="{" ".join(classes)}" data-key="{key}" data-range="{name}"'


# what the script knows ---------------------------------------------------------------------------


def _data(explanation: Explanation, links: Links) -> str:
    data = {
        "parts": {
            key: _part(part, None if "." in key else explanation.tokens(part.start, part.end))
            for key, part in links.parts.items()
        },
        "ranges": {
            f"o{index}": [part.end - part.start, explanation.tokens(part.start, part.end)]
            for index, part in enumerate(links.output)
        },
    }
    # `<` is written so that no text can end the element that holds it.
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _part(part: Segment, tokens: int | None) -> dict[str, Any]:
    return {
        "kind": part.kind,
        "lines": lines_of(part.span),
        "scope": scope_name(part.scope),
        "variables": sorted(part.variables),
        "characters": part.end - part.start,
        "tokens": tokens,
    }

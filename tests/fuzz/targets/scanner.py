"""The scanner: parts cover the source without gaps, and tokens lie within their tags."""

from __future__ import annotations

from collections.abc import Iterator

import cuecard
from cuecard.scanner import has_tags, literal_text, scan, without_dropped_newline
from cuecard.source import Source

from ..inputs import PROFILES, FuzzedDataProvider, check_error, template_of, template_seeds


def seeds() -> Iterator[bytes]:
    for number, text in enumerate(template_seeds()):
        yield text + bytes((0, number % 4))


def check(data: bytes) -> None:
    given = FuzzedDataProvider(data)
    profile = PROFILES[given.ConsumeIntInRange(0, 255) % 4]
    text = without_dropped_newline(template_of(given), profile)
    try:
        parts = scan(Source(text), profile.limits)
    except cuecard.PromptError as error:
        check_error(error, text, {"P101", "P110", "P111", "P112", "P113"})
        return
    assert has_tags(text) == any(part.kind != "text" for part in parts)
    position = 0
    for index, part in enumerate(parts):
        assert part.start == position < part.end
        position = inside = part.start
        for token in part.tokens:
            assert inside <= token.start <= token.end <= part.end
            assert text[token.start : token.end] == token.text
            inside = token.end
        position = part.end
        if part.kind in ("text", "raw"):
            literal = literal_text(
                text,
                parts,
                index,
                trim_blocks=profile.trim_blocks,
                lstrip_blocks=profile.lstrip_blocks,
            )
            assert literal in text[part.start : part.end]
    assert position == len(text)

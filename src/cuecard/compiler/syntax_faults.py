"""Syntax errors: what the engine says of a template that it does not accept, made plain."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..engine.program import EngineError
from ..errors import PromptError, TemplateError, TemplateLimitError, TemplateSyntaxError
from ..language.vocabulary import RAW_HINT, TAG_HINTS, TAGS, nearest
from ..profile import Limits
from ..scanner import BLOCKS, opens_block, scan
from ..source import Source

__all__ = ["explain_syntax"]

# What is explained here was scanned before, within its own limits.
_UNLIMITED = Limits(*[1 << 40] * 4)


def explain_syntax(error: EngineError, source: Source, offset: Callable[[int], int]) -> PromptError:
    """The error for a template that the engine does not accept.

    Args:
        error: what the engine said.
        source: the template.
        offset: from the engine's byte offsets to character offsets in the source.
    """
    if error.kind == "BadEscape":
        start, end = _escaped_text(source)
        return TemplateSyntaxError(
            "an escape in the text in quotes is invalid", source=source, start=start, end=end
        )
    if error.kind != "SyntaxError":
        return TemplateError("the engine failed on this template", code="P206", source=source)
    start, end = offset(error.start or 0), offset(error.end or 0)
    detail = error.detail
    if "maximum recursion" in detail:
        return TemplateLimitError(
            "expressions nest too deeply", code="P113", source=source, start=start, end=end
        )
    unknown = re.match(r"unknown statement (\S+)", detail)
    if unknown:
        return _unknown_tag(unknown[1], source, start, end)
    if "end of input" in detail:
        opener = _unclosed_block(source)
        if opener is not None:
            word, begin = opener
            return TemplateSyntaxError(
                f"`{{% {word} %}}` is not closed",
                source=source,
                start=begin,
                end=begin + len(word),
                hint=f"add `{{% {BLOCKS[word]} %}}`",
            )
    if re.match(r"if\b", source.text[start:]) and source.text[:start].rstrip().endswith("else"):
        return TemplateSyntaxError(
            "`else if` is no tag", source=source, start=start, end=end, hint="write `elif`"
        )
    begin = source.text.rfind("{{", 0, start + 1)
    closed = source.text.find("}}", max(begin, 0))
    in_output = begin >= 0 and (closed < 0 or closed + 2 >= start)
    empty = in_output and not source.text[begin + 2 : max(closed, begin + 2)].strip("-+ \t\r\n")
    if empty:
        return TemplateSyntaxError(
            "the output is empty",
            source=source,
            start=begin,
            end=closed + 2,
            hint="name a variable, or put the braces between `{% raw %}` and `{% endraw %}`",
        )
    return TemplateSyntaxError(
        detail or "syntax error",
        source=source,
        start=start,
        end=end,
        hint=RAW_HINT if in_output else None,
    )


def _unknown_tag(word: str, source: Source, start: int, end: int) -> TemplateSyntaxError:
    if word in ("else", "elif") or word in BLOCKS.values():
        return TemplateSyntaxError(
            f"`{{% {word} %}}` closes or continues no block", source=source, start=start, end=end
        )
    return TemplateSyntaxError(
        f"unknown tag `{word}`",
        code="P102",
        source=source,
        start=start,
        end=end,
        hint=TAG_HINTS.get(word) or nearest(word, TAGS) or RAW_HINT,
    )


def _escaped_text(source: Source) -> tuple[int, int]:
    """The first text in quotes with an escape; the engine does not say which it means."""
    for part in scan(source, _UNLIMITED):
        for token in part.tokens if part.kind in ("output", "block") else ():
            if token.kind == "string" and "\\" in token.text:
                return token.start, token.end
    return 0, 0


def _unclosed_block(source: Source) -> tuple[str, int] | None:
    open_blocks: list[tuple[str, int]] = []
    for part in scan(source, _UNLIMITED):
        if part.kind != "block" or not part.tokens:
            continue
        tag = part.tokens[0]
        if tag.text in BLOCKS.values():
            if open_blocks:
                open_blocks.pop()
        elif opens_block(part.tokens):
            open_blocks.append((tag.text, tag.start))
    return open_blocks[-1] if open_blocks else None

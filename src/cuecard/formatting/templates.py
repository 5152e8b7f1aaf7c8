"""Templates in one form: what stands inside their tags is written anew, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import TemplateError, TemplateSyntaxError
from ..language import parse
from ..language.expressions import UnreadableError
from ..profile import STRICT, Profile
from ..scanner import Part, opens_block, scan
from ..source import Source
from .spacing import styles_of

__all__ = ["format_template"]

_DELIMITERS = {"output": ("{{", "}}"), "block": ("{%", "%}")}
_BETWEEN = frozenset(("elif", "else"))
_INDENTATION = re.compile(r"(?:^|(?<=\n))[ \t]+\Z")
_AT_THE_END = re.compile(r"\r?(?:\n|\Z)")


def format_template(
    source: Source | str, *, profile: Profile = STRICT, indent: int | None = None
) -> str:
    """A template with one form inside its tags. It renders the same text as before.

    Literal text, the content of raw blocks and line breaks within tags stay as they are.

    Args:
        source: the template.
        profile: how it is rendered; this says where indentation is printed, and the limits.
        indent: by how many blanks block tags are indented for each block around them, where
            they stand alone on their line and their indentation is not printed; None leaves
            it as it is.

    Raises:
        TemplateLimitError: the template exceeds a limit of the profile.
        TemplateSyntaxError: it cannot be read.
    """
    if isinstance(source, str):
        source = Source(source)
    parts = scan(source, profile.limits)
    try:
        parse(parts)
    except UnreadableError as unreadable:
        start = unreadable.args[0]
        raise TemplateSyntaxError(
            "this tag is not understood", source=source, start=start, end=start + 2
        ) from None
    return "".join(_written(source.text, parts, profile, indent))


def _written(text: str, parts: list[Part], profile: Profile, indent: int | None) -> Iterator[str]:
    depth = 0
    for index, part in enumerate(parts):
        if part.kind == "comment":
            yield _comment(text, part)
        elif part.kind == "raw":
            yield _raw(part)
        elif part.kind != "text":
            depth = _depth_after(part, depth)
            yield _tag(text, part, profile)
        else:
            literal = text[part.start : part.end]
            following = parts[index + 1] if index + 1 < len(parts) else None
            if indent is not None and following is not None and _is_free(text, following, profile):
                level = _depth_of(following, depth)
                if part.start == 0 or "\n" in literal:
                    literal = _INDENTATION.sub("", literal) + " " * (indent * level)
            yield literal


# indentation ----------------------------------------------------------------------------------


def _is_free(text: str, tag: Part, profile: Profile) -> bool:
    """Whether a block tag stands alone on its line, and its indentation is not printed."""
    if tag.kind != "block" or not _AT_THE_END.match(text, tag.end):
        return False
    before = text[text.rfind("\n", 0, tag.start) + 1 : tag.start]
    if before.strip(" \t"):
        return False
    return tag.lead == "-" or (tag.lead == "" and profile.lstrip_blocks)


def _depth_of(tag: Part, depth: int) -> int:
    """How many blocks are around a tag."""
    word = tag.tokens[0].text
    return max(0, depth - 1) if word in _BETWEEN or word.startswith("end") else depth


def _depth_after(part: Part, depth: int) -> int:
    """How many blocks are around what follows a tag."""
    if part.kind != "block":
        return depth
    if part.tokens[0].text.startswith("end"):
        return max(0, depth - 1)
    return depth + opens_block(part.tokens)


# tags -----------------------------------------------------------------------------------------


def _tag(text: str, part: Part, profile: Profile) -> str:
    """An output or a block tag; as it is, should it not be read like before."""
    opening, closing = _DELIMITERS[part.kind]
    tokens = part.tokens
    end = part.end - len(closing) - len(part.trail)
    starts = [token.start for token in tokens] + [end]
    ends = [part.start + len(opening) + len(part.lead)] + [token.end for token in tokens]
    gaps = [_line_break(text[a:b]) for a, b in zip(ends, starts, strict=True)]
    breaks = [index for index, gap in enumerate(gaps) if gap]
    styles = styles_of(tokens, is_block=part.kind == "block", breaks=breaks)
    pieces = [opening, part.lead]
    for index, style in enumerate(styles):
        if style.text:
            blank = " " if style.space or index == 0 else ""
            pieces += (gaps[index] or blank, style.text)
    pieces += (gaps[-1] or " ", part.trail, closing)
    written = "".join(pieces)
    before = text[part.start : part.end]
    kept = [style.text for style in styles if style.text]
    return written if written == before or _is_read_as(written, part, kept, profile) else before


def _line_break(gap: str) -> str:
    """The last line break between two tokens, and the indentation behind it; else nothing."""
    if "\n" not in gap:
        return ""
    before, _, indentation = gap.rpartition("\n")
    return ("\r\n" if before.endswith("\r") else "\n") + indentation.replace("\r", "")


def _is_read_as(written: str, part: Part, kept: list[str], profile: Profile) -> bool:
    """Whether a tag has the tokens and the marks that are meant."""
    try:
        parts = scan(Source(written), profile.limits)
    except TemplateError:
        return False
    if len(parts) != 1 or (parts[0].lead, parts[0].trail) != (part.lead, part.trail):
        return False
    return [token.text for token in parts[0].tokens] == kept


def _raw(part: Part) -> str:
    after, before = part.inner
    opening = f"{{%{part.lead} raw {after}%}}"
    return f"{opening}{part.tokens[0].text}{{%{before} endraw {part.trail}%}}"


def _comment(text: str, part: Part) -> str:
    """A comment with a blank inside its delimiters; one of several lines, or a box, as it is."""
    start = part.start + 2 + len(part.lead)
    end = max(start, part.end - 2 - len(part.trail))
    content = text[start:end]
    bare = content.strip(" \t")
    if not bare or bare[0] in "\r\n#-+" or bare[-1] in "\n#-+":
        return text[part.start : part.end]
    return f"{{#{part.lead} {bare} {part.trail}#}}"

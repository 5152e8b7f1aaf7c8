"""The header under the cursor: its keys, its values, and where inputs are declared.

It is read line by line, since a header that is being typed is seldom valid YAML.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from ..agents.inputs import TYPES
from ..profile import PROFILES
from . import words

__all__ = ["HeaderPlace", "declaration_of", "header_end", "header_place"]

_RULE = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_LINE = re.compile(r"(?P<indent>[ \t]*(?:- +)?)(?P<key>[\"']?[\w-]*[\"']?)(?P<colon>[ \t]*:)?")
_INLINE = re.compile(r"[{,]\s*(?P<key>[\w-]*)(?P<value>\s*:\s*[\w-]*)?$")

Section = Literal["top", "inputs", "input"]


class HeaderPlace(NamedTuple):
    """A place in a header.

    Attributes:
        section: whether a key there is one of the header, an input's name, or a key of an
            input.
        key: the key that stands there, or whose value does.
        is_value: whether it is a value's place.
        start: where the word starts.
        end: where it ends.
        word: the word.
    """

    section: Section
    key: str
    is_value: bool
    start: int
    end: int
    word: str

    def choices(self) -> tuple[str, ...]:
        """The values that its key can have, as far as they can be listed."""
        if self.section == "top" and self.key == "profile":
            return tuple(PROFILES)
        if (self.section == "input" and self.key == "type") or self.section == "inputs":
            return tuple(dict.fromkeys(TYPES.values()))
        if self.section == "input" and self.key == "required":
            return "true", "false"
        return ()

    def keys(self, *, skill: bool) -> dict[str, str]:
        """The keys that can stand there, with what they mean."""
        if self.section == "inputs":
            return {}
        if self.section == "input":
            return words.INPUT
        return words.SKILL if skill else words.HEADER


def header_end(text: str) -> int:
    """Where the template of a file begins; 0 without a header.

    A header that is not closed goes on behind the end of the text.
    """
    start = text.startswith("\ufeff")
    opening = _RULE.match(text, start)
    if opening is None:
        return 0
    closing = _RULE.search(text, min(opening.end() + 1, len(text)))
    return len(text) + 1 if closing is None else min(closing.end() + 1, len(text))


def header_place(text: str, offset: int) -> HeaderPlace | None:
    """What stands at an offset of a header; None on its two rules and in comments."""
    line_start = text.rfind("\n", 0, offset) + 1
    line_end = text.find("\n", offset)
    line = text[line_start : line_end if line_end >= 0 else len(text)].rstrip("\r")
    if line_start <= 1 or _RULE.fullmatch(line) or line.lstrip().startswith("#"):
        return None
    column = offset - line_start
    found = _LINE.match(line)
    if found is None:
        return None
    start, end, word = _word(line, column, line_start)
    outer = _parents(text, line_start, len(found["indent"]))
    inline = _INLINE.search(line[: end - line_start])
    if inline is not None and found["colon"]:
        return _inline_place(found["key"], outer, inline, start, end, word)
    key = found["key"].strip("\"'")
    is_value = bool(found["colon"]) and column >= found.end()
    return HeaderPlace(_section(outer), key, is_value, start, end, word)


def _word(line: str, column: int, line_start: int) -> tuple[int, int, str]:
    before = re.search(r"[\w-]*$", line[:column])
    after = re.match(r"[\w-]*", line[column:])
    assert before is not None, "the pattern matches nothing too"
    assert after is not None, "the pattern matches nothing too"
    return line_start + before.start(), line_start + column + after.end(), before[0] + after[0]


def _inline_place(
    key: str, outer: list[str], inline: re.Match[str], start: int, end: int, word: str
) -> HeaderPlace | None:
    """A place in a mapping in braces."""
    inner: Section = "input" if outer else "inputs"
    if (outer[:1] or [key.strip("\"'")]) != ["inputs"]:
        return None
    return HeaderPlace(inner, inline["key"], inline["value"] is not None, start, end, word)


def _section(outer: list[str]) -> Section:
    if not outer or outer[0] != "inputs":
        return "top"
    return "inputs" if len(outer) == 1 else "input"


def _parents(text: str, line_start: int, indent: int) -> list[str]:
    """The keys that a line stands under, the outermost first."""
    parents: list[str] = []
    for line in reversed(text[:line_start].splitlines()):
        found = _LINE.match(line)
        if found is None or not found["key"] or not line.strip() or indent == 0:
            continue
        inner = len(found["indent"])
        if inner < indent:
            parents.insert(0, found["key"].strip("\"'"))
            indent = inner
        elif inner == indent and "-" in found["indent"]:
            # A list's item: its other keys stand under it.
            parents.insert(0, found["key"].strip("\"'"))
            indent = inner - 2
    return parents


def declaration_of(text: str, end: int, name: str) -> tuple[int, int] | None:
    """Where a header declares an input.

    Args:
        text: the file.
        end: where its header ends.
        name: the input.
    """
    import yaml

    start = text.find("\n") + 1
    closing = text.rfind("---", start, end)
    header = text[start : closing if closing >= 0 else end]
    try:
        root = yaml.compose(header, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    for node in _names(root):
        if node.value == name:
            begin = start + node.start_mark.index
            begin += text[begin] in "\"'"
            return begin, begin + len(name)
    return None


def _names(root: Any) -> list[Any]:
    """The nodes that name the inputs, in a mapping or in a list."""
    inputs = next((value for key, value in _pairs(root) if key.value == "inputs"), None)
    if inputs is None or inputs.id != "sequence":
        return [key for key, _ in _pairs(inputs)]
    return [value for entry in inputs.value for key, value in _pairs(entry) if key.value == "name"]


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    """Keys and values of a node of YAML; none when it is no mapping."""
    return node.value if node is not None and node.id == "mapping" else []

"""Front matter: the YAML header of a Markdown file, and the body that follows it.

The header starts on line 1 with `---` and ends at the next line that is `---`. Everything
after that line is the body, rules and further `---` blocks included. Scalars stay what the
author wrote: `version: 1.10` is the text `1.10`, `mode: on` the text `on`; only an empty
value, `~` and `null` are null.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from .errors import SpecError
from .source import Diagnostic, Source, Span

__all__ = ["Document", "read_document", "split_names"]

_RULE = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_MAX_HEADER = 1 << 18
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_NO_HEADER = Source("")
_COLON_HINT = 'quote the value: `{key}: "..."`'


class Document(NamedTuple):
    """A file that has been split.

    Attributes:
        metadata: what the header says; empty without one.
        body: the text after the header, with its place in the file.
        diagnostics: what was noticed and is no error.
        has_header: whether there is a header at all.
        header: the text up to the end of the header, with its place in the file.
    """

    metadata: dict[str, Any]
    body: Source
    diagnostics: tuple[Diagnostic, ...] = ()
    has_header: bool = False
    header: Source = _NO_HEADER

    def place(self, key: str) -> Span | None:
        """Where a key of the header stands; None when it cannot be told."""
        found = re.search(rf"^[\"']?{re.escape(key)}[\"']?[ \t]*:", self.header.text, re.MULTILINE)
        return self.header.span(found.start(), found.end() - 1) if found else None


def read_document(text: str, name: str, *, recover: bool = False) -> Document:
    """Split a file into its header and its body.

    Args:
        text: the file's text; a leading byte order mark is left out.
        name: what errors call the file.
        recover: whether a header that YAML refuses for an unquoted `: ` is read once more
            with that value quoted, and a warning.

    Raises:
        SpecError: the header is not closed (P402), or YAML refuses it (P401).
    """
    text = text.removeprefix("\ufeff")
    opening = _RULE.match(text)
    if opening is None:
        return Document({}, Source(text, name), tuple(_late_header(text, name)))
    source = Source(text, name)
    start = opening.end() + 1
    closing = _RULE.search(text, min(start, len(text)))
    if closing is None:
        raise SpecError(
            "the front matter is not closed",
            code="P402",
            source=source,
            start=0,
            end=3,
            hint="add a line `---` after it, or begin the file with an empty line",
        )
    body_start = min(closing.end() + 1, len(text))
    first_line = text.count("\n", 0, body_start) + 1
    body = Source(text[body_start:], name, first_line=first_line)
    header = _Header(source, start, closing.start(), recover)
    metadata = header.read()
    place = Source(text[: closing.start()], name)
    return Document(metadata, body, tuple(header.diagnostics), True, place)


def split_names(value: Any, *, blanks: bool = False) -> tuple[str, ...]:
    """The names in a header's value: a list of texts, or one text with commas between them.

    What stands in parentheses belongs to its name, as in `Bash(git add:*, git log:*)`.

    Args:
        value: the header's value; null holds no names.
        blanks: whether blanks part names too.

    Raises:
        ValueError: the value is something else, or its parentheses do not match. Whoever
            reads a restriction must not take that for its absence.
    """
    if value is None:
        return ()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(item.strip() for item in value if item.strip())
    if not isinstance(value, str):
        raise ValueError("must be names with commas between them, or a list of names")
    names, depth = [""], 0
    for character in value:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            break
        if depth == 0 and (character == "," or (blanks and character.isspace())):
            names.append("")
        else:
            names[-1] += character
    if depth:
        raise ValueError("has a parenthesis without its other half")
    return tuple(name.strip() for name in names if name.strip())


def _late_header(text: str, name: str) -> list[Diagnostic]:
    """A warning when a header follows that is none, because text stands before it."""
    rules = [match for _, match in zip(range(2), _RULE.finditer(text), strict=False)]
    if len(rules) < 2:
        return []
    between = text[rules[0].end() : rules[1].start()].strip()
    if not between or not all(re.match(r"[\w-]+:(\s|$)", line) for line in between.splitlines()):
        return []
    source = Source(text, name)
    return [
        Diagnostic(
            "P403",
            "this looks like front matter, but it does not start on line 1",
            source.span(rules[0].start(), rules[0].start() + 3),
            name,
            "warning",
            "move it to the start of the file",
        )
    ]


_FLAT_LINE = re.compile(r"([A-Za-z_][\w-]*):(?: +([A-Za-z0-9][^\n\t]*))?")


def _read_flat(text: str) -> dict[str, Any] | None:
    """A header of one plain `key: value` a line; None for any other, which YAML has to read.

    Most headers are of this kind, and loading a YAML library takes longer than a render.
    """
    result: dict[str, Any] = {}
    for line in text.replace("\r\n", "\n").rstrip("\n").split("\n"):
        found = _FLAT_LINE.fullmatch(line)
        if found is None or not line.isprintable() or not line.isascii() or found[1] in result:
            return None
        value = (found[2] or "").rstrip(" ")
        if ": " in value or " #" in value or value.endswith(":"):
            return None
        result[found[1]] = None if value in _NULLS else value
    return result


def _cure(problem: str, character: str) -> str:
    """What helps against a fault that YAML names, at a character."""
    if character == "\t":
        return "indent with blanks, not with tabs"
    if "expected ',' or" in problem:
        return "close the bracket, or quote the value"
    if "unexpected end of stream" in problem or "quoted scalar" in problem:
        return "close the quote"
    return "quote values that hold signs such as `: `, ` #`, `@`, `*`, `[` or `{`"


class _Header:
    """A header that is read as YAML, with the places of its faults in the file."""

    def __init__(self, source: Source, start: int, end: int, recover: bool) -> None:
        self._source = source
        self._start = start
        self._text = source.text[start:end]
        self._recover = recover
        self.diagnostics: list[Diagnostic] = []

    def read(self) -> dict[str, Any]:
        if len(self._text) > _MAX_HEADER:
            raise self._error("the front matter is too large", 0)
        if not self._text.strip():
            return {}
        flat = _read_flat(self._text)
        if flat is not None:
            return flat
        import yaml

        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        text = self._text
        try:
            try:
                node = yaml.compose(text, Loader=loader)
            except yaml.MarkedYAMLError as error:
                mended = self._mended(error)
                if mended is None:
                    raise
                text = mended
                node = yaml.compose(text, Loader=loader)
        except yaml.MarkedYAMLError as error:
            raise self._yaml_error(error) from None
        except (yaml.YAMLError, RecursionError, ValueError):
            raise self._error("the front matter is not valid YAML", 0) from None
        if node is None:
            return {}
        if not isinstance(node, yaml.MappingNode):
            self._warn("the front matter is no mapping, and is left out", 0)
            return {}
        try:
            return dict(_Construction(self, yaml).mapping(node))
        except RecursionError:
            raise self._error("the front matter is nested too deeply", 0) from None

    # a value with an unquoted colon ------------------------------------------------------------

    def _mended(self, error: Any) -> str | None:
        found = self._unquoted_colon(error)
        if not self._recover or found is None:
            return None
        start, key, value = found
        line_end = start + len(key) + 1 + len(self._text[start + len(key) + 1 :].split("\n")[0])
        self._warn(f"the value of `{key}` holds `: ` and was read as if quoted", start)
        quoted = json.dumps(value, ensure_ascii=False)
        return f"{self._text[:start]}{key}: {quoted}{self._text[line_end:]}"

    def _unquoted_colon(self, error: Any) -> tuple[int, str, str] | None:
        """Offset, key and value of the line that YAML stumbled over, if a colon is to blame."""
        mark = error.problem_mark
        if mark is None or "mapping values are not allowed" not in str(error.problem):
            return None
        lines = self._text.split("\n")
        if mark.line >= len(lines):
            return None
        found = re.match(r"([\w.-]+):[ \t]+([^\s'\"|>\[{&*!].*)$", lines[mark.line].rstrip())
        if found is None or ": " not in found[2]:
            return None
        return sum(len(line) + 1 for line in lines[: mark.line]), found[1], found[2]

    def _yaml_error(self, error: Any) -> SpecError:
        colon = self._unquoted_colon(error)
        if colon is not None:
            start, key, _ = colon
            return self._error(
                f"unquoted `: ` in the value of `{key}`", start, _COLON_HINT.format(key=key)
            )
        mark = error.problem_mark or error.context_mark
        problem = str(error.problem or error.context or "not valid YAML")
        message = f"the front matter is not valid YAML: {problem}"
        return self._error(message, self.offset(mark), _cure(problem, self._character(mark)))

    def _character(self, mark: Any) -> str:
        offset = self.offset(mark)
        return self._text[offset : offset + 1]

    # places ------------------------------------------------------------------------------------

    def offset(self, mark: Any) -> int:
        """Offset in the header of a mark of the YAML reader."""
        if mark is None:
            return 0
        lines = self._text.split("\n")
        before: int = sum(len(line) + 1 for line in lines[: mark.line]) + int(mark.column)
        return min(before, len(self._text))

    def error_at(self, message: str, mark: Any, hint: str | None = None) -> SpecError:
        """The error for a fault at a mark of the YAML reader."""
        return self._error(message, self.offset(mark), hint)

    def _error(self, message: str, offset: int, hint: str | None = None) -> SpecError:
        start = self._start + offset
        return SpecError(
            message, code="P401", source=self._source, start=start, end=start + 1, hint=hint
        )

    def _warn(self, message: str, offset: int) -> None:
        start = self._start + offset
        span = self._source.span(start, start + 1)
        self.diagnostics.append(
            Diagnostic("P401", message, span, self._source.name, "warning", "quote the value")
        )


class _Construction:
    """Plain data from YAML's nodes: text as it was written, lists and mappings."""

    def __init__(self, header: _Header, yaml: Any) -> None:
        self._header = header
        self._yaml = yaml
        self._seen: set[int] = set()

    def value(self, node: Any) -> Any:
        if isinstance(node, self._yaml.ScalarNode):
            plain = node.style is None or node.style == ""
            return None if plain and node.value in _NULLS else node.value
        if id(node) in self._seen:
            raise self._header.error_at(
                "aliases are not supported in front matter", node.start_mark, "write the value out"
            )
        self._seen.add(id(node))
        if isinstance(node, self._yaml.MappingNode):
            return self.mapping(node)
        return [self.value(item) for item in node.value]

    def mapping(self, node: Any) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, self._yaml.ScalarNode):
                raise self._header.error_at("a key must be text", key_node.start_mark)
            key = key_node.value
            if key in result:
                raise self._header.error_at(
                    f"`{key}` is given twice", key_node.start_mark, "keep one of them"
                )
            result[key] = self.value(value_node)
        return result

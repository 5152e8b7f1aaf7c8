"""Comments that switch findings off: `{# cuecard: ignore P201 #}`.

A comment on a line of its own counts for the next line that is no such comment, one behind
text for its own line, and `ignore-file` for the whole file. Without codes every finding is
meant. In a header, which has YAML's comments, `# cuecard: ignore P411` does the same.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .document import Document
from .findings import Finding

__all__ = ["Suppressions"]

_IN_BODY = re.compile(r"\{#[-+]?\s*cuecard:\s*(ignore(?:-file)?)\b([^#]*?)[-+]?#\}")
_IN_HEADER = re.compile(r"#\s*cuecard:\s*(ignore(?:-file)?)\b([^#\n]*)$", re.MULTILINE)
_CODE = re.compile(r"P\d{1,3}")


class _Comment(NamedTuple):
    line: int
    codes: tuple[str, ...]
    whole_file: bool

    def covers(self, finding: Finding) -> bool:
        if self.codes and not finding.code.startswith(self.codes):
            return False
        line = 1 if finding.span is None else finding.span.line
        return self.whole_file or line == self.line


class Suppressions:
    """The comments of one file.

    Args:
        document: the file.
    """

    def __init__(self, document: Document) -> None:
        self._comments = list(self._found(document)) if "cuecard:" in document.text else []

    def covers(self, finding: Finding) -> bool:
        """Whether a finding is switched off."""
        return any(comment.covers(finding) for comment in self._comments)

    @staticmethod
    def _found(document: Document) -> list[_Comment]:
        comments: list[_Comment] = []
        alone: set[int] = set()
        start = document.body_start
        matches = [
            *_IN_HEADER.finditer(document.text, 0, start),
            *_IN_BODY.finditer(document.text, start),
        ]
        for match in matches:
            line, _ = document.source.position(match.start())
            if document.source.line_text(line).strip() == match[0].strip():
                alone.add(line)
            codes = tuple(_CODE.findall(match[2].upper()))
            comments.append(_Comment(line, codes, match[1] == "ignore-file"))
        return [comment._replace(line=_meant(comment.line, alone)) for comment in comments]


def _meant(line: int, alone: set[int]) -> int:
    """The line that a comment counts for: the next one below comments of their own lines."""
    while line in alone:
        line += 1
    return line

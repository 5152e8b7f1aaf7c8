"""Where the word under the cursor comes from."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import PromptError
from ..files import read_text
from ..providers.discovery import GROUP
from .analysis import Analysis
from .cursor import Cursor, cursor_at
from .header import declaration_of
from .tags import tag_at

__all__ = ["Origin", "origin_at"]


class Origin(NamedTuple):
    """A place that something comes from.

    Attributes:
        path: the file; None for the file that was asked about.
        start: where it starts; in another file a line, from 0.
        end: where it ends; in another file the line again.
    """

    path: str | None
    start: int
    end: int


def origin_at(analysis: Analysis, offset: int) -> Origin | None:
    """Where the word at an offset is declared, bound or written; None when that is unknown."""
    tag = tag_at(analysis.tags, offset) if offset >= analysis.header_end else None
    if tag is None:
        return None
    cursor = cursor_at(tag, offset)
    if cursor.kind == "partial":
        return _partial(analysis, cursor.word[1:-1])
    if cursor.kind not in ("variable", "function"):
        return None
    binding = analysis.bindings(tag.start).get(cursor.word)
    if binding is not None:
        return Origin(None, binding.start, binding.end)
    declared = declaration_of(analysis.text, analysis.header_end, cursor.word)
    if declared is not None:
        return Origin(None, *declared)
    return _provided(analysis, cursor)


def _partial(analysis: Analysis, name: str) -> Origin | None:
    document = analysis.document
    if document is None or document.folder is None:
        return None
    try:
        return Origin(str(document.folder.resolve(name)), 0, 0)
    except PromptError:
        return None


def _provided(analysis: Analysis, cursor: Cursor) -> Origin | None:
    """The line of the settings that names a variable, or the source of its provider."""
    variable = analysis.variables.get(cursor.word)
    if variable is None:
        return None
    found = re.fullmatch(r"provider `(.+)`", variable.source)
    settings = analysis.checker.settings
    if settings.path is not None:
        line = _line_in_settings(settings.path, cursor.word, found[1] if found else None)
        if line is not None:
            return Origin(settings.path, line, line)
    return _installed(found[1]) if found else None


def _line_in_settings(path: str, name: str, provider: str | None) -> int | None:
    """The line, from 0, that gives a variable in the tables `variables` and `providers`."""
    try:
        lines = read_text(path).splitlines()
    except PromptError:
        return None
    key = re.compile(rf"\s*[\"']?{re.escape(name)}[\"']?\s*=|.*[\"']{re.escape(name)}[\"']")
    table = ""
    for number, line in enumerate(lines):
        header = re.match(r"\s*\[([^\[\]]+)\]", line)
        if header:
            table = header[1].replace('"', "").replace("'", "").strip()
            table = table.removeprefix("tool.cuecard.")
        wanted = ("variables", "providers", f"providers.{provider}")
        if not header and table in wanted and key.match(line):
            return number
        inline = re.match(r"\s*(?:variables|providers)(?:\.\S+)?\s*=.*", line)
        if inline and re.search(rf"\b{re.escape(name)}\b", line):
            return number
    return None


def _installed(name: str) -> Origin | None:
    """The source of a provider that an installed package names; nothing of it is run."""
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        if point.name == name:
            path = next(_files_of(point.module), None)
            if path is not None:
                return Origin(path, *[_line_of(path, point.attr)] * 2)
    return None


def _files_of(module: str) -> Iterator[str]:
    """The files that a module can be, on the paths that Python imports from."""
    relative = module.replace(".", os.sep)
    for folder in filter(None, sys.path):
        for name in (f"{relative}.py", os.path.join(relative, "__init__.py")):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                yield path


def _line_of(path: str, attribute: str) -> int:
    """The line, from 0, on which a module defines a name; 0 when it does not."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return 0
    for node in tree.body:
        names = [getattr(node, "name", "")]
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if attribute.partition(".")[0] in names:
            return node.lineno - 1
    return 0

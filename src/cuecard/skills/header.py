"""Reading the header of a file, and no more of the file than that needs."""

from __future__ import annotations

import re

from ..errors import PromptError, SpecError
from ..files import read_bytes_as_text
from ..frontmatter import Document, read_document

__all__ = ["read_header"]

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?$", re.MULTILINE)
_CLOSING = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)
_CHUNK = 1 << 13
_MOST = 1 << 20
"""Bytes: four times what `read_document` takes, whose limit counts characters."""


def read_header(path: str) -> Document:
    """The header of a file, by the rules of `read_document`; the body is left empty.

    Raises:
        PromptError: the file cannot be read (P801), or its header is not UTF-8 (P802).
        SpecError: there is no header (P404), it is not closed (P402), at least not within a
            mebibyte, or it cannot be read (P401).
    """
    try:
        head, is_open = _read_head(path)
    except OSError as error:
        raise PromptError(
            f"cannot read the file: {error.strerror or type(error).__name__}",
            code="P801",
            template=path,
        ) from error
    # What follows a header that is not closed may be anything: only its first line counts.
    text = "---\n" if is_open else read_bytes_as_text(head, path)
    document = read_document(text, path, recover=True)
    if not document.has_header:
        raise _no_header(document, path)
    return document


def _read_head(path: str) -> tuple[bytes, bool]:
    """The file up to the end of its header, and whether that is still open there.

    Of a file without a header, it is the whole lines that were read.
    """
    data, size = b"", _CHUNK
    with open(path, "rb", buffering=0) as file:
        while True:
            chunk = file.read(size)
            data += chunk
            lines = data[: data.rfind(b"\n") + 1] if chunk else data
            opening = _OPENING.match(lines)
            if opening is None and (lines or not chunk):
                return lines, False
            closing = _CLOSING.search(lines, opening.end() + 1) if opening else None
            if closing is not None:
                return lines[: closing.end() + 1], False
            if not chunk or len(data) >= _MOST:
                return lines, opening is not None
            size = len(data)


def _no_header(document: Document, path: str) -> SpecError:
    hint = "begin the file with `---`, a `name`, a `description` and `---`"
    late = next((found for found in document.diagnostics if found.code == "P403"), None)
    if late is None or late.span is None:
        return SpecError("the file has no front matter", code="P404", template=path, hint=hint)
    return SpecError(
        "the file has no front matter on line 1",
        code="P404",
        source=document.body,
        start=late.span.start,
        end=late.span.end,
        hint=late.hint,
    )

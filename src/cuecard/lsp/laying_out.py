"""Formatting a file as `cuecard fmt` does."""

from __future__ import annotations

from ..errors import PromptError
from ..formatting import format_template
from ..lint import Edit
from .analysis import Analysis
from .mending import smallest_edit

__all__ = ["laid_out"]


def laid_out(analysis: Analysis) -> Edit | None:
    """The edit that formats a file; None when there is nothing to do, or it cannot be read."""
    document = analysis.document
    if document is None or document.header_error is not None:
        return None
    try:
        body = format_template(document.body, profile=document.profile)
    except PromptError:
        return None
    return smallest_edit(analysis.text, analysis.text[: analysis.offset_in_body(0)] + body)

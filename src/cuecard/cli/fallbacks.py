"""Templates that fail and are used as they stand: warnings of Python as findings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import FallbackWarning
from ..source import Diagnostic

__all__ = ["caught_fallbacks"]


@contextmanager
def caught_fallbacks(template: str) -> Iterator[list[Diagnostic]]:
    """Collect why a template is used as it stands, if it is; other warnings are given on.

    Args:
        template: the template's name.
    """
    findings: list[Diagnostic] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FallbackWarning)
        yield findings
    for each in caught:
        if issubclass(each.category, FallbackWarning):
            findings.append(Diagnostic("P207", str(each.message), None, template, "warning"))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)

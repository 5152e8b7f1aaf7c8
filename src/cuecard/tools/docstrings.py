"""Docstrings: what a function says about itself and about its parameters."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import MissingExtraError

__all__ = ["Description", "read_docstring"]


class Description(NamedTuple):
    """A docstring that has been read.

    Attributes:
        text: its summary, and the paragraphs up to the first section.
        parameters: what it says of each parameter.
    """

    text: str
    parameters: dict[str, str]


def read_docstring(docstring: str) -> Description:
    """Read a docstring in the style of Google, NumPy or Sphinx.

    Args:
        docstring: the docstring without its indentation. An empty one needs no package.

    Raises:
        MissingExtraError: the package `docstring-parser` is not installed (P807).
    """
    if not docstring.strip():
        return Description("", {})
    try:
        import docstring_parser
    except ModuleNotFoundError:
        raise MissingExtraError(
            "the package `docstring-parser` is not installed",
            hint="pip install 'cuecard[tools]'",
        ) from None
    # The line break keeps the package from taking indentation off once more.
    found = docstring_parser.parse("\n" + docstring)
    if not found.meta:
        # Without a section all of it is prose, whose indentation the package would change.
        return Description(docstring.strip(), {})
    parameters = {
        name.strip().lstrip("*"): parameter.description.strip()
        for parameter in found.params
        if parameter.description
        for name in parameter.arg_name.split(",")  # NumPy's style describes several at once
    }
    return Description((found.description or "").strip(), parameters)

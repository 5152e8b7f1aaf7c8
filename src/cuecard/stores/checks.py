"""What ids and texts must be, so that every store can keep them."""

from __future__ import annotations

from typing import Any

from ..errors import StoreError

__all__ = ["MAX_ID", "MAX_TEXT", "check_id", "check_text", "flaw_of_text", "too_long"]

MAX_ID = 512
"""Characters of an id."""

MAX_TEXT = 1 << 20
"""Characters of a text."""


def flaw_of_text(value: Any) -> str | None:
    """What no store can keep of a value, as the end of a sentence; None when all is well.

    PostgreSQL refuses NUL, and UTF-8 has no lone surrogates.
    """
    if not isinstance(value, str):
        return f"must be text, got `{type(value).__name__}`"
    if "\0" in value:
        return "holds a NUL character"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "holds a lone surrogate, which is no character"
    return None


def check_id(what: str, value: Any) -> None:
    """Check an id.

    Args:
        what: which id it is: `agent`, `user` or `session`.
        value: the id.

    Raises:
        StoreError: it is no text of 1 to 512 characters that can be kept (P604).
    """
    flaw = flaw_of_text(value)
    if flaw is None and not 1 <= len(value) <= MAX_ID:
        flaw = "is empty" if not value else f"has {len(value):,} characters"
    if flaw is not None:
        hint = f"an id is text of 1 to {MAX_ID} characters"
        raise StoreError(f"the {what} id {flaw}", code="P604", hint=hint)


def check_text(what: str, value: Any) -> None:
    """Check a text that is to be kept.

    Raises:
        StoreError: it is no text that can be kept (P705), or too long (P704).
    """
    flaw = flaw_of_text(value)
    if flaw is not None:
        raise StoreError(f"the text of the {what} {flaw}", code="P705")
    if len(value) > MAX_TEXT:
        raise too_long(what)


def too_long(what: str) -> StoreError:
    """The error for a text beyond the bound."""
    return StoreError(
        f"the text of the {what} would be longer than {MAX_TEXT:,} characters",
        code="P704",
        hint="shorten it: all of it would go into the prompt",
    )

"""Who may do what: tokens, and the roles that they have."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from ..errors import PromptError
from ..files import read_text
from ..source import Source

__all__ = ["Access", "Grant", "Role", "read_access"]

_SHORTEST = 16


class Role(IntEnum):
    """What a token is good for. Each role may do what the ones before it may."""

    READ = 1
    """See agents, their templates and what the store holds."""
    RENDER = 2
    """Render agents, and templates of the request."""
    WRITE = 3
    """Change agent files and what the store holds."""


class Grant(NamedTuple):
    """A token's digest, and its role. The token itself is not kept."""

    digest: bytes
    role: Role


class Access:
    """The tokens of a service.

    Args:
        grants: the tokens.
    """

    def __init__(self, grants: Iterable[Grant]) -> None:
        self._grants = tuple(grants)

    def role_of(self, token: str) -> Role | None:
        """The role of a token; None for one that nobody has.

        How long it takes tells nothing of the tokens: digests are compared, each of them, in
        constant time.
        """
        digest = _digest(token)
        found = 0
        for grant in self._grants:
            found = max(found, grant.role * hmac.compare_digest(grant.digest, digest))
        return Role(found) if found else None


def read_access(path: str | os.PathLike[str]) -> Access:
    """The tokens in a file: a role and a token a line, such as `render 3f9a…`.

    Empty lines and lines that begin with `#` are left out.

    Raises:
        PromptError: the file cannot be read (P801, P802); or a line has no role of `read`,
            `render` and `write`, or a token that is shorter than 16 characters, or there is
            no token (P810). No message holds a token.
    """
    source = Source(_read(path), os.fspath(path))
    grants = []
    for number, line in enumerate(source.text.splitlines(), 1):
        words = line.split()
        if words and not words[0].startswith("#"):
            grants.append(_grant(words, source, number))
    if not grants:
        hint = "write a role and a token a line: `render TOKEN`"
        raise PromptError("no token in the file", code="P810", template=source.name, hint=hint)
    return Access(grants)


def _read(path: str | os.PathLike[str]) -> str:
    try:
        return read_text(path)
    except PromptError as error:
        # The line that is no UTF-8, which the error would show, holds a token.
        raise PromptError(
            error.message, code=error.code, template=os.fspath(path), hint=error.hint
        ) from None


def _grant(words: list[str], source: Source, line: int) -> Grant:
    role = next((role for role in Role if role.name.lower() == words[0].lower()), None)
    problem = None
    if role is None:
        problem = "the line begins with no role"
    elif len(words) != 2:
        problem = "the line is not a role and one token"
    elif len(words[1]) < _SHORTEST:
        problem = f"the token is shorter than {_SHORTEST} characters"
    if role is None or problem is not None:
        hint = "write `read TOKEN`, `render TOKEN` or `write TOKEN`"
        message = f"line {line}: {problem}"
        raise PromptError(message, code="P810", template=source.name, hint=hint)
    return Grant(_digest(words[1]), role)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()

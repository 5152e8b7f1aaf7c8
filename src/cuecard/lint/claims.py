"""Claims: what a file says that must not be said by another, such as an agent's name."""

from __future__ import annotations

from typing import NamedTuple

from ..source import Span

__all__ = ["Claim"]


class Claim(NamedTuple):
    """What a file brings to a comparison of files.

    Attributes:
        kind: what is claimed, such as `agent`.
        name: the name that is claimed.
        group: where it has to be the only one, such as a folder.
        path: the file.
        span: where the file says so.
        silent: whether a comment in the file switches findings about it off.
        code: the code of the rule that compares. It is added when the rule has run.
    """

    kind: str
    name: str
    group: str
    path: str
    span: Span | None = None
    silent: bool = False
    code: str = ""

    @property
    def what(self) -> tuple[str, str, str, str]:
        """What no two files may claim."""
        return self.code, self.kind, self.group, self.name

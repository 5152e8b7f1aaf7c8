"""What the providers of a prompt did."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["ProviderRun"]


class ProviderRun(NamedTuple):
    """What a provider did for one prompt.

    Attributes:
        provider: its name.
        state: `"called"`, `"kept"` (what it gave before still holds), `"failed"`, or
            `"skipped"` (the template reads nothing of it, or others override it).
        variables: what the prompt has from it.
        seconds: how long it took; 0 when it was not called.
        reason: why it was skipped, or what failed.
    """

    provider: str
    state: Literal["called", "kept", "failed", "skipped"]
    variables: tuple[str, ...] = ()
    seconds: float = 0.0
    reason: str | None = None

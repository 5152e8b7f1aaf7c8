"""What a service is started with."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from .access import Access

__all__ = ["LOOPBACK", "ServiceLimits", "ServiceSettings"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""The hosts that only this machine reaches."""


@dataclass(frozen=True)
class ServiceLimits:
    """Bounds on requests. What exceeds one is refused with its own code.

    Attributes:
        body: bytes of a request's body (P855, status 413).
        receiving: seconds that a request's body may take to arrive (P857, status 408).
        output: characters of a rendered text (P115, status 422).
        requests: requests that are worked on at once; more are refused (P856, status 429).
        waiting: requests that wait for a worker process; more are refused (P120, status 429).
        seconds: seconds of wall clock for what a request's own template needs (P117).
        memory: bytes that a worker process may take for it (P118).
    """

    body: int = 4 << 20
    receiving: float = 30.0
    output: int = 4_000_000
    requests: int = 512
    waiting: int = 64
    seconds: float = 5.0
    memory: int = 512 << 20


@dataclass(frozen=True)
class ServiceSettings:
    """A service: what it offers, to whom, within which bounds.

    Attributes:
        paths: agent files, and folders of them. Nothing else is read, but for `partials`,
            `workspace` and the recorded turns beside an agent's file.
        host: the address that it listens at. Any but this machine's own needs tokens.
        store: address of the store of notes, profiles and todo lists; None for none.
        access: who may do what; None for everybody, on this machine only.
        workers: processes that render the templates of requests.
        read_only: whether neither files nor the store are ever written.
        partials: a folder that agents may include from.
        workspace: the folder that agents work in.
        tools: a JSON list of tools.
        zone: the time zone of users who have none.
        entry_points: whether providers of installed packages are there.
        limits: bounds on requests.
    """

    paths: tuple[Path, ...]
    host: str = "127.0.0.1"
    store: str | None = None
    access: Access | None = None
    workers: int = field(default_factory=lambda: max(1, os.cpu_count() or 1))
    read_only: bool = False
    partials: Path | None = None
    workspace: Path | None = None
    tools: Path | None = None
    zone: str | None = None
    entry_points: bool = True
    limits: ServiceLimits = field(default_factory=ServiceLimits)

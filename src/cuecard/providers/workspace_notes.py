"""What the agent remembers of its user."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

from ..prompt import Scope
from ..stores import Store
from .contract import ProviderRequest

__all__ = ["WorkspaceNotesProvider"]


class WorkspaceNotesProvider:
    """`user_notes`, of an agent and a user, and `user_profile`, of a user; null when absent.

    They hold for the session, unless the store says that they changed.

    Args:
        store: where the notes are; None for no notes.
    """

    name = "workspace_notes"
    priority = 100
    provides: ClassVar = {"user_notes": Scope.SESSION, "user_profile": Scope.SESSION}

    def __init__(self, store: Store | None = None) -> None:
        self._store = store
        self.instant = store is None
        # Without a store nothing can change.
        self.stamp = None if store is None else self._stamp
        self.astamp = None if store is None else self._astamp

    def _stamp(self, request: ProviderRequest) -> Hashable:
        """What changes when a note or a profile does."""
        if self._store is None or request.user_id is None:
            return None
        return self._store.stamp(request.agent_id, request.user_id, None)

    async def _astamp(self, request: ProviderRequest) -> Hashable:
        if self._store is None or request.user_id is None:
            return None
        return await self._store.astamp(request.agent_id, request.user_id, None)

    def contribute(self, request: ProviderRequest) -> dict[str, Any]:
        """What is read of the notes and the profile, without white space around it."""
        store, agent, user = self._store, request.agent_id, request.user_id
        if store is None or user is None:
            return _variables(None, None)
        notes = agent is not None and _is_read("user_notes", request)
        profile = _is_read("user_profile", request)
        return _variables(
            store.notes(agent, user) if notes and agent is not None else None,
            store.profile(user) if profile else None,
        )

    async def acontribute(self, request: ProviderRequest) -> dict[str, Any]:
        """As `contribute`."""
        store, agent, user = self._store, request.agent_id, request.user_id
        if store is None or user is None:
            return _variables(None, None)
        notes = agent is not None and _is_read("user_notes", request)
        profile = _is_read("user_profile", request)
        return _variables(
            await store.anotes(agent, user) if notes and agent is not None else None,
            await store.aprofile(user) if profile else None,
        )


def _is_read(name: str, request: ProviderRequest) -> bool:
    return request.names is None or name in request.names


def _variables(notes: str | None, profile: str | None) -> dict[str, Any]:
    return {"user_notes": _stripped(notes), "user_profile": _stripped(profile)}


def _stripped(text: str | None) -> str | None:
    return (text.strip() or None) if text is not None else None

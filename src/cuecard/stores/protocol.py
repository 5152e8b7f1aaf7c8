"""The contract of a store, which is all that a renderer knows of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import NamedTuple, Protocol

from .todos import TodoItem

__all__ = ["Stamp", "Store"]


class Stamp(NamedTuple):
    """What changes when a text does. Equal stamps mean equal texts; None means no text.

    Attributes:
        notes: of the notes of an agent and a user.
        profile: of the user's profile.
        todos: of the session's todo list.
    """

    notes: Hashable = None
    profile: Hashable = None
    todos: Hashable = None


class Store(Protocol):
    """Keeps notes of an agent and a user, a profile of a user, a todo list of a session.

    Ids are text of 1 to 512 characters. A text that was never set, or was set to None, is
    None; a list that was never set is `()`. Every failure is a `StoreError`. A store may be
    used by several threads and processes at once. The twins with an `a` are the same for
    asyncio and trio.
    """

    def notes(self, agent: str, user: str) -> str | None:
        """The notes of an agent on a user."""

    def set_notes(self, agent: str, user: str, text: str | None) -> None:
        """Replace the notes; None removes them."""

    def append_note(self, agent: str, user: str, text: str) -> None:
        """Add a text to the notes, on a line of its own. Concurrent writers lose nothing."""

    def profile(self, user: str) -> str | None:
        """The profile of a user."""

    def set_profile(self, user: str, text: str | None) -> None:
        """Replace the profile; None removes it."""

    def todos(self, session: str) -> tuple[TodoItem, ...]:
        """The todo list of a session."""

    def set_todos(self, session: str, items: Iterable[TodoItem]) -> None:
        """Replace the whole list at once; `()` clears it. No reader sees a mixture."""

    def stamp(self, agent: str | None, user: str | None, session: str | None = None) -> Stamp:
        """What changes when one of the three texts does; cheaper than to read them.

        A part whose ids are not all given is None.
        """

    def close(self) -> None:
        """Free what the store holds. It cannot be used any more."""

    async def anotes(self, agent: str, user: str) -> str | None: ...  # noqa: D102
    async def aset_notes(self, agent: str, user: str, text: str | None) -> None: ...  # noqa: D102
    async def aappend_note(self, agent: str, user: str, text: str) -> None: ...  # noqa: D102
    async def aprofile(self, user: str) -> str | None: ...  # noqa: D102
    async def aset_profile(self, user: str, text: str | None) -> None: ...  # noqa: D102
    async def atodos(self, session: str) -> tuple[TodoItem, ...]: ...  # noqa: D102
    async def aset_todos(self, session: str, items: Iterable[TodoItem]) -> None: ...  # noqa: D102
    async def astamp(  # noqa: D102
        self, agent: str | None, user: str | None, session: str | None = None
    ) -> Stamp: ...
    async def aclose(self) -> None: ...  # noqa: D102

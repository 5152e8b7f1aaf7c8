"""A store made from four operations on texts under keys.

All ready stores are of this kind, and a store of your own may be. What the texts may hold,
what a todo list looks like, and the async twins are the same for all of them, and are here.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, Self

from .checks import check_id, check_text
from .protocol import Stamp
from .threads import in_thread
from .todo_lines import format_todos, parse_todos
from .todos import TodoItem, check_todos

__all__ = ["TextKey", "TextStore", "joined"]


class TextKey(NamedTuple):
    """Names a text.

    Attributes:
        kind: what it is.
        owner: id of the user, or of the session that a todo list belongs to.
        agent: id of the agent whose notes they are, else "".
    """

    kind: Literal["notes", "profile", "todos"]
    owner: str
    agent: str = ""

    @property
    def digest(self) -> str:
        """64 hexadecimal digits that stand for the key, however long its ids are."""
        return hashlib.sha256("\0".join(self).encode()).hexdigest()


def joined(before: str | None, text: str) -> str:
    """A text with another one added on a line of its own."""
    if not before:
        return text
    return f"{before}{text}" if before.endswith("\n") else f"{before}\n{text}"


def _notes_key(agent: str, user: str) -> TextKey:
    check_id("agent", agent)
    check_id("user", user)
    return TextKey("notes", user, agent)


def _profile_key(user: str) -> TextKey:
    check_id("user", user)
    return TextKey("profile", user)


def _todos_key(session: str) -> TextKey:
    check_id("session", session)
    return TextKey("todos", session)


class TextStore(ABC):
    """A `Store` that keeps each text under its key. A subclass says how, in four methods.

    What the methods are given is checked: ids of 1 to 512 characters, texts of at most
    1,048,576 characters, neither with NUL or lone surrogates. They may block: the async
    twins call them in worker threads, of asyncio or trio.
    """

    @abstractmethod
    def read(self, key: TextKey) -> str | None:
        """The text under a key."""

    @abstractmethod
    def write(self, key: TextKey, text: str | None) -> None:
        """Replace the text under a key at once; None removes it."""

    @abstractmethod
    def append(self, key: TextKey, text: str) -> None:
        """Add to the text under a key, as `joined` does, so that no other writer loses."""

    @abstractmethod
    def stamps(self, keys: Sequence[TextKey]) -> list[Hashable]:
        """For each key what changes when its text does; None where there is no text."""

    def close(self) -> None:  # noqa: B027 - many stores have nothing to free
        """Free what the store holds; nothing, unless a subclass says so."""

    # the contract ------------------------------------------------------------------------------

    def notes(self, agent: str, user: str) -> str | None:
        """The notes of an agent on a user."""
        return self.read(_notes_key(agent, user))

    def set_notes(self, agent: str, user: str, text: str | None) -> None:
        """Replace the notes; None removes them."""
        self._set(_notes_key(agent, user), text)

    def append_note(self, agent: str, user: str, text: str) -> None:
        """Add a text to the notes, on a line of its own."""
        key = _notes_key(agent, user)
        check_text("notes", text)
        self.append(key, text)

    def profile(self, user: str) -> str | None:
        """The profile of a user."""
        return self.read(_profile_key(user))

    def set_profile(self, user: str, text: str | None) -> None:
        """Replace the profile; None removes it."""
        self._set(_profile_key(user), text)

    def todos(self, session: str) -> tuple[TodoItem, ...]:
        """The todo list of a session."""
        text = self.read(_todos_key(session))
        return parse_todos(text) if text else ()

    def set_todos(self, session: str, items: Iterable[TodoItem]) -> None:
        """Replace the whole list at once; `()` clears it."""
        key = _todos_key(session)
        self._set(key, format_todos(check_todos(items)) or None)

    def stamp(self, agent: str | None, user: str | None, session: str | None = None) -> Stamp:
        """What changes when one of the three texts does."""
        keys: dict[str, TextKey] = {}
        if agent is not None and user is not None:
            keys["notes"] = _notes_key(agent, user)
        if user is not None:
            keys["profile"] = _profile_key(user)
        if session is not None:
            keys["todos"] = _todos_key(session)
        stamps = self.stamps(tuple(keys.values())) if keys else ()
        return Stamp(**dict(zip(keys, stamps, strict=True)))

    def _set(self, key: TextKey, text: str | None) -> None:
        if text is not None:
            check_text(key.kind, text)
        self.write(key, text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    # the async twins ---------------------------------------------------------------------------

    async def anotes(self, agent: str, user: str) -> str | None:
        """`notes`, in a worker thread."""
        return await in_thread(self.notes, agent, user, abandon=True)

    async def aset_notes(self, agent: str, user: str, text: str | None) -> None:
        """`set_notes`, in a worker thread."""
        await in_thread(self.set_notes, agent, user, text)

    async def aappend_note(self, agent: str, user: str, text: str) -> None:
        """`append_note`, in a worker thread."""
        await in_thread(self.append_note, agent, user, text)

    async def aprofile(self, user: str) -> str | None:
        """`profile`, in a worker thread."""
        return await in_thread(self.profile, user, abandon=True)

    async def aset_profile(self, user: str, text: str | None) -> None:
        """`set_profile`, in a worker thread."""
        await in_thread(self.set_profile, user, text)

    async def atodos(self, session: str) -> tuple[TodoItem, ...]:
        """`todos`, in a worker thread."""
        return await in_thread(self.todos, session, abandon=True)

    async def aset_todos(self, session: str, items: Iterable[TodoItem]) -> None:
        """`set_todos`, in a worker thread."""
        await in_thread(self.set_todos, session, items)

    async def astamp(
        self, agent: str | None, user: str | None, session: str | None = None
    ) -> Stamp:
        """`stamp`, in a worker thread."""
        return await in_thread(self.stamp, agent, user, session, abandon=True)

    async def aclose(self) -> None:
        """`close`, in a worker thread."""
        await in_thread(self.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: Any) -> None:
        await self.aclose()

"""Stores over time, held against a model: several handles, reopening, refusals and damage.

Each store of a machine is opened, closed and opened anew, asked by its methods and by their
twins, and its database is at times a newer one, or broken. What was kept before is there after.
"""

from __future__ import annotations

import sqlite3
import tempfile
import threading
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cuecard.errors import StoreError
from cuecard.stores import TextStore, TodoItem, joined, open_store
from cuecard.stores.checks import MAX_TEXT
from cuecard.stores.migrations import NEWEST, VERSION_TABLE

from .store_backends import Asked, address_of

SECRET = "hunter2-SECRET"
TEXTS = ("", "a", f"{SECRET}\n", " \r\n é ", "\ufeffb", "x" * 5000, "# a\n- [ ] b\n")
LISTS = (
    (),
    (TodoItem("a", "in_progress", "doing a"), TodoItem("b\n", "completed")),
    (TodoItem(SECRET), TodoItem("# a"), TodoItem("- [x] b", active_form="c")),
)
REFUSED: tuple[tuple[str, tuple[Any, ...], str], ...] = (
    ("set_notes", ("a", "ann", f"{SECRET}\0"), "P705"),
    ("append_note", ("a", "ann", f"{SECRET}\ud800"), "P705"),
    ("set_profile", ("ann", SECRET * MAX_TEXT), "P704"),
    ("append_note", ("a", "ann", "y" * (MAX_TEXT + 1)), "P704"),
    ("set_profile", ("", SECRET), "P604"),
    ("set_todos", ("s", [TodoItem(SECRET, "in_progress"), TodoItem("b", "in_progress")]), "P605"),
)
_modes = st.sampled_from(["sync", "sync", "sync", "asyncio", "trio"])
_agents, _users, _sessions = st.sampled_from("aA"), st.sampled_from(["ann", "é"]), st.just("s")
_texts = st.sampled_from(TEXTS)


class Handles(RuleBasedStateMachine):
    """One store, through a few handles that come and go.

    Attributes:
        backend: which store it is.
        kept: the model: the text of each key; a tuple for a todo list.
        stamps: what each stamp of a key stood for; none may stand for two texts.
    """

    backend: ClassVar[str]

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.address = address_of(self.backend, Path(self.folder.name))
        self.handles: list[TextStore] = [open_store(self.address)]
        self.kept: dict[tuple[str, ...], Any] = {}
        self.stamps: dict[tuple[tuple[str, ...], Any], Any] = {}

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            for handle in self.handles:
                handle.close()
            with open_store(self.address) as store:
                self.compare(store)
            self.folder.cleanup()

    def handle(self, number: int) -> TextStore:
        return self.handles[number % len(self.handles)]

    # what is done ------------------------------------------------------------------------------

    @rule(n=st.integers(0, 2), mode=_modes, agent=_agents, user=_users, text=st.none() | _texts)
    def set_notes(self, n: int, mode: str, agent: str, user: str, text: str | None) -> None:
        Asked(self.handle(n), mode).set_notes(agent, user, text)
        self.keep(("notes", agent, user), text)

    @rule(n=st.integers(0, 2), mode=_modes, agent=_agents, user=_users, text=_texts)
    def append_note(self, n: int, mode: str, agent: str, user: str, text: str) -> None:
        Asked(self.handle(n), mode).append_note(agent, user, text)
        key = ("notes", agent, user)
        self.keep(key, joined(self.kept.get(key), text))

    @rule(n=st.integers(0, 2), mode=_modes, user=_users, text=st.none() | _texts)
    def set_profile(self, n: int, mode: str, user: str, text: str | None) -> None:
        Asked(self.handle(n), mode).set_profile(user, text)
        self.keep(("profile", user), text)

    @rule(n=st.integers(0, 2), mode=_modes, items=st.sampled_from(LISTS))
    def set_todos(self, n: int, mode: str, items: tuple[TodoItem, ...]) -> None:
        Asked(self.handle(n), mode).set_todos("s", items)
        self.keep(("todos", "s"), items or None)

    @rule(agent=_agents, user=_users)
    def add_at_once(self, agent: str, user: str) -> None:
        """Two handles, two threads, one text: both notes are there, in either order."""
        one, other = self.handles[0], self.handles[-1]
        threads = [
            threading.Thread(target=store.append_note, args=(agent, user, line))
            for store, line in ((one, "one"), (other, "other"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        key = ("notes", agent, user)
        before = self.kept.get(key)
        possible = {
            joined(joined(before, first), second)
            for first, second in (("one", "other"), ("other", "one"))
        }
        found = one.notes(agent, user)
        assert found in possible
        self.keep(key, found)

    @rule(n=st.integers(0, 2), mode=_modes, case=st.sampled_from(REFUSED))
    def refuse(self, n: int, mode: str, case: tuple[str, tuple[Any, ...], str]) -> None:
        """What is refused changes nothing, and is not shown."""
        operation, arguments, code = case
        self.fails(code, lambda: Asked(self.handle(n), mode).ask(operation, *arguments))

    def keep(self, key: tuple[str, ...], value: Any) -> None:
        if value is None:
            self.kept.pop(key, None)
        else:
            self.kept[key] = value

    def fails(self, code: str, call: Callable[[], Any]) -> None:
        with pytest.raises(StoreError) as caught:
            call()
        assert caught.value.code == code
        assert SECRET not in caught.value.report()

    # handles -----------------------------------------------------------------------------------

    @precondition(lambda self: len(self.handles) < 3)
    @rule()
    def open_another(self) -> None:
        self.handles.append(open_store(self.address))

    @rule(n=st.integers(0, 2), mode=_modes)
    def close_one(self, n: int, mode: str) -> None:
        """A closed handle says so; the others go on, and so does the next one."""
        handle = self.handle(n)
        Asked(handle, mode).close()
        self.fails("P601", lambda: Asked(handle, mode).profile("ann"))
        self.handles[self.handles.index(handle)] = open_store(self.address)

    # damage ------------------------------------------------------------------------------------

    @contextmanager
    def changed(self, change: str, back: str) -> Any:
        """The database while a statement has changed it, which another one takes back."""
        if self.backend == "sqlite":
            connection: Any = sqlite3.connect(
                self.address.removeprefix("sqlite:"), isolation_level=None
            )
        else:
            connection = psycopg.connect(self.address, autocommit=True)
        connection.execute(change)
        yield
        connection.execute(back)
        connection.close()

    @precondition(lambda self: self.backend != "files" and self.kept)
    @rule(n=st.integers(0, 2))
    def meet_a_newer_version(self, n: int) -> None:
        """A database that a newer cuecard has changed is left alone by whoever opens it."""
        update = f"UPDATE {VERSION_TABLE} SET version_num = '{{}}'".format
        with self.changed(update("9999"), update(NEWEST)), open_store(self.address) as store:
            self.fails("P603", lambda: store.profile("ann"))
            self.fails("P603", lambda: store.set_profile("ann", SECRET))

    @precondition(lambda self: self.backend != "files" and self.kept)
    @rule(n=st.integers(0, 2))
    def lose_the_table(self, n: int) -> None:
        """A store whose table is gone says so, at every handle, and goes on when it is back."""
        with self.changed(
            "ALTER TABLE cuecard_entries RENAME TO hidden",
            "ALTER TABLE hidden RENAME TO cuecard_entries",
        ):
            self.fails("P607", lambda: self.handle(n).append_note("a", "ann", SECRET))
            self.fails("P607", lambda: self.handle(n).stamp("a", "ann", "s"))

    @precondition(lambda self: self.backend == "sqlite" and self.kept)
    @rule()
    def damage_the_file(self) -> None:
        """A damaged database is an error, and a copy that is put back is all that was kept."""
        for handle in self.handles:
            handle.close()
        path = Path(self.address.removeprefix("sqlite:"))
        whole = path.read_bytes()
        path.write_bytes(b"\xff" * 100 + whole[100:])
        with open_store(self.address) as store:
            self.fails("P607", lambda: store.profile("ann"))
            self.fails("P607", lambda: store.set_profile("ann", SECRET))
        path.write_bytes(whole)
        self.handles = [open_store(self.address)]

    @precondition(lambda self: self.backend == "files")
    @rule(n=st.integers(0, 2), text=_texts)
    def damage_a_file(self, n: int, text: str) -> None:
        """A file that is no text is an error for who reads or adds, and can be replaced."""
        store = self.handle(n)
        store.set_profile("ann", text)
        path = Path(self.folder.name, "files", "profiles", "ann.md")
        path.write_bytes(SECRET.encode() + b"\xff\xfe")
        self.fails("P607", lambda: store.profile("ann"))
        assert store.stamp(None, "ann").profile is not None
        store.set_profile("ann", text)
        self.keep(("profile", "ann"), text)

    # what must hold ----------------------------------------------------------------------------

    @invariant()
    def is_as_the_model(self) -> None:
        if hasattr(self, "folder"):
            self.compare(self.handles[-1])

    def compare(self, store: TextStore) -> None:
        assert store.todos("s") == self.kept.get(("todos", "s"), ())
        for user in ("ann", "é"):
            assert store.profile(user) == self.kept.get(("profile", user))
            for agent in "aA":
                assert store.notes(agent, user) == self.kept.get(("notes", agent, user))
                stamp = store.stamp(agent, user, "s")
                keys = (("notes", agent, user), ("profile", user), ("todos", "s"))
                for key, part in zip(keys, stamp, strict=True):
                    value = self.kept.get(key)
                    assert (part is None) == (value is None)
                    assert self.stamps.setdefault((key, part), value) == value


class Files(Handles):
    backend = "files"


class SQLite(Handles):
    backend = "sqlite"


class PostgreSQL(Handles):
    backend = "postgresql"


_settings = settings(
    max_examples=10,
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestFiles = Files.TestCase
TestSQLite = SQLite.TestCase
TestPostgreSQL = PostgreSQL.TestCase
TestFiles.settings = TestSQLite.settings = TestPostgreSQL.settings = _settings

"""The SQL stores: their migrations, and what is said when a database fails."""

import pickle
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import psycopg.errors
import pytest
from sqlalchemy import inspect

from cuecard.errors import StoreError
from cuecard.stores import PostgresStore, SQLiteStore, TextKey, TextStore, open_store
from cuecard.stores.migrations import NEWEST, VERSION_TABLE, migrate
from cuecard.stores.sql_errors import store_error
from cuecard.stores.sql_store import SQLStore
from cuecard.stores.statements import ENTRIES

from .store_backends import address_of, open_folder, postgres_address, write_limited

__all__ = ["open_folder"]

REVISIONS = ["0001", "0002"]
KEY = TextKey("notes", "ann", "agent")


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a blank database of each kind."""
    return address_of(request.param, tmp_path)


@pytest.fixture
def execute(address: str) -> Iterator[Callable[..., list[Any]]]:
    """Runs a statement in the database, past the store."""
    if address.startswith("sqlite:"):
        connection: Any = sqlite3.connect(address.removeprefix("sqlite:"), isolation_level=None)
        mark = "?"
    else:
        connection = psycopg.connect(address, autocommit=True)
        mark = "%s"

    def call(statement: str, *values: Any) -> list[Any]:
        cursor = connection.execute(statement.replace("?", mark), values)
        return list(cursor.fetchall()) if cursor.description else []

    yield call
    connection.close()


def make_version(address: str, version: str) -> None:
    """A database as the cuecard of that version left it."""
    store = open_store(address)
    assert isinstance(store, SQLStore)
    engine = store._make_engine()
    with engine.execution_options(isolation_level="SERIALIZABLE").begin() as connection:
        migrate(connection, version)
    engine.dispose()


def columns(address: str) -> dict[str, tuple[str, bool]]:
    """Type and nullability of each column of the table."""
    store = open_store(address)
    assert isinstance(store, SQLStore)
    engine = store._make_engine()
    found = inspect(engine).get_columns("cuecard_entries")
    engine.dispose()
    return {column["name"]: (str(column["type"]), column["nullable"]) for column in found}


class TestMigrations:
    def test_are_all_known(self) -> None:
        """The files are one line of steps, and the last is the version of the code."""
        folder = Path(sys.modules[migrate.__module__].__file__ or "").parent
        files = sorted(path.stem for path in folder.glob("revision_*.py"))
        assert files == [f"revision_{number}" for number in REVISIONS]
        assert REVISIONS[-1] == NEWEST

    @pytest.mark.parametrize("version", [None, *REVISIONS])
    def test_from_blank_and_from_every_version(
        self, address: str, execute: Callable[..., list[Any]], version: str | None
    ) -> None:
        """Whatever the database was, its texts are kept and the tables are the newest."""
        if version is not None:
            make_version(address, version)
            execute(
                "INSERT INTO cuecard_entries (key, kind, owner, agent, content)"
                " VALUES (?, ?, ?, ?, ?)",
                *(KEY.digest, *KEY, "old"),
            )
        with open_store(address) as store:
            assert store.notes("agent", "ann") == (version and "old")
            before = store.stamp("agent", "ann")
            assert (before.notes is None) == (version is None)
            store.append_note("agent", "ann", "new")
            assert store.notes("agent", "ann") == ("old\nnew" if version else "new")
            assert store.stamp("agent", "ann") != before
        assert execute(f"SELECT version_num FROM {VERSION_TABLE}") == [(NEWEST,)]
        assert columns(address).keys() == {column.name for column in ENTRIES.columns}
        assert {name: nullable for name, (_, nullable) in columns(address).items()} == {
            column.name: column.nullable for column in ENTRIES.columns
        }

    def test_rows_can_be_read_by_a_person(
        self, address: str, execute: Callable[..., list[Any]]
    ) -> None:
        """A row says whose text it is, and when it changed."""
        with open_store(address) as store:
            store.set_notes("agent", "ann", "a")
        (row,) = execute("SELECT kind, owner, agent, content, updated_at FROM cuecard_entries")
        assert row[:4] == ("notes", "ann", "agent", "a")
        assert row[4]

    @pytest.mark.parametrize("newer", ["0003", "9999", "10000"])
    def test_newer_version(
        self, address: str, execute: Callable[..., list[Any]], newer: str
    ) -> None:
        """A database of a newer cuecard is left alone, and the remedy said."""
        with open_store(address) as store:
            store.set_notes("agent", "ann", "a")
        execute(f"UPDATE {VERSION_TABLE} SET version_num = '{newer}'")
        with open_store(address) as store, pytest.raises(StoreError) as caught:
            store.notes("agent", "ann")
        assert (caught.value.code, caught.value.hint) == ("P603", "update cuecard")
        assert newer in caught.value.message
        assert execute(f"SELECT version_num FROM {VERSION_TABLE}") == [(newer,)]

    @pytest.mark.parametrize(
        "statement",
        [
            f"UPDATE {VERSION_TABLE} SET version_num = 'abc'",
            f"UPDATE {VERSION_TABLE} SET version_num = '0000'",
            f"DELETE FROM {VERSION_TABLE}",
            f"DROP TABLE {VERSION_TABLE}",
            "DROP TABLE cuecard_entries",
            "ALTER TABLE cuecard_entries DROP COLUMN content",
        ],
    )
    def test_other_tables(
        self, address: str, execute: Callable[..., list[Any]], statement: str
    ) -> None:
        """Tables that are not as a store leaves them are an error, and are not mended."""
        with open_store(address) as store:
            store.set_notes("agent", "ann", "a")
        execute(statement)
        with open_store(address) as store, pytest.raises(StoreError) as caught:
            store.notes("agent", "ann")
        assert caught.value.code == "P607"

    def test_a_failed_migration_leaves_nothing(
        self, address: str, execute: Callable[..., list[Any]]
    ) -> None:
        """A step that fails takes back the steps before it."""
        make_version(address, "0001")
        execute("ALTER TABLE cuecard_entries ADD COLUMN updated_at TEXT")
        with open_store(address) as store, pytest.raises(StoreError, match="P607"):
            store.notes("agent", "ann")
        assert "stamp" not in columns(address)
        execute("ALTER TABLE cuecard_entries DROP COLUMN updated_at")
        with open_store(address) as store:
            assert store.notes("agent", "ann") is None

    def test_tables_beside_those_of_others(
        self, address: str, execute: Callable[..., list[Any]]
    ) -> None:
        """A store may live in the database of an application."""
        execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")
        execute("INSERT INTO alembic_version VALUES ('theirs')")
        with open_store(address) as store:
            store.set_profile("ann", "a")
        assert execute("SELECT * FROM alembic_version") == [("theirs",)]


class TestSQLite:
    def test_uses_the_write_ahead_log(self, tmp_path: Path) -> None:
        """Readers do not wait for a writer, who holds the file."""
        with SQLiteStore(tmp_path / "a.db") as store:
            store.set_profile("ann", "a")
            other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
            assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            other.execute("BEGIN IMMEDIATE")
            assert store.profile("ann") == "a"
            other.close()

    @pytest.mark.parametrize("blank", [True, False])
    def test_locked(self, tmp_path: Path, blank: bool) -> None:
        """Who waits longer than the limit for another writer is told, at opening too."""
        with SQLiteStore(tmp_path / "a.db", timeout=0.2) as store:
            if not blank:
                store.set_profile("ann", "a")
            other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            begun = time.monotonic()
            with pytest.raises(StoreError, match="locked for too long") as caught:
                store.set_profile("ann", "b")
            assert 0.15 < time.monotonic() - begun < 5
            assert caught.value.code == "P601"
            assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
            other.execute("ROLLBACK")
            other.close()
            store.set_profile("ann", "b")
            assert store.profile("ann") == "b"

    @pytest.mark.parametrize(
        ("data", "place"),
        [(b"# no database\n" * 100, 0), (b"\xff" * 4096, 4096), (b"\xff" * 100, 0)],
        ids=["text", "page", "header"],
    )
    def test_damaged(self, tmp_path: Path, data: bytes, place: int) -> None:
        """A file that is no database, or a damaged one, is said to be that."""
        path = tmp_path / "a.db"
        with SQLiteStore(path) as store:
            store.set_profile("ann", "a" * 20_000)
        with open(path, "r+b") as file:
            file.seek(place)
            file.write(data)
        with SQLiteStore(path) as store, pytest.raises(StoreError) as caught:
            store.profile("ann")
        assert caught.value.code == "P607"
        assert caught.value.template == f"sqlite:{path}"

    @pytest.mark.parametrize("name", [".", "no/such/folder.db"])
    def test_file_that_cannot_be_opened(self, tmp_path: Path, name: str) -> None:
        """A folder, and a file in a folder that is missing, cannot be opened."""
        with SQLiteStore(tmp_path / name) as store, pytest.raises(StoreError) as caught:
            store.profile("ann")
        assert (caught.value.code, caught.value.hint) == ("P601", "does its folder exist?")

    @pytest.mark.parametrize("how", ["read-only", "full"])
    def test_file_that_cannot_be_written(self, open_folder: Path, how: str) -> None:
        """Without permission, or without room, a write fails, and the old text stays."""
        path = open_folder / "a.db"
        with SQLiteStore(path) as store:
            store.set_profile("ann", "a")
        if how == "read-only":
            path.chmod(0o444)
            # Whoever reads needs the log's index, so the folder is not closed.
            open_folder.chmod(0o777)
        found = write_limited(f"sqlite:{path}", how, largest=path.stat().st_size + 40_000)
        assert found == ["P606", "OperationalError"]
        with SQLiteStore(path) as store:
            assert store.profile("ann") == "a"

    def test_odd_names(self, tmp_path: Path) -> None:
        """A name is a name, whatever an address would make of it."""
        for name in ("a?mode=ro.db", "a%20b#c.db", "file:a.db"):
            with open_store(f"sqlite:{tmp_path}/{name}") as store:
                store.set_profile("ann", "a")
            assert (tmp_path / name).is_file()


def with_options(address: str, options: str) -> str:
    return address + options.replace(" ", "%20").replace("=", "%3D")


class TestPostgreSQL:
    @pytest.fixture
    def url(self) -> str:
        return postgres_address()

    @pytest.mark.parametrize(
        ("change", "hint"),
        [
            (("?host=/", "?host=/no/such/folder/"), "is it running"),
            (("@/postgres?host", "@127.0.0.1:9/postgres?hostaddr=127.0.0.1&x"), "is it running"),
            (("/postgres?", "/nosuchdb?"), "is it running"),
            (("postgres:@", "nobody:SECRET@"), "is it running"),
        ],
        ids=["no-socket", "no-server", "no-database", "no-user"],
    )
    def test_that_cannot_be_reached(self, url: str, change: tuple[str, str], hint: str) -> None:
        """Down, refused or absent: an error with the remedy, and without the address."""
        wrong = url.replace(*change).replace("&x=", "&application_name=")
        with PostgresStore(wrong, timeout=1) as store, pytest.raises(StoreError) as caught:
            store.profile("ann")
        assert caught.value.code == "P601"
        assert hint in (caught.value.hint or "")
        assert isinstance(caught.value.__cause__, psycopg.Error)
        shown = "".join(traceback.format_exception(caught.value)) + repr(store)
        assert "SECRET" not in shown

    def test_locked_table(self, url: str) -> None:
        """A table that another holds is waited for no longer than the limit."""
        with PostgresStore(url, timeout=0.3) as store, psycopg.connect(url) as other:
            store.set_profile("ann", "a")
            other.execute("LOCK TABLE cuecard_entries IN ACCESS EXCLUSIVE MODE")
            begun = time.monotonic()
            for call in (lambda: store.profile("ann"), lambda: store.stamp(None, "ann")):
                with pytest.raises(StoreError, match="P601") as caught:
                    call()
                assert caught.value.message.startswith("the database ")
            assert time.monotonic() - begun < 5
            other.rollback()
            assert store.profile("ann") == "a"

    @pytest.mark.parametrize("blank", [True, False])
    def test_read_only(self, url: str, blank: bool) -> None:
        """A server that takes no changes is read, and says so at a write."""
        if not blank:
            with PostgresStore(url) as store:
                store.set_profile("ann", "a")
        standby = with_options(url, " -c default_transaction_read_only=on")
        with PostgresStore(standby) as store:
            if not blank:
                assert store.profile("ann") == "a"
            with pytest.raises(StoreError, match="read-only") as caught:
                store.set_profile("ann", "b")
            assert caught.value.code == "P606"

    def test_lost_connections(self, url: str) -> None:
        """After a restart of the server, which ends all connections, the next call works."""
        with PostgresStore(f"{url}&application_name=lost") as store:
            store.set_profile("ann", "a")
            with psycopg.connect(url, autocommit=True) as other:
                ended = other.execute(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                    " WHERE application_name = 'lost'"
                ).fetchall()
            assert ended == [(True,)]
            assert store.profile("ann") == "a"

    def test_bounded_connections(self, url: str) -> None:
        """No more connections are open than allowed, whatever asks; who waits too long is told."""
        store = PostgresStore(
            f"{url}&application_name=bounded", timeout=0.5, connections=2, extra_connections=1
        )
        with store, psycopg.connect(url) as other:
            store.set_profile("ann", "a")
            other.execute("LOCK TABLE cuecard_entries IN ACCESS EXCLUSIVE MODE")
            codes: list[str] = []

            def read() -> None:
                try:
                    store.profile("ann")
                except StoreError as error:
                    codes.append(error.code)

            threads = [threading.Thread(target=read) for _ in range(12)]
            for thread in threads:
                thread.start()
            time.sleep(0.2)
            with psycopg.connect(url) as third:
                count = third.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bounded'"
                ).fetchone()
            for thread in threads:
                thread.join(30)
            assert count == (3,)
            assert codes == ["P601"] * 12
            other.rollback()
            assert store.profile("ann") == "a"


class TestErrors:
    @pytest.mark.parametrize(
        "statement",
        ["DROP TABLE cuecard_entries", "ALTER TABLE cuecard_entries DROP COLUMN owner"],
    )
    def test_show_no_value(
        self, address: str, execute: Callable[..., list[Any]], statement: str
    ) -> None:
        """Neither the error nor its causes show an id or a text, and it pickles."""
        with open_store(address) as store:
            store.set_notes("agent", "ann", "a")
            execute(statement)
            values = [f"SECRET{n}" for n in range(3)]
            with pytest.raises(StoreError) as caught:
                store.set_notes(*values)
        error = caught.value
        assert error.code == "P607"
        assert isinstance(error.__cause__, sqlite3.Error | psycopg.Error)
        shown = "".join(traceback.format_exception(error))
        assert not any(value in shown for value in values)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)

    @pytest.mark.parametrize(
        ("name", "code"),
        [
            ("SQLITE_BUSY", "P601"),
            ("SQLITE_BUSY_SNAPSHOT", "P601"),
            ("SQLITE_LOCKED_SHAREDCACHE", "P601"),
            ("SQLITE_CANTOPEN_ISDIR", "P601"),
            ("SQLITE_IOERR_READ", "P601"),
            ("SQLITE_NOMEM", "P601"),
            ("SQLITE_IOERR_WRITE", "P606"),
            ("SQLITE_READONLY_DIRECTORY", "P606"),
            ("SQLITE_FULL", "P606"),
            ("SQLITE_PERM", "P606"),
            ("SQLITE_NOTADB", "P607"),
            ("SQLITE_CORRUPT_INDEX", "P607"),
            ("SQLITE_ERROR", "P607"),
        ],
    )
    def test_of_sqlite(self, name: str, code: str) -> None:
        """Each of SQLite's errors is the failure that it is, and named."""
        driver = sqlite3.OperationalError("SECRET")
        driver.sqlite_errorname = name
        error = store_error(driver, "sqlite:a.db")
        assert error.code == code
        assert name in error.message
        assert "SECRET" not in error.report()

    @pytest.mark.parametrize(
        ("driver", "code"),
        [
            (psycopg.OperationalError, "P601"),
            (psycopg.errors.ConnectionFailure, "P601"),
            (psycopg.errors.AdminShutdown, "P601"),
            (psycopg.errors.InvalidPassword, "P601"),
            (psycopg.errors.InvalidCatalogName, "P601"),
            (psycopg.errors.TooManyConnections, "P601"),
            (psycopg.errors.LockNotAvailable, "P601"),
            (psycopg.errors.QueryCanceled, "P601"),
            (psycopg.errors.DeadlockDetected, "P601"),
            (psycopg.errors.UntranslatableCharacter, "P601"),
            (psycopg.errors.ReadOnlySqlTransaction, "P606"),
            (psycopg.errors.DiskFull, "P606"),
            (psycopg.errors.InsufficientPrivilege, "P606"),
            (psycopg.errors.UndefinedTable, "P607"),
            (psycopg.errors.DataCorrupted, "P607"),
        ],
    )
    def test_of_postgresql(self, driver: type[psycopg.Error], code: str) -> None:
        """Each of PostgreSQL's errors is the failure that it is, with its state."""
        error = store_error(driver("SECRET"), "postgresql")
        assert error.code == code
        assert (driver.sqlstate or "") in error.message
        assert "SECRET" not in error.report()


FORK = """
import os, sys
from cuecard.stores import open_store
store = open_store(sys.argv[1])
store.set_profile("ann", "a")
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        for _ in range(20):
            store.append_note("agent", "ann", str(number))
            assert store.profile("ann") == "a"
        store.close()
        os._exit(0)
    children.append(child)
for _ in range(20):
    assert store.profile("ann") == "a"
print([os.waitpid(child, 0)[1] for child in children], len(store.notes("agent", "ann")))
"""


def test_a_forked_process_has_connections_of_its_own(address: str) -> None:
    """A store that was opened before a fork works in both processes."""
    assert run(FORK, address) == f"[0, 0, 0] {60 * 2 - 1}\n"


MISSING = """
import sys
sys.modules[sys.argv[2]] = None
from cuecard.errors import MissingExtraError
from cuecard.stores import open_store
try:
    store = open_store(sys.argv[1])
    if sys.argv[2] == "anyio":
        store.anotes("a", "u").send(None)
    store.notes("a", "u")
except MissingExtraError as error:
    print(error.code, error.hint)
"""


@pytest.mark.parametrize(
    ("address", "package", "extra"),
    [
        ("sqlite::memory:", "sqlalchemy", "stores"),
        ("sqlite::memory:", "alembic", "stores"),
        ("postgresql://host/db", "psycopg", "postgres"),
        ("file:notes", "anyio", "live"),
    ],
)
def test_missing_package(address: str, package: str, extra: str) -> None:
    """Without an optional package the error says which extra brings it."""
    assert run(MISSING, address, package) == f"P807 pip install 'cuecard[{extra}]'\n"


def test_import_is_light() -> None:
    """Importing the stores, and using files, loads no database, driver or event loop."""
    code = """
import sys
from cuecard.stores import open_store
open_store("file:no-such-folder").notes("agent", "ann")
print({"sqlalchemy", "alembic", "psycopg", "sqlite3", "anyio", "asyncio"} & set(sys.modules))
"""
    assert run(code) == "set()\n"


def run(code: str, *arguments: str) -> str:
    """What code prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_store_is_shown_without_its_address() -> None:
    """`repr` says which store it is, without the password."""
    stores: list[TextStore] = [
        open_store("postgresql://ann:SECRET@host/db"),
        open_store("sqlite:a.db"),
        open_store("file:notes"),
    ]
    shown = [repr(store) for store in stores]
    assert shown == [
        "PostgresStore('postgresql')",
        "SQLiteStore('sqlite:a.db')",
        "FileStore('notes')",
    ]

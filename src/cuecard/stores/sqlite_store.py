"""The default store: one SQLite file."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from .sql_store import SQLStore

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["SQLiteStore"]


class SQLiteStore(SQLStore):
    """Keeps texts in an SQLite file, with a write-ahead log: readers never wait.

    Args:
        path: the file, made when it is missing; `:memory:` for one that lives as long as the
            store.
        timeout: seconds to wait for another writer.
        connections: how many may be open at once.

    Raises:
        MissingExtraError: SQLAlchemy is not installed (P807).
        StoreError: from the operations. P601 when the file cannot be opened or is locked,
            P603 when it is of a newer version, P606 when it cannot be written, P607 when it
            is damaged or something else.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, timeout: float = 5.0, connections: int = 5
    ) -> None:
        self.path = os.fspath(path)
        super().__init__(f"sqlite:{self.path}", timeout)
        # Each connection to `:memory:` would have a database of its own.
        self._connections = 1 if self.path == ":memory:" else connections

    def _make_engine(self) -> Engine:
        from sqlalchemy import URL, QueuePool, create_engine

        return create_engine(
            URL.create("sqlite", database=self.path),
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
            poolclass=QueuePool,
            pool_size=self._connections,
            max_overflow=0,
            pool_timeout=self._timeout,
            pool_reset_on_return=None,
            connect_args={"timeout": self._timeout, "check_same_thread": False},
        )

    def _migrate(self, engine: Engine) -> None:
        from .migrations import is_newest, migrate

        with engine.connect() as connection:
            self._use_log(connection)
        with engine.begin() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            if not is_newest(connection, self._name):
                migrate(connection)

    def _use_log(self, connection: Connection) -> None:
        """Switch to the write-ahead log, which SQLite does not wait for when it is locked."""
        from sqlalchemy.exc import OperationalError

        deadline = time.monotonic() + self._timeout
        while True:
            try:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL").all()
                return
            except OperationalError as error:
                name = getattr(error.orig, "sqlite_errorname", "")
                if name != "SQLITE_BUSY" or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

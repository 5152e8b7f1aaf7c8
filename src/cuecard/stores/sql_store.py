"""What the SQL stores share: opening, and the four operations as statements."""

from __future__ import annotations

import os
import threading
import uuid
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import MissingExtraError, StoreError
from .checks import too_long
from .text_store import TextKey, TextStore

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from .statements import Statements

__all__ = ["SQLStore"]


class _Open(NamedTuple):
    """An engine whose tables are there, the statements for it, and the process it is of."""

    engine: Engine
    statements: Statements
    process: int


class SQLStore(TextStore):
    """A store in the table `cuecard_entries` of a database, which is opened at first use.

    Args:
        name: what errors call the store.
        timeout: seconds to wait for a connection, a lock or an answer.

    Raises:
        MissingExtraError: SQLAlchemy is not installed (P807).
    """

    def __init__(self, name: str, timeout: float) -> None:
        try:
            import sqlalchemy  # noqa: F401
        except ModuleNotFoundError:
            raise MissingExtraError(
                "SQL stores need the package `sqlalchemy`", hint="pip install 'cuecard[stores]'"
            ) from None
        self._name = name
        self._timeout = timeout
        self._opening = threading.Lock()
        self._open: _Open | None = None
        self._is_closed = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"

    @abstractmethod
    def _make_engine(self) -> Engine:
        """An engine whose connections commit each statement by itself."""

    @abstractmethod
    def _migrate(self, engine: Engine) -> None:
        """Bring the tables to the newest version, while no other process does."""

    def read(self, key: TextKey) -> str | None:
        """The content of a row."""
        rows = self._run("read", key=key.digest)
        return rows[0][0] if rows else None

    def write(self, key: TextKey, text: str | None) -> None:
        """Insert, replace or delete a row."""
        if text is None:
            self._run("remove", key=key.digest)
        else:
            self._run("write", **_row(key, text))

    def append(self, key: TextKey, text: str) -> None:
        """Insert a row, or add to its content."""
        if not self._run("append", **_row(key, text)):
            raise too_long(key.kind)

    def stamps(self, keys: Sequence[TextKey]) -> list[Hashable]:
        """The stamps of rows, three at a time."""
        digests = [key.digest for key in keys]
        found: dict[str, str] = {}
        for start in range(0, len(digests), 3):
            three = [*digests[start : start + 3], "", ""][:3]
            rows = self._run("stamps", **{f"key_{n}": digest for n, digest in enumerate(three)})
            found.update((row[0], row[1]) for row in rows)
        return [found.get(digest) for digest in digests]

    def close(self) -> None:
        """Close all connections."""
        with self._opening:
            self._is_closed = True
            if self._open is not None:
                self._open.engine.dispose(close=self._open.process == os.getpid())
                self._open = None

    def _run(self, operation: str, **parameters: str) -> Sequence[Any]:
        """The rows of an operation. All of them are fetched, which is what commits it."""
        with self._errors():
            engine, statements, _ = self._opened()
            with engine.connect() as connection:
                return connection.execute(getattr(statements, operation), parameters).all()

    def _opened(self) -> _Open:
        opened = self._open
        if opened is not None and opened.process == os.getpid():
            return opened
        with self._opening:
            if self._is_closed:
                raise StoreError("the store is closed", code="P601", template=self._name)
            if self._open is not None and self._open.process != os.getpid():
                # Connections cannot be shared with the process that this one was forked from.
                self._open.engine.dispose(close=False)
                self._open = None
            if self._open is None:
                self._open = self._opened_anew()
            return self._open

    def _opened_anew(self) -> _Open:
        from .migrations import is_newest
        from .statements import Statements

        engine = self._make_engine()
        try:
            with engine.connect() as connection:
                is_ready = is_newest(connection, self._name)
            if not is_ready:
                self._migrate(engine)
        except BaseException:
            engine.dispose()
            raise
        return _Open(engine, Statements.for_dialect(engine.dialect.name), os.getpid())

    def _errors(self) -> AbstractContextManager[None]:
        from .sql_errors import errors_of_sql

        return errors_of_sql(self._name)


def _row(key: TextKey, text: str) -> dict[str, str]:
    row = {"key": key.digest, "kind": key.kind, "owner": key.owner, "agent": key.agent}
    return {**row, "content": text, "stamp": uuid.uuid4().hex}

"""A store in a PostgreSQL database, for several machines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtraError, StoreError
from .sql_store import SQLStore

if TYPE_CHECKING:
    from sqlalchemy import Engine

__all__ = ["PostgresStore"]

_LOCK = 0x63756563617264
"""Number of the advisory lock under which tables are made: `cuecard` in ASCII."""


class PostgresStore(SQLStore):
    """Keeps texts in a table of a PostgreSQL database, by way of psycopg 3.

    Args:
        url: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS`, as libpq reads it.
            Errors never show it.
        timeout: seconds to wait for a connection, a lock or an answer.
        connections: how many are kept open.
        extra_connections: how many more may be opened while those are in use.

    Raises:
        MissingExtraError: SQLAlchemy or psycopg is not installed (P807).
        StoreError: the address makes no sense (P602). From the operations: P601 when the
            server is down, refuses or is slow, P603 when the tables are of a newer version,
            P606 when they cannot be written, P607 when they are others.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 5.0,
        connections: int = 5,
        extra_connections: int = 5,
    ) -> None:
        # First, since the extra that brings psycopg brings SQLAlchemy too.
        self._parameters = _read_address(url)
        super().__init__("postgresql", timeout)
        self._parameters.setdefault("tcp_user_timeout", self._milliseconds)
        self._parameters["connect_timeout"] = max(2, math.ceil(timeout))
        own = f"-c statement_timeout={self._milliseconds} -c lock_timeout={self._milliseconds}"
        self._parameters["options"] = f"{own} {self._parameters.get('options', '')}"
        self._connections = connections
        self._extra = extra_connections

    @property
    def _milliseconds(self) -> int:
        return max(1, round(self._timeout * 1000))

    def _make_engine(self) -> Engine:
        import psycopg
        from sqlalchemy import create_engine

        return create_engine(
            "postgresql+psycopg://",
            creator=lambda: psycopg.connect(**self._parameters),
            isolation_level="AUTOCOMMIT",
            hide_parameters=True,
            pool_size=self._connections,
            max_overflow=self._extra,
            pool_timeout=self._timeout,
            pool_pre_ping=True,
            pool_reset_on_return=None,
        )

    def _migrate(self, engine: Engine) -> None:
        from sqlalchemy import text

        from .migrations import is_newest, migrate

        transactional = engine.execution_options(isolation_level="READ COMMITTED")
        with transactional.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _LOCK})
            if not is_newest(connection, self._name):
                migrate(connection)


def _read_address(url: str) -> dict[str, Any]:
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ModuleNotFoundError:
        raise MissingExtraError(
            "the PostgreSQL store needs the package `psycopg`",
            hint="pip install 'cuecard[postgres]'",
        ) from None
    try:
        if not url.startswith("postgresql://"):
            raise psycopg.ProgrammingError
        return dict(conninfo_to_dict(url))
    except psycopg.ProgrammingError:
        # Its text may hold a part of the password.
        raise StoreError(
            "the `postgresql` address cannot be read",
            code="P602",
            hint="postgresql://USER:PASSWORD@HOST:PORT/DATABASE, special characters as %XX",
        ) from None

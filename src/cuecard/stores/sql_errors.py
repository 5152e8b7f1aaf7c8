"""What the drivers' errors mean, as a `StoreError` without any value in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy import exc

from ..errors import StoreError

__all__ = ["errors_of_sql", "store_error"]


class Meaning(NamedTuple):
    """The code of an error, what happened, and what helps."""

    code: str
    message: str
    hint: str | None = None


_DOWN = Meaning("P601", "the database cannot be reached", "is it running, and the address right?")
_LOCKED = Meaning("P601", "the database is locked for too long", "another writer holds it")
_SLOW = Meaning("P601", "the database did not answer in time")
_BUSY = Meaning("P601", "no connection was free in time", "allow more connections or more time")
_REFUSED = Meaning("P601", "the database refused the connection", "check user and password")
_ABSENT = Meaning("P601", "there is no such database", "create it, or check the address")
_UNOPENED = Meaning("P601", "the file cannot be opened", "does its folder exist?")
_UNREADABLE = Meaning("P601", "the file cannot be read")
_UNKNOWN = Meaning("P601", "the database failed")
_READ_ONLY = Meaning("P606", "the database is read-only", "let cuecard write to it")
_FULL = Meaning("P606", "the disk is full", "make room, and try again")
_UNWRITABLE = Meaning("P606", "the file cannot be written")
_DAMAGED = Meaning("P607", "the file is damaged, or no database", "restore it from a copy")
_FOREIGN = Meaning("P607", "the tables are not those of a store", "use a database of its own")

_SQLITE = {
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_CANTOPEN": _UNOPENED,
    "SQLITE_IOERR": _UNREADABLE,
    "SQLITE_IOERR_WRITE": _UNWRITABLE,
    "SQLITE_IOERR_FSYNC": _UNWRITABLE,
    "SQLITE_IOERR_DIR_FSYNC": _UNWRITABLE,
    "SQLITE_IOERR_TRUNCATE": _UNWRITABLE,
    "SQLITE_IOERR_SHMSIZE": _UNWRITABLE,
    "SQLITE_READONLY": _READ_ONLY,
    "SQLITE_PERM": _READ_ONLY,
    "SQLITE_AUTH": _READ_ONLY,
    "SQLITE_FULL": _FULL,
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_NOTADB": _DAMAGED,
    "SQLITE_FORMAT": _DAMAGED,
    "SQLITE_ERROR": _FOREIGN,
    "SQLITE_SCHEMA": _FOREIGN,
    "SQLITE_MISMATCH": _FOREIGN,
    "SQLITE_CONSTRAINT": _FOREIGN,
}
"""By the name of the error, else by its first two words."""

_POSTGRESQL = {
    "08": _DOWN,
    "23": _FOREIGN,
    "25006": _READ_ONLY,
    "28": _REFUSED,
    "3D": _ABSENT,
    "3F": _ABSENT,
    "40": _LOCKED,
    "42": _FOREIGN,
    "42501": _READ_ONLY,
    "53": _BUSY,
    "53100": _FULL,
    "55P03": _LOCKED,
    "57": _DOWN,
    "57014": _SLOW,
    "58": _UNREADABLE,
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
}
"""By the SQLSTATE, else by its class."""


@contextmanager
def errors_of_sql(store: str) -> Iterator[None]:
    """Raise what SQLAlchemy and the drivers raise as a `StoreError`, the cause being kept.

    Args:
        store: what errors call the store.
    """
    try:
        yield
    except exc.DBAPIError as error:
        # The driver's error is kept, not SQLAlchemy's around it, which has the parameters.
        raise store_error(error.orig, store) from error.orig
    except exc.TimeoutError as error:
        raise StoreError(_BUSY.message, code="P601", template=store, hint=_BUSY.hint) from error
    except exc.SQLAlchemyError as error:
        raise StoreError(_FOREIGN.message, code="P607", template=store) from error


def store_error(error: BaseException | None, store: str) -> StoreError:
    """The error that a driver's error stands for."""
    name, meaning = _meaning(error)
    message = f"{meaning.message} ({name})" if name else meaning.message
    return StoreError(message, code=meaning.code, template=store, hint=meaning.hint)


def _meaning(error: BaseException | None) -> tuple[str, Meaning]:
    name = getattr(error, "sqlite_errorname", None)
    if name is not None:
        general = "_".join(name.split("_")[:2])
        return name, _SQLITE.get(name) or _SQLITE.get(general) or _UNKNOWN
    state = getattr(error, "sqlstate", None)
    if state is not None:
        found = _POSTGRESQL.get(state) or _POSTGRESQL.get(state[:2]) or _UNKNOWN
        return f"SQLSTATE {state}", found
    # psycopg gives no state when there is no server to give one.
    return "", _DOWN if type(error).__module__.startswith("psycopg") else _UNKNOWN

"""Numbered migrations of the SQL stores, from blank and from every earlier version.

A file `revision_NNNN.py` is one step: its number, the one before it, and `upgrade(op)`.
Alembic finds them and keeps the number in the table `cuecard_version`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import MissingExtraError, StoreError

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["NEWEST", "VERSION_TABLE", "is_newest", "migrate"]

NEWEST = "0002"
"""The version that this code reads and writes."""

VERSION_TABLE = "cuecard_version"


def is_newest(connection: Connection, store: str) -> bool:
    """Whether the tables are those that this code knows; False when they are older or absent.

    Args:
        connection: of the database.
        store: what errors call the store.

    Raises:
        StoreError: they are newer (P603), or their version makes no sense (P607).
    """
    from sqlalchemy import inspect, text

    if not inspect(connection).has_table(VERSION_TABLE):
        return False
    versions = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).all()
    version = str(versions[0][0]) if len(versions) == 1 else ""
    if not version.isdecimal() or int(version) < 1:
        raise StoreError("the store has no version that there is", code="P607", template=store)
    if int(version) > int(NEWEST):
        raise StoreError(
            f"the store has version {version}, and this cuecard knows up to {NEWEST}",
            code="P603",
            template=store,
            hint="update cuecard",
        )
    return version == NEWEST


def migrate(connection: Connection, to: str = NEWEST) -> None:
    """Bring the tables to a version, within the transaction that the connection is in."""
    try:
        from alembic.operations import Operations
        from alembic.runtime.migration import MigrationContext
        from alembic.script import ScriptDirectory
    except ModuleNotFoundError:
        raise MissingExtraError(
            "SQL stores need the package `alembic`", hint="pip install 'cuecard[stores]'"
        ) from None

    here = Path(__file__).parent
    scripts = ScriptDirectory(here, version_locations=[here])
    context = MigrationContext.configure(
        connection,
        opts={
            "version_table": VERSION_TABLE,
            "fn": lambda current, _: scripts._upgrade_revs(to, current),
        },
    )
    # The steps are given their operations: alembic's own `op` is one for the whole process,
    # and two stores may be opened at once.
    context.run_migrations(op=Operations(context))

"""The table of the SQL stores, and each operation on it as one statement.

One statement is one transaction, so that no reader sees a half of it. The key is a digest of
the ids, since two ids of 512 characters are more than PostgreSQL can index; they stand beside
it for whoever looks into the table. A stamp is a random number: it is never seen twice, also
when a text is removed and set again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    DateTime,
    MetaData,
    String,
    Table,
    Text,
    bindparam,
    case,
    delete,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.base import Executable

from .checks import MAX_TEXT

__all__ = ["ENTRIES", "Statements"]

ENTRIES = Table(
    "cuecard_entries",
    MetaData(),
    Column("key", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("owner", Text, nullable=False),
    Column("agent", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("stamp", String(32), nullable=False, server_default=""),
    Column("updated_at", DateTime(timezone=True)),
)
"""The table as the newest migration leaves it."""


@dataclass(frozen=True)
class Statements:
    """The operations, for one kind of database. Each gives rows.

    Attributes:
        read: the content of `key`.
        stamps: key and stamp of `key_0`, `key_1` and `key_2`.
        remove: the key, when there was one.
        write: the key.
        append: the key; no row when the text would be too long.
    """

    read: Executable
    stamps: Executable
    remove: Executable
    write: Executable
    append: Executable

    @classmethod
    def for_dialect(cls, name: str) -> Statements:
        """The statements for `sqlite` or `postgresql`, which agree on all but the import."""
        insert: Any = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[name]
        table = ENTRIES.c
        given: dict[str, Any] = {
            key: bindparam(key) for key in ("key", "kind", "owner", "agent", "content")
        }
        new = insert(ENTRIES).values(
            **given, stamp=bindparam("stamp"), updated_at=func.current_timestamp()
        )
        changes = {key: new.excluded[key] for key in ("content", "stamp", "updated_at")}
        last = func.substr(table.content, func.length(table.content), 1)
        between = case((last.in_(("", "\n")), ""), else_="\n")
        whole = table.content + between + new.excluded.content
        keys: list[Any] = [bindparam(f"key_{n}") for n in range(3)]
        return cls(
            read=select(table.content).where(table.key == given["key"]),
            stamps=select(table.key, table.stamp).where(table.key.in_(keys)),
            remove=delete(ENTRIES).where(table.key == given["key"]).returning(table.key),
            write=new.on_conflict_do_update(index_elements=[table.key], set_=changes).returning(
                table.key
            ),
            append=new.on_conflict_do_update(
                index_elements=[table.key],
                set_={**changes, "content": whole},
                where=func.length(whole) <= MAX_TEXT,
            ).returning(table.key),
        )

"""Stores: workspace notes, user profiles and todo lists, in files, SQLite or PostgreSQL.

`Store` is the contract, `open_store` finds the store that an address names, and `TextStore`
is what a store of your own is made from.
"""

from .address import open_store
from .file_store import FileStore
from .postgres_store import PostgresStore
from .protocol import Stamp, Store
from .sqlite_store import SQLiteStore
from .text_store import TextKey, TextStore, joined
from .todos import TodoItem, read_todos

__all__ = [
    "FileStore",
    "PostgresStore",
    "SQLiteStore",
    "Stamp",
    "Store",
    "TextKey",
    "TextStore",
    "TodoItem",
    "joined",
    "open_store",
    "read_todos",
]

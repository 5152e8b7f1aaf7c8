"""From the address of a store to the store."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from ..errors import StoreError
from .file_store import FileStore
from .postgres_store import PostgresStore
from .sqlite_store import SQLiteStore
from .text_store import TextStore

__all__ = ["open_store"]

# One letter in front of a colon is a drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_SQLITE_FILE = (".db", ".sqlite", ".sqlite3")
_SCHEMES = ("file", "sqlite", "postgresql")
_FORMS = "`file:FOLDER`, `sqlite:PATH` or `postgresql://HOST/DATABASE`"


def open_store(address: str | os.PathLike[str]) -> TextStore:
    """The store that an address names. Nothing is opened before the first operation.

    Args:
        address: `file:FOLDER` or `file:///FOLDER`; `sqlite:PATH`, `sqlite:///PATH`
            (`sqlite:////PATH` from the root) or `sqlite::memory:`; a path that ends with
            `.db`, `.sqlite` or `.sqlite3`; `postgresql://…`.

    Raises:
        StoreError: it is none of these (P602).
        MissingExtraError: the packages of that store are not installed (P807).
    """
    text = os.fspath(address)
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else ""
    rest = text[found.end() :] if found else ""
    if scheme == "file":
        return FileStore(_folder(rest))
    if scheme == "sqlite":
        return SQLiteStore(_sqlite_path(rest))
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        return PostgresStore(f"postgresql:{rest}")
    if not scheme and text.lower().endswith(_SQLITE_FILE):
        return SQLiteStore(text)
    raise _unknown(scheme)


def _folder(rest: str) -> str:
    if not rest.startswith("//"):
        if not rest:
            raise _invalid("file", "`file:FOLDER`")
        return rest
    try:
        parts = urlsplit(f"file:{rest}")
    except ValueError:
        raise _invalid("file", "`file:///FOLDER`") from None
    if parts.netloc not in ("", "localhost") or not parts.path or parts.query or parts.fragment:
        raise _invalid("file", "`file:///FOLDER`, special characters as %XX")
    return url2pathname(parts.path)


def _sqlite_path(rest: str) -> str:
    if not rest.startswith("//"):
        path = rest
    elif rest in ("//", "///"):
        path = ":memory:"
    elif rest.startswith("///"):
        path = unquote(rest[3:])
    else:
        path = ""
    if not path:
        raise _invalid("sqlite", "`sqlite:PATH`, `sqlite:///PATH` or `sqlite::memory:`")
    return path


def _invalid(scheme: str, form: str) -> StoreError:
    return StoreError(f"the `{scheme}` address cannot be read", code="P602", hint=form)


def _unknown(scheme: str) -> StoreError:
    """The error for what is no address; of the text only the scheme is shown."""
    if not scheme:
        return StoreError(
            "the address of the store has no scheme", code="P602", hint=f"use {_FORMS}"
        )
    near = get_close_matches(scheme, _SCHEMES, 1)
    return StoreError(
        f"there is no store for the scheme `{scheme}`",
        code="P602",
        hint=f"did you mean `{near[0]}`? Addresses are {_FORMS}" if near else f"use {_FORMS}",
    )

"""A store of Markdown files that a person can read and edit."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress

from ..errors import PromptError, StoreError
from ..files import read_bytes_as_text
from .checks import MAX_TEXT, check_text, flaw_of_text
from .file_locks import file_lock
from .file_names import name_of_id
from .text_store import TextKey, TextStore, joined

__all__ = ["FileStore"]

_BOM = "\ufeff"
_MAX_BYTES = 4 * MAX_TEXT + 3
_UNWRITABLE = frozenset(
    getattr(errno, name, None)
    for name in ("EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "EFBIG", "ELOOP")
)


class FileStore(TextStore):
    """Keeps each text in a file of its own: exactly the text, in UTF-8.

    `notes/USER/AGENT.md`, `profiles/USER.md` and `todos/SESSION.md`, the ids written so that
    any file system can tell them apart. A file is replaced at once and never changed in
    place; whoever writes holds a lock, whoever reads needs none.

    Args:
        folder: where the files are; it is made at the first write.
        timeout: seconds to wait for another writer of the same file.

    Raises:
        StoreError: `P601` when a lock is held for too long or a file cannot be read, `P606`
            when it cannot be written, `P607` when it is no text or a link leads out of the
            folder.
    """

    def __init__(self, folder: str | os.PathLike[str], *, timeout: float = 5.0) -> None:
        self.folder = os.fspath(folder)
        self._root = os.path.realpath(folder)
        self._timeout = timeout
        self._is_closed = False

    def __repr__(self) -> str:
        return f"FileStore({self.folder!r})"

    def read(self, key: TextKey) -> str | None:
        """The text of a file."""
        with self._errors("read"):
            path = self._path(key)
            if self._status(path) is None:
                return None
            try:
                with open(path, "rb") as file:
                    data = file.read(_MAX_BYTES + 1)
            except FileNotFoundError:
                return None
        return self._decoded(data)

    def write(self, key: TextKey, text: str | None) -> None:
        """Replace a file, or remove it."""
        with self._errors("write"), self._locked(key) as path:
            if text is not None:
                self._replace(path, text)
            elif self._status(path) is not None:
                os.unlink(path)
                _sync_folder(os.path.dirname(path))

    def append(self, key: TextKey, text: str) -> None:
        """Replace a file by what it holds and more."""
        with self._errors("write"), self._locked(key) as path:
            whole = joined(self.read(key), text)
            check_text(key.kind, whole)
            self._replace(path, whole)

    def stamps(self, keys: Sequence[TextKey]) -> list[Hashable]:
        """Time, size and number of each file."""
        with self._errors("read"):
            found = [self._status(self._path(key)) for key in keys]
        return [status and (status.st_mtime_ns, status.st_size, status.st_ino) for status in found]

    def close(self) -> None:
        """Let the store be used no more; it holds nothing open."""
        self._is_closed = True

    # places ------------------------------------------------------------------------------------

    def _path(self, key: TextKey) -> str:
        file = f"{name_of_id(key.agent or key.owner)}.md"
        if key.kind == "notes":
            return os.path.join(self._root, "notes", name_of_id(key.owner), file)
        return os.path.join(self._root, "profiles" if key.kind == "profile" else "todos", file)

    def _status(self, path: str) -> os.stat_result | None:
        """What the file system says of a file; None when there is none."""
        try:
            status = self._contained(path)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise self._error("P607", "something in the folder is no file where one should be")
        return status

    def _contained(self, path: str) -> os.stat_result:
        """The status of a path, no part of which may be a link that leads out of the folder."""
        place = self._root
        status = None
        for part in os.path.relpath(path, self._root).split(os.sep):
            place = os.path.join(place, part)
            status = os.lstat(place)
            if stat.S_ISLNK(status.st_mode):
                real = os.path.realpath(place)
                if not real.startswith(os.path.join(self._root, "")):
                    raise self._error("P607", "a symbolic link leads out of the folder")
                status = os.stat(place)
        assert status is not None
        return status

    def _made(self, *parts: str) -> str:
        """A folder in the store's, which is made when it is missing."""
        place = os.path.join(self._root, *parts)
        try:
            self._contained(place)
        except FileNotFoundError:
            os.makedirs(place, exist_ok=True)
        return place

    @contextmanager
    def _locked(self, key: TextKey) -> Iterator[str]:
        """The path of a key's file while no other writes it.

        256 lock files serve all keys, so that they do not pile up.
        """
        path = self._path(key)
        self._made(*os.path.relpath(os.path.dirname(path), self._root).split(os.sep))
        lock = os.path.join(self._made(".locks"), key.digest[:2])
        with file_lock(lock, self._timeout):
            yield path

    # contents ----------------------------------------------------------------------------------

    def _replace(self, path: str, text: str) -> None:
        before = self._status(path)
        # Only who holds the lock uses this name: what a killed writer left is written over.
        folder, name = os.path.split(path)
        temporary = os.path.join(folder, f".{name}.new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(temporary, flags | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with open(descriptor, "wb") as file:
                file.write((_BOM + text if text.startswith(_BOM) else text).encode())
                file.flush()
                os.fsync(descriptor)
            # The clock of a file system is coarse; the stamps of two quick writes must differ.
            changed = max(time.time_ns(), before.st_mtime_ns + 1 if before else 0)
            os.utime(temporary, ns=(changed, changed))
            os.replace(temporary, path)
        except BaseException:
            # A disk that is full needs the room that the half of a text takes.
            with suppress(OSError):
                os.unlink(temporary)
            raise
        _sync_folder(folder)

    def _decoded(self, data: bytes) -> str:
        try:
            text = read_bytes_as_text(data, "text")
        except PromptError as error:
            raise self._error("P607", f"a file is no text: {error.message}", error.hint) from None
        flaw = flaw_of_text(text)
        if flaw is not None:
            raise self._error("P607", f"a file {flaw}")
        if len(text) > MAX_TEXT:
            raise self._error("P607", f"a file is longer than {MAX_TEXT:,} characters")
        return text

    # errors ------------------------------------------------------------------------------------

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        if self._is_closed:
            raise self._error("P601", "the store is closed")
        try:
            yield
        except TimeoutError as error:
            message = f"another writer held a file for more than {self._timeout:g} s"
            raise self._error("P601", message) from error
        except OSError as error:
            code = "P606" if doing == "write" and error.errno in _UNWRITABLE else "P601"
            reason = error.strerror or type(error).__name__
            raise self._error(code, f"cannot {doing} a file: {reason}") from error

    def _error(self, code: str, message: str, hint: str | None = None) -> StoreError:
        return StoreError(message, code=code, template=self.folder, hint=hint)


def _sync_folder(folder: str) -> None:
    """Let a changed entry of a folder survive a loss of power, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

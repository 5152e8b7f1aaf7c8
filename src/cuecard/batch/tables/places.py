"""Where tables lie: files of this machine, and whatever URL Daft reads.

What is local is listed, read and replaced as files. A URL is listed by `daft.from_glob_path`,
read by `daft.open_file` and written by Daft's `upload`, so that credentials and stores are
Daft's matter.
"""

from __future__ import annotations

import glob
import logging
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple

from ...errors import PromptError
from ..packages import load_daft
from .formats import known_format

__all__ = [
    "Found",
    "absolute",
    "find_files",
    "is_temporary",
    "is_url",
    "join",
    "list_names",
    "open_file",
    "publish",
    "put",
    "read_all",
    "remove",
    "temporary",
]

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]+://")
_MAGIC = re.compile(r"[*?\[]")
_TEMPORARY = re.compile(r"^\..+\.tmp-[0-9a-f]{16}$")


class Found(NamedTuple):
    """A file of the input: its path, its name below the input, and its size in bytes."""

    path: str
    name: str
    size: int


def is_url(path: str) -> bool:
    """Whether a place is a URL, and so Daft's."""
    return _URL.match(path) is not None


def absolute(path: str) -> str:
    """A path that means the same to a worker in another folder."""
    return path if is_url(path) else os.path.abspath(path)


def join(folder: str, name: str) -> str:
    """The path of a name in a folder."""
    return f"{folder.rstrip('/')}/{name}" if is_url(folder) else os.path.join(folder, name)


def find_files(place: str) -> list[Found]:
    """The files of a file, a folder or a glob, sorted by name.

    Of a folder, those whose ending is known and that no part of the path hides by `.` or `_`.

    Raises:
        PromptError: there is none (P801).
    """
    root, found = _find_remote(place) if is_url(place) else _find_local(place)
    if not found:
        raise PromptError("no such file, or none that matches", code="P801", template=place)
    named = [Found(path, _below(root, path), size) for path, size in found]
    return sorted(named, key=lambda file: file.name)


def _below(root: str, path: str) -> str:
    name = path.removeprefix(root.rstrip("/") + "/") if root else path
    return name if name != path else path.rpartition("/")[2]


def _find_local(place: str) -> tuple[str, list[tuple[str, int]]]:
    try:
        if os.path.isdir(place):
            pattern, root = os.path.join(glob.escape(place), "**", "*"), place
            paths = [path for path in glob.glob(pattern, recursive=True) if _is_table(path, root)]
        elif os.path.isfile(place):
            root, paths = os.path.dirname(place), [place]
        else:
            root = _fixed_part(place)
            paths = [p for p in glob.glob(place, recursive=True) if _is_table(p, root)]
        return root, [(p, os.path.getsize(p)) for p in paths if os.path.isfile(p)]
    except OSError as error:
        raise PromptError(
            f"cannot read the input: {error.strerror}", code="P801", template=place
        ) from error


def _is_table(path: str, root: str) -> bool:
    below = _below(root, path).split("/")
    return known_format(path) is not None and not any(part[:1] in "._" for part in below)


def _fixed_part(pattern: str) -> str:
    """The folders of a pattern before the first that holds a wildcard."""
    match = _MAGIC.search(pattern)
    return pattern[: match.start()].rpartition("/")[0] if match else os.path.dirname(pattern)


def _find_remote(place: str) -> tuple[str, list[tuple[str, int]]]:
    if known_format(place) is not None and not _MAGIC.search(place):
        return place.rpartition("/")[0], [(place, _remote_size(place))]
    if _MAGIC.search(place):
        root, pattern = _fixed_part(place), place
    else:
        root, pattern = place, join(place, "**")
    return root, [(p, size) for p, size in _glob_remote(pattern) if _is_table(p, root)]


def _remote_size(url: str) -> int:
    with _read_errors(url):
        size: int = load_daft().File(url).size()
    return size


def _glob_remote(pattern: str) -> list[tuple[str, int]]:
    """Paths and sizes of the files at a URL with wildcards; none when there is no such place."""
    daft = load_daft()
    try:
        with _unlogged("daft_local_execution.sources.glob_scan"):
            rows = list(daft.from_glob_path(pattern).iter_rows())
    except FileNotFoundError:
        return []
    except Exception as error:
        raise _unreadable(pattern, error) from error
    return [(row["path"], row["size"] or 0) for row in rows]


@contextmanager
def _unlogged(logger: str) -> Iterator[None]:
    """Have Daft log nothing: that there is no file at a place is an answer."""

    def nothing(record: logging.LogRecord) -> bool:
        return False

    logging.getLogger(logger).addFilter(nothing)
    try:
        yield
    finally:
        logging.getLogger(logger).removeFilter(nothing)


def list_names(folder: str) -> list[tuple[str, int]]:
    """The names below a folder and their sizes, hidden ones too; none when it is not there."""
    if is_url(folder):
        found = _glob_remote(join(folder, "**"))
        return [(_below(folder, path), size) for path, size in found]
    names = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    below = [os.path.relpath(path, folder).replace(os.sep, "/") for path in names]
    return list(zip(below, map(_size, names), strict=True))


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except FileNotFoundError:  # a worker of a run that was ended just removed it
        return 0


@contextmanager
def open_file(path: str) -> Iterator[IO[bytes]]:
    """A file to read, at any place.

    Raises:
        PromptError: it cannot be read (P801).
    """
    with _read_errors(path):
        file: Any
        if is_url(path):
            file = load_daft().open_file(path, "rb", buffering=1 << 20)
        else:
            file = open(path, "rb")  # noqa: SIM115 - the caller's block closes it
    with file:
        yield file


def read_all(path: str) -> bytes:
    """The bytes of a small file.

    Raises:
        PromptError: it cannot be read (P801).
    """
    with open_file(path) as file, _read_errors(path):
        return file.read()


@contextmanager
def _read_errors(path: str) -> Iterator[None]:
    try:
        yield
    except PromptError:
        raise
    except Exception as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: Exception) -> PromptError:
    # What a store answers may hold a signed URL: only its kind is told.
    why = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    hint = "see that it is there, and that the credentials may read it" if is_url(path) else None
    return PromptError(f"cannot read the file: {why}", code="P801", template=path, hint=hint)


# writing -----------------------------------------------------------------------------------


def temporary(path: str) -> str:
    """A hidden name next to a local file, or in this machine's folder for a URL."""
    if is_url(path):
        import tempfile

        folder, name = tempfile.gettempdir(), path.rpartition("/")[2]
    else:
        folder, name = os.path.split(path)
        os.makedirs(folder or ".", exist_ok=True)
    return os.path.join(folder, f".{name}.tmp-{secrets.token_hex(8)}")


def is_temporary(name: str) -> bool:
    """Whether a name is one that `temporary` gave."""
    return _TEMPORARY.match(os.path.basename(name)) is not None


def publish(written: str, path: str) -> None:
    """Have a file that was written under a temporary name appear, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    if is_url(path):
        with open(written, "rb") as file:
            _upload(path, file.read())
        os.unlink(written)
        return
    with open(written, "rb") as file:
        os.fsync(file.fileno())
    os.replace(written, path)
    _sync_folder(os.path.dirname(path) or ".")


def put(path: str, data: bytes) -> None:
    """Write a small file, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    if is_url(path):
        _upload(path, data)
        return
    written = temporary(path)
    try:
        with open(written, "wb") as file:
            file.write(data)
        publish(written, path)
    except BaseException:
        remove(written)
        raise


def remove(path: str) -> None:
    """Remove a local file, if it is there."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def _sync_folder(folder: str) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _upload(url: str, data: bytes) -> None:
    """Put bytes at a URL: a store shows an object only when it has all of it."""
    daft = load_daft()
    from daft.expressions import ExpressionsProjection
    from daft.functions import upload
    from daft.recordbatch import MicroPartition

    # Evaluated here and now: this runs inside of a worker of a query, which can start no other.
    table = MicroPartition.from_pydict({"data": [data], "url": [url]})
    done = upload(daft.col("data"), daft.col("url"))
    try:
        table.eval_expression_list(ExpressionsProjection([done])).to_pydict()
    except Exception as error:
        raise OSError(f"upload failed: {type(error).__name__}") from error

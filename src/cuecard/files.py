"""Files: reading text with clear errors, and folders that contain their templates."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any, NoReturn

from .errors import PromptError, TemplateNotFoundError
from .source import Source

__all__ = [
    "Folder",
    "name_of",
    "read_bytes_as_text",
    "read_json",
    "read_text",
    "replace_file",
    "shown",
]

_MAX_BYTES = 64 << 20
_DRIVE = re.compile(r"^[A-Za-z]:")


def read_text(path: str | os.PathLike[str]) -> str:
    """Text of a UTF-8 file, without a byte order mark; `-` is standard input.

    Raises:
        PromptError: the file cannot be read (P801) or is not UTF-8 (P802).
    """
    name = os.fspath(path)
    try:
        if name == "-":
            data = sys.stdin.buffer.read(_MAX_BYTES + 1)
            name = "<stdin>"
        else:
            with open(path, "rb") as file:
                data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise PromptError(
            f"cannot read the file: {error.strerror or type(error).__name__}",
            code="P801",
            template=name,
        ) from error
    except ValueError as error:
        raise PromptError("cannot read the file: invalid name", code="P801") from error
    if len(data) > _MAX_BYTES:
        raise PromptError("the file is too large", code="P801", template=name)
    return read_bytes_as_text(data, name)


def read_bytes_as_text(data: bytes, name: str) -> str:
    """UTF-8 bytes as text, without a byte order mark.

    Raises:
        PromptError: the bytes are not UTF-8 (P802).
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        good = Source(data[: error.start].decode("utf-8", "ignore"), name)
        end = len(good.text)
        raise PromptError(
            f"byte {error.start + 1} is not UTF-8",
            code="P802",
            source=good,
            start=end,
            end=end,
            hint="save the file as UTF-8",
        ) from None


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file, which is replaced as a whole or not at all.

    Raises:
        PromptError: it cannot be written (P801).
    """
    name = os.fspath(path)
    try:
        _replace(name, data)
    except OSError as error:
        raise PromptError(
            f"cannot write the file: {error.strerror or type(error).__name__}",
            code="P801",
            template=name,
        ) from error


def _replace(path: str, data: bytes) -> None:
    if os.path.exists(path) and not os.path.isfile(path):
        # A device or a pipe has no contents to replace.
        with open(path, "wb") as target:
            target.write(data)
        return
    import tempfile

    path = os.path.realpath(path)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".cuecard-")
    try:
        with os.fdopen(handle, "wb") as target:
            target.write(data)
        mode = os.stat(path).st_mode if os.path.exists(path) else 0o666 & ~_umask()
        os.chmod(temporary, mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def name_of(path: str | os.PathLike[str]) -> str:
    """What errors call a file: its path, or `<stdin>` for `-`."""
    name = os.fspath(path)
    return "<stdin>" if name == "-" else name


def read_json(path: str | os.PathLike[str]) -> Any:
    """The JSON value in a file; `-` is standard input. No error shows what the file holds.

    Raises:
        PromptError: the file cannot be read (P801, P802) or is no JSON (P806).
    """
    import json

    text = read_text(path)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        message = f"invalid JSON at line {error.lineno}, column {error.colno}: {error.msg}"
    except (ValueError, RecursionError):
        message = "invalid JSON: a number that is none, or nested too deeply"
    raise PromptError(message, code="P806", template=name_of(path))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


class Folder:
    """A folder of partials, which no name leads out of.

    Args:
        path: the folder. Names are relative to it, with `/` between their parts.

    Raises:
        TemplateNotFoundError: there is no such folder (P803).
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.is_dir():
            raise TemplateNotFoundError("no such folder", template=str(self.path))
        self._root = self.path.resolve()

    def __repr__(self) -> str:
        return f"Folder({str(self.path)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Folder) and self._root == other._root

    def __hash__(self) -> int:
        return hash(self._root)

    def resolve(self, name: str) -> Path:
        """The file that a name stands for.

        Raises:
            TemplateNotFoundError: the name is absolute, holds `..`, a backslash or NUL, or
                leads out of the folder through a symbolic link (P804), or there is no such
                file (P803).
        """
        refusal = _refusal(name)
        if refusal is not None:
            raise self._outside(name, refusal)
        path = self._root.joinpath(*name.split("/"))
        try:
            resolved = path.resolve()
            if not resolved.is_relative_to(self._root):
                raise self._outside(name, "leads out of the folder")
            if not resolved.is_file():
                raise _missing(name)
        except (OSError, RuntimeError, ValueError):
            raise _missing(name) from None
        return resolved

    def load(self, name: str) -> Source:
        """The source of a partial.

        Raises:
            TemplateNotFoundError: as `resolve`.
            PromptError: the file cannot be read (P801) or is not UTF-8 (P802).
        """
        path = self.resolve(name)
        return Source(read_text(path), str(self.path.joinpath(*name.split("/"))))

    def stamp(self, name: str) -> tuple[int, ...]:
        """What changes when a partial's file does; empty when there is no such file."""
        try:
            status = self.resolve(name).stat()
        except (TemplateNotFoundError, OSError):
            return ()
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _outside(self, name: str, why: str) -> TemplateNotFoundError:
        return TemplateNotFoundError(
            f"template name {shown(name)} {why}",
            code="P804",
            hint="names are relative to the folder, with `/` between their parts",
        )


def shown(name: str) -> str:
    """A name in quotes, shortened when it is long."""
    return repr(name if len(name) <= 80 else name[:77] + "...")


def _missing(name: str) -> TemplateNotFoundError:
    return TemplateNotFoundError(f"no template named {shown(name)} in the folder")


def _refusal(name: str) -> str | None:
    if "\0" in name:
        return "holds a NUL character"
    if "\\" in name:
        return "holds a backslash"
    if name.startswith("/") or _DRIVE.match(name):
        return "is absolute"
    if ".." in name.split("/"):
        return "leaves the folder"
    return None

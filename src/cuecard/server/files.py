"""An agent's file, and what lies beside it: recorded turns and contexts to try it with."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ..catalog import Offer
from ..errors import PromptError
from ..files import read_bytes_as_text, read_text, replace_file
from .failures import RequestError

__all__ = ["beside", "read_beside", "read_file", "revision_of", "write_file"]

_MARK = "\ufeff"
_MOST_BYTES = 16 << 20
_MOST_FILES = 100


def revision_of(text: str) -> str:
    """What changes when a text does: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_file(offer: Offer, roots: Collection[Path]) -> str:
    """The text of an agent's file, as it is now, with its byte order mark if it has one.

    Args:
        offer: the agent.
        roots: what the service was told to offer.

    Raises:
        RequestError: the file has gone, or leads elsewhere by now (P853).
        PromptError: it cannot be read (P801, P802).
    """
    return _read(_offered(offer, roots))


def write_file(offer: Offer, roots: Collection[Path], text: str, revision: str) -> str:
    """Replace an agent's file, if it is still what the change was made from.

    Args:
        offer: the agent.
        roots: what the service was told to offer.
        text: all of the new file.
        revision: of the text that was changed.

    Returns:
        The new revision.

    Raises:
        RequestError: the file is another by now (P854), has gone, or leads elsewhere (P853).
        PromptError: it cannot be read or written (P801, P802).
    """
    path = _offered(offer, roots)
    if revision_of(_read(path)) != revision:
        raise RequestError(
            "the file changed since it was read",
            code="P854",
            template=str(path),
            hint="read it again, and make the change anew",
        )
    replace_file(path, text.encode())
    return revision_of(text)


def _offered(offer: Offer, roots: Collection[Path]) -> Path:
    """The agent's file, which may have become a link since it was read."""
    path = _path_of(offer)
    if path.is_symlink() and path not in roots and not _within(path, _folders(roots)):
        raise RequestError("the agent's file leads out of its folder", code="P853")
    return path


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise RequestError("the agent's file has gone", code="P853") from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise PromptError(f"cannot read the file: {why}", code="P801", template=str(path)) from None
    text = read_bytes_as_text(data, str(path))
    return _MARK + text if data.startswith(_MARK.encode()) else text


def beside(offer: Offer, roots: Iterable[Path], suffix: str) -> list[str]:
    """The names of the files beside an agent's, when its folder is one that is offered.

    Args:
        offer: the agent.
        roots: what the service was told to offer.
        suffix: `.jsonl` for recorded turns, `.json` for contexts.
    """
    return sorted(path.name for path in _beside(offer, roots, suffix))[:_MOST_FILES]


def read_beside(offer: Offer, roots: Iterable[Path], name: str) -> Any:
    """What a file beside an agent's holds: the objects of its lines, or one object.

    Raises:
        RequestError: there is no such file (P853), or it holds something else (P857).
        PromptError: it cannot be read (P801, P802), or is no JSON (P806).
    """
    suffix = Path(name).suffix
    found = next((p for p in _beside(offer, roots, suffix) if p.name == name), None)
    if found is None:
        raise RequestError("there is no file of this name beside the agent's", code="P853")
    text = read_text(found)
    lines = text.split("\n") if suffix == ".jsonl" else [text]
    entries = [_decoded(line, found) for line in lines if line.strip() or suffix == ".json"]
    if not all(isinstance(entry, dict) for entry in entries):
        raise RequestError("the file does not hold JSON objects", template=str(found))
    return entries if suffix == ".jsonl" else entries[0]


def _decoded(text: str, path: Path) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        message = "the file is no JSON, or one of its lines is none"
        raise RequestError(message, code="P806", template=str(path)) from None


def _beside(offer: Offer, roots: Iterable[Path], suffix: str) -> Iterator[Path]:
    folder = _path_of(offer).parent
    offered = _folders(roots)
    if suffix not in (".json", ".jsonl") or not _within(folder, offered):
        return
    try:
        names = os.listdir(folder)
    except OSError:
        return  # it has gone
    for path in (folder / name for name in names if name.endswith(suffix)):
        if _is_small_file(path) and _within(path, offered):
            yield path


def _is_small_file(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _MOST_BYTES
    except OSError:
        return False


def _folders(roots: Iterable[Path]) -> list[Path]:
    return [root.resolve() for root in roots if root.is_dir()]


def _within(path: Path, roots: Iterable[Path]) -> bool:
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError):  # a circle of links
        return False
    return any(resolved.is_relative_to(root) for root in roots)


def _path_of(offer: Offer) -> Path:
    assert offer.agent.path is not None  # a catalog reads agents from files
    return offer.agent.path

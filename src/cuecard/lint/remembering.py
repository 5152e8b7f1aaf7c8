"""Memory of earlier runs: a file that has not changed is not checked again.

What is remembered is keyed by the content of a file and its path, the settings, the version
and the code of cuecard, the contents of the folder of partials and the providers of installed
packages, so that nothing outdated is ever recalled.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from .claims import Claim
from .collecting import Target
from .findings import Finding
from .settings import Settings

__all__ = ["Memory", "Remembered"]

_MOST_FILES = 20_000
_MOST_SETTINGS = 4
_UNREADABLE = (OSError, msgspec.MsgspecError, ValueError, RecursionError)


class Remembered(NamedTuple):
    """What was found in a file, and what it brings to comparisons of files."""

    findings: tuple[Finding, ...]
    claims: tuple[Claim, ...] = ()


_Known = dict[str, Remembered]
_Stamp = tuple[int, ...]


class Memory:
    """Findings of earlier runs, in a folder: a file for each of the last few settings.

    Runs at the same time do no harm: files are replaced as a whole, and the last one stays.

    Args:
        folder: where it is; made when something is to be kept. It may be removed at any time.
        settings: what is configured.
    """

    def __init__(self, folder: str | os.PathLike[str], settings: Settings) -> None:
        self._file = Path(folder, f"check-{_key_of(settings)[:32]}.json")
        self._known = self._load()
        self._used: _Known = {}
        self._digests: dict[str, tuple[str, _Stamp]] = {}

    def _load(self) -> _Known:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_Known)
        except _UNREADABLE:
            return {}

    def recall(self, target: Target) -> Remembered | None:
        """What was found in a file, when it has not changed since."""
        digest = self._digest(target)
        entry = self._known.get(digest) if digest is not None else None
        if entry is None or digest is None:
            return None
        self._used[digest] = entry
        # The same file may be named in another way now.
        path = target.path
        return Remembered(
            tuple(finding._replace(path=path) for finding in entry.findings),
            tuple(claim._replace(path=path) for claim in entry.claims),
        )

    def remember(
        self, target: Target, findings: tuple[Finding, ...], claims: tuple[Claim, ...] = ()
    ) -> None:
        """Keep what was found in a file."""
        digest, stamp = self._digests.get(target.path, (None, ()))
        # A file that has changed while it was checked is checked again the next time.
        if digest is not None and stamp == _stamp(target.path):
            self._used[digest] = Remembered(findings, claims)

    def forget(self, target: Target) -> None:
        """Take note that a file has been written."""
        digest, _ = self._digests.pop(target.path, ("", ()))
        self._used.pop(digest, None)

    def save(self) -> None:
        """Write what was recalled or found; a folder that refuses it is no error."""
        if self._used.keys() <= self._known.keys():
            return
        # What this run did not look at is kept, the oldest last to be let go.
        others = [item for item in self._known.items() if item[0] not in self._used]
        room = max(0, _MOST_FILES - len(self._used))
        kept = dict(others[len(others) - min(room, len(others)) :])
        data = msgspec.json.encode({**kept, **self._used})
        temporary = self._file.with_suffix(f".{os.getpid()}.new")
        try:
            self._make_folder()
            temporary.write_bytes(data)
            os.replace(temporary, self._file)
            self._remove_old()
        except OSError:
            _remove(temporary)

    def _make_folder(self) -> None:
        folder = self._file.parent
        folder.mkdir(parents=True, exist_ok=True)
        ignored = folder / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n")

    def _remove_old(self) -> None:
        files = [(f.stat().st_mtime_ns, f) for f in self._file.parent.glob("check-*.json")]
        for _, file in sorted(files)[:-_MOST_SETTINGS]:
            _remove(file)

    def _digest(self, target: Target) -> str | None:
        if target.error is not None or target.path == "-":
            return None
        known = self._digests.get(target.path)
        if known is not None:
            return known[0]
        stamp = _stamp(target.path)
        try:
            with open(target.path, "rb") as file:
                data = file.read()
        except OSError:
            return None
        path = os.path.relpath(target.path) if os.path.isabs(target.path) else target.path
        head = f"{target.kind}\0{path}\0".encode(errors="surrogatepass")
        digest = hashlib.sha256(head + data).hexdigest()
        self._digests[target.path] = digest, stamp
        return digest


def _stamp(path: str) -> _Stamp:
    """What changes when a file does; empty when it cannot be told."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError:
        return


def _key_of(settings: Settings) -> str:
    from .. import __version__

    digest = hashlib.sha256(f"{__version__}\0{settings!r}\0".encode(errors="surrogatepass"))
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(f"{path}\0{_stamp(str(path))}\0".encode())
    if settings.entry_points:
        for line in _entry_points():
            digest.update(f"{line}\0".encode())
    if settings.partials is not None:
        for path in sorted(Path(settings.partials).rglob("*")):
            digest.update(f"{path}\0".encode())
            if path.is_file():
                digest.update(_content(path))
    return digest.hexdigest()


def _content(path: Path) -> bytes:
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError as error:
        return type(error).__name__.encode()


def _entry_points() -> list[str]:
    """The providers of installed packages, with the versions of these."""
    from importlib.metadata import entry_points

    points = entry_points(group="cuecard.providers")
    return sorted(f"{p.name}={p.value}@{p.dist.version if p.dist else ''}" for p in points)

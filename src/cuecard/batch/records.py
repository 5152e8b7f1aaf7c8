"""Records: which parts of an output are there, and what each was made of.

A folder of output has a folder `_cuecard`: `batch.json` says that it is ours, and a record for
each part holds the part's key (a hash of the template, the options, the columns and the
input's contents) and a hash of the file. A part whose record has the right key, and which has
the hash of its record, needs no second render, whatever ended the run before. A record that
is not as it was written, by its own hash, is none. The record is
written before its part appears, so that no part is ever there without one; at a URL after it,
since there only the size is compared.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import PromptError
from .tables.formats import known_format
from .tables.places import is_temporary, is_url, join, list_names, publish, put, read_all, remove

__all__ = ["Records", "digest_of", "file_digest", "sealed", "unsealed"]

_FOLDER = "_cuecard"
_HEADER = f"{_FOLDER}/batch.json"
_PARTS = f"{_FOLDER}/parts"
_VERSION = 1


def digest_of(data: Any) -> str:
    """A hash of plain data."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def file_digest(path: str) -> str:
    """A hash of a local file's contents."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sealed(data: Mapping[str, Any]) -> bytes:
    """Plain data as the bytes of a file that `unsealed` reads."""
    seal = {"seal": digest_of(data)}
    return json.dumps({**data, **seal}, ensure_ascii=False).encode() + b"\n"


def unsealed(path: str) -> dict[str, Any] | None:
    """What was sealed in a file; None when it is not there, or not as it was written."""
    try:
        data = json.loads(read_all(path))
    except (PromptError, ValueError):
        return None
    if not isinstance(data, dict):
        return None
    seal = data.pop("seal", None)
    return data if seal == digest_of(data) else None


class Records:
    """The records of an output.

    Args:
        folder: the folder of the parts, local or a URL.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def open(self, *, resume: bool) -> None:
        """Make the folder ours, and see that it may be.

        Args:
            resume: whether what an earlier run left there may stay.

        Raises:
            PromptError: the folder holds something (P824), or something of others (P825), or
                cannot be written (P828).
        """
        names = [name for name, _ in self._names()]
        if names and _HEADER not in names:
            raise PromptError(
                "the output folder is not empty, and no batch was written there",
                code="P825",
                template=self.folder,
                hint="choose another folder",
            )
        if names and not resume:
            raise PromptError(
                "the output folder holds a batch already",
                code="P824",
                template=self.folder,
                hint="add --resume to finish it, or choose another folder",
            )
        if not names:
            header = {"written by": "cuecard batch", "version": _VERSION}
            try:
                put(join(self.folder, _HEADER), json.dumps(header).encode() + b"\n")
            except OSError as error:
                raise PromptError(
                    f"cannot write the output: {error.strerror or error}",
                    code="P828",
                    template=self.folder,
                ) from error

    def _names(self) -> list[tuple[str, int]]:
        if is_url(self.folder):
            return list_names(self.folder)
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise PromptError(
                "the output is no folder",
                code="P825",
                template=self.folder,
                hint="a single file has a name that ends in .parquet, .jsonl or .csv",
            )
        return list_names(self.folder)

    def finished(self, keys: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        """The records of the parts that are there and as they should be.

        What else an earlier run left is removed: parts of other files or templates, files
        that were never finished. At a URL nothing can be removed.

        Args:
            keys: the key of each part, by its name in the output.

        Raises:
            PromptError: at a URL there are parts that would be none of this batch (P824).
        """
        names = dict(self._names())
        found: dict[str, dict[str, Any]] = {}
        for name in sorted(names):
            if name.startswith(f"{_PARTS}/") and name.endswith(".json"):
                part = name[len(_PARTS) + 1 : -len(".json")]
                record = self.read(part)
                if record is not None and self._is_whole(part, record, keys, names):
                    found[part] = record
        self._clear(names, found, keys)
        return found

    def read(self, part: str) -> dict[str, Any] | None:
        """The record of a part, None when there is none that is as it was written."""
        return unsealed(self._path(part))

    def _is_whole(
        self,
        part: str,
        record: dict[str, Any],
        keys: Mapping[str, str],
        names: Mapping[str, int],
    ) -> bool:
        if record.get("key") != keys.get(part) or names.get(part) != record.get("bytes"):
            return False
        if is_url(self.folder):
            return True
        try:
            return file_digest(join(self.folder, part)) == record.get("sha256")
        except OSError:
            return False

    def _clear(
        self, names: Iterable[str], kept: Mapping[str, Any], keys: Mapping[str, str]
    ) -> None:
        if is_url(self.folder):
            self._refuse_others(names, keys)
            return
        self.sweep()
        ours = {name[len(_PARTS) + 1 : -len(".json")] for name in names if _is_record(name)}
        for part in ours - kept.keys():
            remove(join(self.folder, part))
            remove(self._path(part))

    def sweep(self) -> None:
        """Remove what workers that were lost have left half written."""
        if is_url(self.folder):
            return
        for name, _ in list_names(self.folder):
            if is_temporary(name):
                remove(join(self.folder, name))

    def _refuse_others(self, names: Iterable[str], keys: Mapping[str, str]) -> None:
        others = [n for n in names if not n.startswith(f"{_FOLDER}/") and known_format(n)]
        if set(others) - keys.keys():
            raise PromptError(
                "the output holds parts of another batch, which cannot be removed at a URL",
                code="P824",
                template=self.folder,
                hint="choose another folder",
            )

    def publish(self, part: str, written: str, record: Mapping[str, Any]) -> None:
        """Have a part appear together with its record.

        Args:
            part: the part's name.
            written: the temporary file that holds it.
            record: what to note of it.

        Raises:
            OSError: it cannot be written.
        """
        data = sealed(record)
        target = join(self.folder, part)
        if is_url(self.folder):
            publish(written, target)
            put(self._path(part), data)
        else:
            put(self._path(part), data)
            publish(written, target)

    def _path(self, part: str) -> str:
        return join(self.folder, f"{_PARTS}/{part}.json")


def _is_record(name: str) -> bool:
    return name.startswith(f"{_PARTS}/") and name.endswith(".json") and not is_temporary(name)

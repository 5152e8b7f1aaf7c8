"""The output of a batch: a folder of parts, or one file that parts are joined into."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..errors import PromptError
from .records import Records, digest_of, file_digest, sealed, unsealed
from .tables.formats import Format, format_of, known_format
from .tables.places import is_url, join, publish, put, remove, temporary
from .tables.writing import join_files

__all__ = ["Target", "find_target"]

_JOINED = "_cuecard/joined.json"


class Target(Protocol):
    """Where the rows go.

    Attributes:
        place: the output, as the caller named it.
        folder: where the parts are written.
        format: the format of the output.
        header: whether parts of CSV have a header.
    """

    place: str
    folder: str
    format: Format
    header: bool

    def open(self, *, resume: bool) -> None:
        """Make the output ours, and see that it may be; errors as `Records.open`."""

    def finished(self, keys: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        """The records of the parts that need no second render."""

    def close(
        self, parts: Sequence[str], keys: Mapping[str, str], schema: Any, *, whole: bool
    ) -> None:
        """Finish the output.

        Args:
            parts: the parts that are there, in order.
            keys: the keys of all parts.
            schema: the columns.
            whole: whether all parts are there.

        Raises:
            OSError: it cannot be written.
        """


def find_target(place: str, input_format: Format) -> Target:
    """The output at a place: one file when its name ends in a known format, else a folder.

    Raises:
        PromptError: a single file at a URL (P821).
    """
    if known_format(place) is None or place.endswith("/") or os.path.isdir(place):
        return _FolderTarget(place, input_format)
    if is_url(place):
        raise PromptError(
            "the output at a URL is a folder of parts",
            code="P821",
            template=place,
            hint="name a folder, such as s3://bucket/prompts/",
        )
    return _FileTarget(place)


class _FolderTarget:
    header = True

    def __init__(self, place: str, kind: Format) -> None:
        self.place = place
        self.folder = place
        self.format = kind
        self._records = Records(place)

    def open(self, *, resume: bool) -> None:
        self._records.open(resume=resume)

    def finished(self, keys: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        return self._records.finished(keys)

    def close(
        self, parts: Sequence[str], keys: Mapping[str, str], schema: Any, *, whole: bool
    ) -> None:
        pass


class _FileTarget:
    """One file; its parts lie in a hidden folder beside it, of which the records stay."""

    header = False

    def __init__(self, place: str) -> None:
        self.place = place
        self.format = format_of(place)
        above, name = os.path.split(place)
        self.folder = os.path.join(above, f".{name}.cuecard")
        self._records = Records(self.folder)

    def open(self, *, resume: bool) -> None:
        if os.path.exists(self.place):
            if not resume:
                raise PromptError(
                    "the output file exists",
                    code="P824",
                    template=self.place,
                    hint="choose another, or add --resume when a batch wrote it",
                )
            if not os.path.exists(self.folder):
                raise PromptError(
                    "the output file exists, and no batch wrote it",
                    code="P825",
                    template=self.place,
                    hint="choose another",
                )
        elif not resume and os.path.isdir(self.folder):
            # Its parts are of no use to anybody else, but this run may be one by mistake.
            raise PromptError(
                "an unfinished batch of this output exists",
                code="P824",
                template=self.folder,
                hint="add --resume to finish it, or remove that folder",
            )
        self._records.open(resume=resume)

    def finished(self, keys: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        joined = self._joined(keys)
        return joined if joined is not None else self._records.finished(keys)

    def _joined(self, keys: Mapping[str, str]) -> dict[str, dict[str, Any]] | None:
        """The records of all parts when the file has been made of these, and is whole."""
        noted = unsealed(join(self.folder, _JOINED))
        if noted is None or noted["keys"] != digest_of(dict(keys)):
            return None
        try:
            if noted["sha256"] != file_digest(self.place):
                return None
        except OSError:
            return None
        records = {part: self._records.read(part) for part in keys}
        found = {part: record for part, record in records.items() if record is not None}
        return found if all(found.get(part, {}).get("key") == keys[part] for part in keys) else None

    def close(
        self, parts: Sequence[str], keys: Mapping[str, str], schema: Any, *, whole: bool
    ) -> None:
        if self._joined(keys) is not None:
            return
        written = temporary(self.place)
        paths = [join(self.folder, part) for part in parts]
        try:
            self._join(paths, written, schema)
            noted = {"keys": digest_of(dict(keys)) if whole else None}
            noted["sha256"] = file_digest(written)
            put(join(self.folder, _JOINED), sealed(noted))
            publish(written, self.place)
        finally:
            remove(written)
        # With parts missing, a later run needs those that are there.
        for path in paths if whole else ():
            remove(path)

    def _join(self, paths: Sequence[str], written: str, schema: Any) -> None:
        if len(paths) == 1 and self.format != "csv":
            try:
                os.link(paths[0], written)
            except OSError:
                shutil.copyfile(paths[0], written)
            return
        with open(written, "wb") as file:
            join_files(self.format, paths, file, schema)

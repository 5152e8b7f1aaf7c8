"""The formats of tables: which one a file has, by its name."""

from __future__ import annotations

from typing import Literal, get_args

from ...errors import PromptError

__all__ = ["ENDINGS", "FORMATS", "Format", "format_of", "known_format", "stem_of"]

Format = Literal["parquet", "jsonl", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)

ENDINGS: dict[str, Format] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
}
"""The format by the end of a file's name."""


def known_format(path: str) -> Format | None:
    """The format of a file, None when its name does not say."""
    _, dot, ending = path.rpartition("/")[2].rpartition(".")
    return ENDINGS.get((dot + ending).lower())


def format_of(path: str) -> Format:
    """The format of a file.

    Raises:
        PromptError: its name ends in none that is known (P821).
    """
    found = known_format(path)
    if found is None:
        raise PromptError(
            "a table of an unknown format",
            code="P821",
            template=path,
            hint=f"the name of the file ends in {', '.join(ENDINGS)}",
        )
    return found


def stem_of(path: str) -> str:
    """A path without the ending that tells its format."""
    return path.rpartition(".")[0] if known_format(path) else path

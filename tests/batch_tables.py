"""Tables for tests of batches: written, rendered in this process, and read back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.csv  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

import cuecard
from cuecard.batch import BatchOptions, BatchResult, render_files
from cuecard.batch.engines import in_process

Rows = Sequence[Mapping[str, Any]]


def write_parquet(path: Path, rows: Rows, schema: Any = None, group: int = 1 << 20) -> None:
    """Rows as Parquet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows), schema), path, row_group_size=group)


def write_lines(path: Path, rows: Rows) -> None:
    """Rows as JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_table(path: Path, rows: Rows) -> None:
    """Rows as what the ending of a file says; those of CSV must need no quotes."""
    if path.suffix == ".parquet":
        write_parquet(path, rows)
    elif path.suffix == ".jsonl":
        write_lines(path, rows)
    else:
        lines: list[Iterable[Any]] = [rows[0].keys(), *(row.values() for row in rows)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))


def read_rows(place: Path) -> list[dict[str, Any]]:
    """The rows of a file, or of all parts of a folder in the order of their names."""
    if place.is_dir():
        names = sorted(
            path.relative_to(place).as_posix()
            for path in place.rglob("*")
            if path.is_file() and not path.relative_to(place).parts[0].startswith(("_", "."))
        )
        return [row for name in names for row in read_rows(place / name)]
    if place.suffix == ".parquet":
        return list(pq.read_table(place).to_pylist())
    if place.suffix == ".csv":
        return list(pyarrow.csv.read_csv(place).to_pylist())
    return [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]


def prompts(place: Path, column: str = "prompt") -> list[str | None]:
    """The prompts of an output."""
    return [row[column] for row in read_rows(place)]


def codes(place: Path) -> list[str | None]:
    """The error codes of an output's rows."""
    return [row["error"] and row["error"]["code"] for row in read_rows(place)]


def batch(
    template: cuecard.Template | str, source: Path | str, target: Path | str, **options: Any
) -> BatchResult:
    """Render files in this process."""
    return render_files(
        template, str(source), str(target), BatchOptions(**options), engine=in_process
    )

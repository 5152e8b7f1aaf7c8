"""A million prompts: one template over the rows of a table.

`ColumnRenderer` and `render_batches` render Arrow record batches, and need Arrow alone.
`render` adds prompts to a Daft dataframe. `render_files` renders files into files, on one
machine or a Ray cluster; it needs Daft for processes, clusters and URLs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .columns import (
        ROW_ERROR,
        ColumnRenderer,
        RenderedBatch,
        SegmentChoice,
        Summary,
        render_batches,
    )
    from .dataframe import render
    from .outcome import BatchProgress, BatchResult
    from .running import BatchOptions, render_files

__all__ = [
    "ROW_ERROR",
    "BatchOptions",
    "BatchProgress",
    "BatchResult",
    "ColumnRenderer",
    "RenderedBatch",
    "SegmentChoice",
    "Summary",
    "render",
    "render_batches",
    "render_files",
]

# Each loads what it needs and no more: `ColumnRenderer` works without Daft.
_LATER = {
    "ROW_ERROR": "columns",
    "BatchOptions": "running",
    "BatchProgress": "outcome",
    "BatchResult": "outcome",
    "ColumnRenderer": "columns",
    "RenderedBatch": "columns",
    "SegmentChoice": "columns",
    "Summary": "columns",
    "render": "dataframe",
    "render_batches": "columns",
    "render_files": "running",
}


if not TYPE_CHECKING:  # with it, a checker would take any name

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = value
        return value

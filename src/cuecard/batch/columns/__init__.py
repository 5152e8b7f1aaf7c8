"""Columns: a template rendered over an Arrow table, each segment as rarely as it can be."""

from .renderer import ColumnRenderer, render_batches
from .results import ROW_ERROR, RenderedBatch, SegmentChoice, SegmentSummary, Summary

__all__ = [
    "ROW_ERROR",
    "ColumnRenderer",
    "RenderedBatch",
    "SegmentChoice",
    "SegmentSummary",
    "Summary",
    "render_batches",
]

"""Explanations: where a prompt's text came from, what broke its cache, and what changed it."""

from .change import change_data, change_report
from .explanation import Explanation, diagnostics_data
from .listing import listing
from .page import page
from .plot import plot
from .turn_report import series_data, turn_report
from .turns import Series, changed_names, follow

__all__ = [
    "Explanation",
    "Series",
    "change_data",
    "change_report",
    "changed_names",
    "diagnostics_data",
    "follow",
    "listing",
    "page",
    "plot",
    "series_data",
    "turn_report",
]

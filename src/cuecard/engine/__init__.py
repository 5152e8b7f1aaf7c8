"""The engine: minijinja behind one seam, with the traps of its binding closed."""

from .filters import FilterError
from .program import (
    FORMAT_NAME,
    MAIN,
    MEASURE_NAME,
    NULL_NAME,
    UNDEFINED_NAME,
    EngineError,
    Program,
    describe,
)

__all__ = [
    "FORMAT_NAME",
    "MAIN",
    "MEASURE_NAME",
    "NULL_NAME",
    "UNDEFINED_NAME",
    "EngineError",
    "FilterError",
    "Program",
    "describe",
]

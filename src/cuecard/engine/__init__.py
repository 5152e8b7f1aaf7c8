"""The engine: minijinja behind one seam, with the traps of its binding closed."""

from .program import (
    FORMAT_NAME,
    MAIN,
    MEASURE_NAME,
    NULL_NAME,
    SPEND_NAME,
    UNDEFINED_NAME,
    EngineError,
    Program,
    describe,
)
from .refusals import FilterError

__all__ = [
    "FORMAT_NAME",
    "MAIN",
    "MEASURE_NAME",
    "NULL_NAME",
    "SPEND_NAME",
    "UNDEFINED_NAME",
    "EngineError",
    "FilterError",
    "Program",
    "describe",
]

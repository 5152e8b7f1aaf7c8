"""The compiler: from a source to a program, and from a failed render to what went wrong."""

from .compiled import Compiled, compile_source
from .segments import Choice, Filling, SegmentPlan, Segments

__all__ = ["Choice", "Compiled", "Filling", "SegmentPlan", "Segments", "compile_source"]

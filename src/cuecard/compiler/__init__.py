"""The compiler: from a source to a program, and from a failed render to what went wrong."""

from .compiled import Compiled, compile_source
from .segments import SegmentPlan, Segments

__all__ = ["Compiled", "SegmentPlan", "Segments", "compile_source"]

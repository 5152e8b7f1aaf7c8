"""The compiler: from a source to a program, and from a failed render to what went wrong."""

from .compiled import Compiled, compile_source

__all__ = ["Compiled", "compile_source"]

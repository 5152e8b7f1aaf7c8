"""The template language: what a template says, read from its source without the engine."""

from .expressions import Node, is_path, path_text, root_name
from .names import Names, Use, find_names
from .syntax import parse
from .units import Partials, UnderstandingError, Unit, read_newlines, read_unit

__all__ = [
    "Names",
    "Node",
    "Partials",
    "UnderstandingError",
    "Unit",
    "Use",
    "find_names",
    "is_path",
    "parse",
    "path_text",
    "read_newlines",
    "read_unit",
    "root_name",
]

"""Values: the context as plain data, frozen before a template sees it."""

from .conversion import freeze_mapping
from .freezer import Freezer
from .frozen import METHOD_NAMES, NULL, BigInt
from .size import Size, size_of

__all__ = ["METHOD_NAMES", "NULL", "BigInt", "Freezer", "Size", "freeze_mapping", "size_of"]

"""Values: the context as plain data, frozen before a template sees it."""

from .conversion import freeze_mapping
from .freezer import Freezer
from .frozen import METHOD_NAMES, NULL, BigInt
from .size import oversize

__all__ = ["METHOD_NAMES", "NULL", "BigInt", "Freezer", "freeze_mapping", "oversize"]

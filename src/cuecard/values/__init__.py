"""Values: the context as plain data, frozen before a template sees it."""

from .freezer import Freezer, freeze_mapping
from .frozen import METHOD_NAMES, NULL, BigInt

__all__ = ["METHOD_NAMES", "NULL", "BigInt", "Freezer", "freeze_mapping"]

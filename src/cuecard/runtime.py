"""What runs here already: packages that the application has loaded, and its event loop.

What nobody has loaded cannot be in use, so nothing is imported to find out.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["in_trio", "loaded"]


def loaded(name: str) -> Any:
    """A module that the application has loaded; None when it has not, or not yet all of it.

    Args:
        name: the module's full name.
    """
    module = sys.modules.get(name)
    # Another thread may be in the middle of the import, as the import system itself notes.
    if getattr(getattr(module, "__spec__", None), "_initializing", False):
        return None
    return module


def in_trio() -> bool:
    """Whether this is a task of trio."""
    trio = loaded("trio")
    return trio is not None and bool(trio.lowlevel.in_trio_run())

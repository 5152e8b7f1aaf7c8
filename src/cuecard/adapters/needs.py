"""What an adapter says when its framework is not installed, or is too old."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from ..errors import MissingExtraError

__all__ = ["unusable"]


def unusable(error: ImportError, package: str, *, module: str, extra: str) -> MissingExtraError:
    """The error to raise when a framework cannot be imported.

    Args:
        error: what the import raised.
        package: the framework and the oldest version that will do, such as `mcp>=2`.
        module: the framework's module; when it is another that is not found, or a name of
            it, the version is too old.
        extra: the extra of cuecard that brings it.
    """
    hint = f"pip install 'cuecard[{extra}]'"
    # What is tried first may be another package that the same extra brings.
    missing = isinstance(error, ModuleNotFoundError) and error.name == module
    if missing or (sys.modules.get(module) is None and find_spec(module) is None):
        name = package.partition(">")[0]
        return MissingExtraError(f"this adapter needs the package `{name}`", hint=hint)
    return MissingExtraError(
        f"this adapter needs `{package}`, and what is installed is another version",
        hint=f"{hint} --upgrade",
    )

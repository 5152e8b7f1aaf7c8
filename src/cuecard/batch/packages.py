"""Daft and Ray, imported in one place: silent to their makers, refused clearly, and ended well."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from typing import Any

from ..errors import MissingExtraError

__all__ = ["load_daft", "load_ray", "quiet"]

_SETTINGS = {
    "DAFT_ANALYTICS_ENABLED": "0",
    "DAFT_PROGRESS_BAR": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""What keeps both from reporting their use; a user's own settings are left alone."""


def quiet() -> dict[str, str]:
    """Have neither Daft nor Ray report its use, unless the environment says otherwise.

    Returns:
        The settings, for the workers of a cluster.
    """
    return {name: os.environ.setdefault(name, value) for name, value in _SETTINGS.items()}


def load_daft() -> Any:
    """The module `daft`.

    Raises:
        MissingExtraError: it is not installed (P807).
    """
    quiet()
    try:
        import daft
    except ModuleNotFoundError as error:
        raise _missing("daft", "batch") from error
    atexit.unregister(_settle)
    atexit.register(_settle)
    return daft


def _settle(seconds: float = 2.0) -> None:
    """Wait, before the interpreter ends, for threads of Daft that are still in Python code.

    The thread that tells the end of a query is at times not out of Python when the program ends.
    An interpreter that is ending takes such a thread down, and the whole process with it
    (SIGABRT, as seen with Python 3.11), after all is done and well.

    Args:
        seconds: the most to wait; threads of others may stay in Python for ever.
    """
    deadline = time.monotonic() + seconds
    settled = 0
    while settled < 2 and time.monotonic() < deadline:
        time.sleep(0.002)  # whoever waits for the interpreter gets it
        settled = 0 if sys._current_frames().keys() - _own_threads() else settled + 1


def _own_threads() -> set[int | None]:
    """The threads that Python started; it makes up others for those that it only meets."""
    made_up = threading._DummyThread
    return {each.ident for each in threading.enumerate() if not isinstance(each, made_up)}


def load_ray() -> Any:
    """The module `ray`.

    Raises:
        MissingExtraError: it is not installed (P807).
    """
    quiet()
    try:
        import ray
    except ModuleNotFoundError as error:
        raise _missing("ray", "ray") from error
    return ray


def _missing(package: str, extra: str) -> MissingExtraError:
    return MissingExtraError(
        f"batches need the package `{package}`", hint=f"pip install 'cuecard[{extra}]'"
    )

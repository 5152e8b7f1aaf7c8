"""Daft, imported in one place: without its reports to its makers, and with a clear refusal."""

from __future__ import annotations

import os
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
    return daft


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

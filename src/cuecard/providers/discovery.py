"""Providers that installed packages bring, in the entry-point group `cuecard.providers`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import ProviderError
from .contract import Registered, register

__all__ = ["GROUP", "Discovered", "discover_providers"]

GROUP = "cuecard.providers"


class Discovered(NamedTuple):
    """What an entry point names: a provider, or why there is none."""

    entry_point: str
    provider: Registered | None
    error: ProviderError | None = None


def discover_providers() -> Iterator[Discovered]:
    """Load what the group `cuecard.providers` names, sorted by name.

    An entry point names a provider, or a class or function without arguments that makes one.
    """
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value)):
        try:
            yield Discovered(point.name, register(_made(point.load())))
        except ProviderError as error:
            yield Discovered(point.name, None, error)
        except Exception as error:
            failure = ProviderError(
                f"the entry point `{point.name}` cannot be loaded: "
                f"it raised `{type(error).__name__}`",
                code="P305",
                hint="update or remove the package that declares it",
            )
            failure.__cause__ = error
            yield Discovered(point.name, None, failure)


def _made(loaded: Any) -> Any:
    if isinstance(loaded, type) or not hasattr(loaded, "contribute"):
        return loaded()
    return loaded

"""A failed render: all that is known about it, for those that explain it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..language.units import Unit
from ..profile import Profile
from ..source import Source
from .probing import Probe, Site
from .rewritten import Rewritten

__all__ = ["Failure", "Place"]


class Failure(NamedTuple):
    """All that is known about a failed render.

    Attributes:
        units: the templates that took part, by the engine's name for them.
        rewritten: what the engine was given of each.
        names: names that the context has.
        required: names that the templates need.
        values: the frozen values that the render was given.
        profile: how it was rendered.
        ask: renders again with a probe; gives the site that it reports, or None.
    """

    units: Mapping[str, Unit]
    rewritten: Mapping[str, Rewritten]
    names: Iterable[str]
    required: frozenset[str]
    values: Mapping[str, Any]
    profile: Profile
    ask: Callable[[Probe], Site | None]


class Place(NamedTuple):
    """A place in a source, as far as it is known."""

    source: Source
    start: int | None
    end: int | None

    def arguments(self) -> dict[str, Any]:
        """The place as errors take it."""
        return {"source": self.source, "start": self.start, "end": self.end}

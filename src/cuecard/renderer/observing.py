"""Observing: what each turn was rendered with, for those who record or watch a renderer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, NamedTuple

from ..agents import AgentDefinition
from ..providers import ProviderRequest

__all__ = ["Observed", "Observer", "Observers"]

_logger = logging.getLogger("cuecard.renderer")


class Observed(NamedTuple):
    """What a turn was rendered with.

    Attributes:
        definition: the agent; None when only a template is rendered.
        request: whom and when the render was for.
        values: the variables that the template reads, as they are, sorted by name.
    """

    definition: AgentDefinition | None
    request: ProviderRequest
    values: Mapping[str, Any]


Observer = Callable[[Observed], None]


class Observers:
    """Those who observe a renderer. Threads may add, end and tell at once.

    Attributes:
        present: the observers.
    """

    def __init__(self) -> None:
        self.present: tuple[Observer, ...] = ()
        self._lock = Lock()

    def add(self, observer: Observer) -> Callable[[], None]:
        """Add an observer; what is returned ends it."""
        with self._lock:
            self.present = (*self.present, observer)

        def end() -> None:
            with self._lock:
                self.present = tuple(each for each in self.present if each is not observer)

        return end

    def tell(self, observed: Observed) -> None:
        """Tell all of them; what one raises goes to the log."""
        for observer in self.present:
            try:
                observer(observed)
            except Exception as error:
                # What it says may hold values.
                _logger.warning("an observer of the renderer raised `%s`", type(error).__name__)

"""The tools that the agent may use."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, ClassVar

from ..prompt import Scope
from ..tools import ToolSpec
from .contract import ProviderRequest

__all__ = ["AgentToolsProvider"]

_logger = logging.getLogger("cuecard.providers")
_ALL = "*"


class AgentToolsProvider:
    """`tools`: the enabled ones in order, each with `name`, `description` and `parameters`.

    Args:
        tools: all tools that there are, in any form that `ToolSpec.of` takes. An agent that
            names its tools gets those, in its own order; one that says nothing of tools
            gets all. Without any, the names in an agent's header are all that is known.
    """

    name = "agent_tools"
    priority = 0
    instant = True
    provides: ClassVar = {"tools": Scope.STATIC}

    def __init__(self, tools: Iterable[Any] = ()) -> None:
        self._tools = [ToolSpec.of(tool) for tool in tools]

    def contribute(self, request: ProviderRequest) -> dict[str, Any]:
        """The enabled tools as mappings; none is an empty list."""
        named = request.definition.tools if request.definition is not None else None
        return {"tools": [_values(tool) for tool in self._enabled(named)]}

    def _enabled(self, named: tuple[str, ...] | None) -> list[ToolSpec]:
        if named is None or _ALL in named:
            return self._tools
        if not self._tools:
            return [ToolSpec(name) for name in named]
        known = {tool.name: tool for tool in self._tools}
        missing = [name for name in named if name not in known]
        if missing:
            _logger.warning("the agent names tools that are not known: %s", ", ".join(missing))
        return [known[name] for name in named if name in known]


def _values(tool: ToolSpec) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }

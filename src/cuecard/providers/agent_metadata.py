"""Who the agent is, and whom it serves."""

from __future__ import annotations

from typing import Any, ClassVar

from ..prompt import Scope
from .contract import ProviderRequest

__all__ = ["AgentMetadataProvider"]


class AgentMetadataProvider:
    """`agent_name`, `agent_id`, `namespace`; `user_id` and `session_id`. Null when unknown."""

    name = "agent_metadata"
    priority = 0
    instant = True
    provides: ClassVar = {
        "agent_name": Scope.STATIC,
        "agent_id": Scope.STATIC,
        "namespace": Scope.STATIC,
        "user_id": Scope.SESSION,
        "session_id": Scope.SESSION,
    }

    def contribute(self, request: ProviderRequest) -> dict[str, Any]:
        """The agent's from its definition, the others from the session and `auth`."""
        definition = request.definition
        return {
            "agent_name": definition.name if definition is not None else None,
            "agent_id": definition.id if definition is not None else None,
            "namespace": definition.namespace if definition is not None else None,
            "user_id": request.user_id,
            "session_id": request.session_id,
        }

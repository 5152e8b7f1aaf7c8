"""What the folder knows that the agent works in: the markdown path's variables."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from ..prompt import Scope
from ..skills import skill_values
from ..workspace import Workspace
from .contract import ProviderRequest

__all__ = ["WorkspaceFactsProvider"]

_logger = logging.getLogger("cuecard.providers")


class WorkspaceFactsProvider:
    """`workspace`, `environment`, `skills` and `user`; null without a workspace.

    Each is fetched only when the template reads it. The bodies of skills are read only for a
    template that names `body`.

    Args:
        workspace: the folder that the agent works in.
    """

    name = "workspace"
    priority = 0
    provides: ClassVar = {
        "workspace": Scope.STATIC,
        "environment": Scope.STATIC,
        "skills": Scope.SESSION,
        "user": Scope.SESSION,
    }

    def __init__(self, workspace: Workspace | None = None) -> None:
        self._workspace = workspace
        self.instant = workspace is None

    def contribute(self, request: ProviderRequest) -> dict[str, Any]:
        """Those of the variables that are read."""
        names = self.provides if request.names is None else request.names
        if self._workspace is None:
            return dict.fromkeys(names)
        known = self._workspace.values(names)
        for finding in known.diagnostics:
            _logger.warning("%s", finding)
        values = known.values
        if "skills" in values:
            template = request.definition.system_prompt if request.definition is not None else ""
            values["skills"] = skill_values(values["skills"], body="body" in template)
        return values

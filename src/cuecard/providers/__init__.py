"""Context providers: they fill the context before each turn, and only those that are read."""

from .agent_metadata import AgentMetadataProvider
from .agent_tools import AgentToolsProvider
from .contract import Contribution, Provider, ProviderRequest, Registered, provider, register
from .current_date import CurrentDateProvider
from .discovery import Discovered, discover_providers
from .identity import (
    agent_id_of,
    find_zone,
    session_id_of,
    state_of,
    user_id_of,
    zone_of,
)
from .plan import Plan, Skipped, Step, make_plan
from .todo_list import TodoListProvider, todo_list_markdown
from .workspace_facts import WorkspaceFactsProvider
from .workspace_notes import WorkspaceNotesProvider

__all__ = [
    "AgentMetadataProvider",
    "AgentToolsProvider",
    "Contribution",
    "CurrentDateProvider",
    "Discovered",
    "Plan",
    "Provider",
    "ProviderRequest",
    "Registered",
    "Skipped",
    "Step",
    "TodoListProvider",
    "WorkspaceFactsProvider",
    "WorkspaceNotesProvider",
    "agent_id_of",
    "discover_providers",
    "find_zone",
    "make_plan",
    "provider",
    "register",
    "session_id_of",
    "state_of",
    "todo_list_markdown",
    "user_id_of",
    "zone_of",
]

"""The operator path: a task's JSON fills the slots of an agent's system prompt."""

from ..errors import SpawnError
from .rendering import render_system
from .slots import slots_from_prompt
from .spawner import Operator, OperatorSpawner, TaskSpec

__all__ = [
    "Operator",
    "OperatorSpawner",
    "SpawnError",
    "TaskSpec",
    "render_system",
    "slots_from_prompt",
]

"""Spawning: an operator is started on a task, with the system prompt rendered for it."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass
from typing import Any, Protocol

from ..agents import AgentDefinition
from ..errors import RenderError, SpawnError
from .rendering import render_system
from .slots import slots_from_prompt

__all__ = ["Operator", "OperatorSpawner", "TaskSpec"]


class Operator(Protocol):
    """Whatever carries a task out, such as a client of a model."""

    def execute(self, *, system: str | None, prompt: str) -> Any:
        """Carry a task out.

        Args:
            system: the system prompt; None when the agent has none.
            prompt: the task, which becomes the user's message.

        Returns:
            Anything; an awaitable of it from an asynchronous operator.
        """


@dataclass(frozen=True)
class TaskSpec:
    """A task for an agent.

    Attributes:
        agent: the agent's name.
        initial_directive: what to do: text, of which a JSON object gives its keys as slots;
            a mapping of slots; or any other JSON value, which is the slot `directive`.
    """

    agent: str
    initial_directive: Any

    @property
    def prompt(self) -> str:
        """The task as the user's message: text as it is, anything else as JSON."""
        if isinstance(self.initial_directive, str):
            return self.initial_directive
        return json.dumps(self.initial_directive, ensure_ascii=False)


class OperatorSpawner:
    """Starts an operator on tasks.

    Args:
        operator: what carries them out.
        system_prompt: the template of the system prompt; or the agent that has one, whose
            declared inputs are then checked; None for no system prompt.

    Raises:
        TypeError: the operator has no method `execute`.
    """

    def __init__(
        self, operator: Operator, system_prompt: str | AgentDefinition | None = None
    ) -> None:
        if not callable(getattr(operator, "execute", None)):
            kind = type(operator).__name__
            raise TypeError(
                f"expected an operator with a method `execute(*, system, prompt)`, got `{kind}`"
            )
        self.operator = operator
        self.system_prompt = system_prompt

    def spawn(self, task: TaskSpec) -> Any:
        """Render the system prompt for a task, and have the operator carry it out.

        Returns:
            What the operator's `execute` returned; of an asynchronous operator an awaitable.

        Raises:
            SpawnError: the prompt cannot be rendered (`internal: render system_prompt: ...`);
                the operator was not called. What the operator raises is passed on.
        """
        system = self._system(task)
        try:
            prompt = task.prompt
        except (TypeError, ValueError, RecursionError) as error:
            raise SpawnError.internal("the task is no JSON", code="P806") from error
        return self.operator.execute(system=system, prompt=prompt)

    async def aspawn(self, task: TaskSpec) -> Any:
        """As `spawn`, for operators of both kinds: the result is awaited if it can be."""
        result = self.spawn(task)
        return await result if inspect.isawaitable(result) else result

    def _system(self, task: TaskSpec) -> str | None:
        if self.system_prompt is None:
            return None
        try:
            return render_system(self.system_prompt, slots_from_prompt(task.initial_directive))
        except RenderError as error:
            failure = SpawnError.internal(
                f"render system_prompt: {error.message}", code=error.code, hint=error.hint
            )
            failure.span, failure.template = error.span, error.template
            failure.line_text = error.line_text
            raise failure from error

"""The slots of an agent: what a caller has to pass, because no provider gives it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

from ..agents import AgentDefinition
from ..files import Folder
from ..profile import Profile
from ..renderer import PromptRenderer
from ..template import Template

__all__ = ["Slot", "declared_slots", "slots_beside", "slots_of"]


class Slot(NamedTuple):
    """A variable that a caller passes.

    Attributes:
        name: the variable.
        type: its declared type, in JSON Schema's names; `"any"` without a declaration.
        required: whether a render fails without it.
        default: the declared value when it is absent.
        description: what it is for.
    """

    name: str
    type: str = "any"
    required: bool = False
    default: Any = None
    description: str | None = None


def slots_of(
    agent: AgentDefinition, renderer: PromptRenderer, partials: Folder | None = None
) -> tuple[Slot, ...]:
    """The slots of an agent: its declared inputs in their order, then what else it reads.

    A variable that a provider gives is a slot only when the header declares it, and then
    need not be passed.

    Args:
        agent: the agent.
        renderer: renders it; its providers give the other variables.
        partials: the folder of partials that the renderer has.

    Raises:
        TemplateError: the template is invalid.
        TemplateNotFoundError: a partial does not exist.
    """
    provided = renderer.plan(agent).owners
    return slots_beside(agent, provided, renderer.profile, partials)


def slots_beside(
    agent: AgentDefinition,
    provided: Collection[str],
    default: Profile,
    partials: Folder | None = None,
) -> tuple[Slot, ...]:
    """As `slots_of`, of an agent beside what others provide.

    Args:
        agent: the agent.
        provided: the variables that need not be passed.
        default: the profile, when the header names none.
        partials: the folder of partials.

    Raises:
        TemplateError: the template is invalid.
        TemplateNotFoundError: a partial does not exist.
    """
    profile = replace(agent.profile_or(default), fallback=False)
    folder = partials if profile.partials else None
    template = Template(agent.source, profile=profile, partials=folder)
    declared = declared_slots(agent, provided)
    needed = template.required if profile.undefined == "strict" else frozenset()
    known = {slot.name for slot in declared}.union(provided)
    free = sorted(template.variables - known)
    return (*declared, *(Slot(name, required=name in needed) for name in free))


def declared_slots(agent: AgentDefinition, provided: Collection[str] = ()) -> tuple[Slot, ...]:
    """The slots that an agent's header declares.

    Args:
        agent: the agent.
        provided: the variables that need not be passed.
    """
    return tuple(
        Slot(
            entry.name,
            entry.type,
            entry.required and entry.name not in provided,
            entry.default,
            entry.description,
        )
        for entry in agent.inputs
    )

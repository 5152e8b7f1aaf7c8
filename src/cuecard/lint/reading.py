"""Reading a file into the document that rules look at."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..agents import AgentDefinition, read_agent
from ..errors import PromptError
from ..files import Folder, name_of, read_text
from ..frontmatter import read_document
from ..profile import LIVE, MARKDOWN, PROFILES, STRICT, Profile
from ..source import Source
from .collecting import Target
from .document import MARK, Document
from .known import BUILT_IN, OPERATOR_SLOTS, SECTIONS, declared, installed, provided
from .settings import Settings
from .shapes import Variable

__all__ = ["read_target"]


def read_target(target: Target, settings: Settings, text: str | None = None) -> Document:
    """The document of a file.

    Args:
        target: the file.
        settings: what is configured.
        text: its text, when it is known already, as in an editor.

    Raises:
        PromptError: the file cannot be read (P801) or is no text (P802).
    """
    if target.error is not None:
        raise target.error
    name = name_of(target.path)
    if text is None:
        text = read_text(target.path)
        mark = _mark_of(target.path)
    else:
        mark = MARK if text.startswith(MARK) else ""
        text = text.removeprefix(MARK)
    header, header_error, body = None, None, Source(text, name)
    try:
        header = read_document(text, name)
        body = header.body
    except PromptError as error:
        header_error = error
        body = Source("", name)
    agent, agent_error = None, None
    if header is not None and target.kind != "skill":
        try:
            agent = read_agent(header, None if target.path == "-" else Path(target.path))
        except PromptError as error:
            agent_error = error
    profile = _profile(target, agent, settings)
    return Document(
        name,
        target.kind,
        text,
        header=header,
        header_error=header_error,
        agent=agent,
        agent_error=agent_error,
        body=body,
        profile=replace(profile, limits=settings.limits),
        variables=_variables(target, agent, profile, settings),
        closed=_closed(agent, settings),
        settings=settings,
        folder=_folder(settings) if profile.partials else None,
        mark=mark,
    )


def _mark_of(path: str) -> str:
    """The byte order mark of a file, which `read_text` leaves out; "" when it has none."""
    if path == "-":
        return ""
    with open(path, "rb") as file:
        return MARK if file.read(3) == MARK.encode() else ""


def _profile(target: Target, agent: AgentDefinition | None, settings: Settings) -> Profile:
    if agent is not None and agent.profile is not None:
        return PROFILES[agent.profile]
    name = settings.profile_name(target.path)
    if name is not None:
        return PROFILES[name]
    if os.path.basename(target.path).lower() == "system.md":
        return MARKDOWN
    return LIVE if target.kind == "agent" else STRICT


def _variables(
    target: Target, agent: AgentDefinition | None, profile: Profile, settings: Settings
) -> Mapping[str, Variable]:
    known: dict[str, Variable] = {}
    if profile.name == "operator":
        known.update(OPERATOR_SLOTS)
    elif profile.name == "markdown":
        known.update(SECTIONS)
    else:
        known.update(BUILT_IN)
        if settings.entry_points:
            known.update(installed())
    for provider, scopes in settings.providers.items():
        known.update(provided(scopes, f"provider `{provider}`"))
    known.update(provided(settings.variables, "a declared slot"))
    if agent is not None:
        known.update(declared(agent.inputs, None))
    return known


def _closed(agent: AgentDefinition | None, settings: Settings) -> bool:
    return settings.only_declared or (agent is not None and bool(agent.inputs))


def _folder(settings: Settings) -> Folder | None:
    return Folder(settings.partials) if settings.partials is not None else None

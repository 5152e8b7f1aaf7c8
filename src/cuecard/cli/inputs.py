"""The files that the command reads: templates, JSON, and series of contexts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from ..agents import AgentDefinition, load_agent
from ..errors import PromptError, TemplateNotFoundError
from ..files import Folder, name_of, read_text
from ..profile import STRICT, Profile
from ..prompt import Scope
from ..source import Diagnostic, Source
from ..template import Template

__all__ = [
    "TemplateFile",
    "UsageError",
    "check_places",
    "read_template",
    "read_turns",
]


class UsageError(Exception):
    """The arguments do not make sense together."""


class TemplateFile(NamedTuple):
    """A template from a file, the agent that its header speaks of, and what was noticed."""

    template: Template
    agent: AgentDefinition

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was noticed in the header."""
        return self.agent.diagnostics


def read_template(
    file: str,
    profile: Profile | None,
    partials: str | None,
    scopes: Mapping[str, Scope] | None = None,
    *,
    default: Profile = STRICT,
) -> TemplateFile:
    """The template in a file; of a file with front matter, its body.

    Args:
        file: the file; `-` is standard input.
        profile: the profile that was asked for; None for the header's.
        partials: the folder of partials.
        scopes: how long values hold.
        default: the profile when neither an option nor the header names one.

    Raises:
        PromptError: the file cannot be read, its header is broken, or the template is
            invalid.
    """
    agent = load_agent(file)
    folder = Folder(partials) if partials is not None else None
    source = Source(agent.system_prompt, name_of(file), first_line=agent.first_line)
    chosen = profile or agent.profile_or(default)
    return TemplateFile(Template(source, profile=chosen, partials=folder, scopes=scopes), agent)


def check_places(places: Iterable[str]) -> None:
    """Refuse a folder that is named and not there: a usual one may be absent, a named one not.

    Raises:
        TemplateNotFoundError: there is no such folder (P803).
    """
    for place in places:
        if not os.path.lexists(place):
            raise TemplateNotFoundError("no such folder", template=place)


def read_turns(file: str) -> list[dict[str, Any]]:
    """The JSON objects of a file that has one a line; empty lines are left out.

    Raises:
        PromptError: the file cannot be read (P801, P802), or a line is no JSON (P806) or no
            object (P707).
    """
    source = Source(read_text(file), name_of(file))
    turns: list[dict[str, Any]] = []
    start = 0
    # Only line feeds part them: JSON's text may hold what else Python takes for a line break.
    for line in source.text.split("\n"):
        if line.strip():
            turns.append(_turn(line, source, start))
        start += len(line) + 1
    if not turns:
        raise PromptError(
            "the file holds no turn",
            code="P806",
            template=source.name,
            hint="write one JSON object a line",
        )
    return turns


def _turn(line: str, source: Source, start: int) -> dict[str, Any]:
    try:
        value = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        broken = fault if isinstance(fault, json.JSONDecodeError) else None
        message = f"invalid JSON: {broken.msg}" if broken else "invalid JSON"
        raise _bad_line(message, "P806", source, start + (broken.pos if broken else 0)) from None
    if not isinstance(value, dict):
        raise _bad_line("expected a JSON object of names to values", "P707", source, start)
    return value


def _bad_line(message: str, code: str, source: Source, offset: int) -> PromptError:
    error = PromptError(message, code=code, source=source, start=offset)
    error.line_text = ""  # it is data, not template
    return error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)

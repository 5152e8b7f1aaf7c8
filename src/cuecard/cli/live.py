"""Rendering as a runtime does before a turn, with the renderer that a command's options make."""

from __future__ import annotations

import argparse
import datetime
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..agents import AgentDefinition
from ..files import Folder, name_of
from ..profile import LIVE, PROFILES
from ..prompt import Prompt, Scope
from ..providers import Provider, find_zone, provider
from ..renderer import PromptRenderer
from ..source import Diagnostic
from ..stores import open_store
from ..stores.text_store import TextStore
from ..tools import load_tools
from ..workspace import Workspace
from .contexts import read_given, read_sections
from .fallbacks import caught_fallbacks
from .inputs import TemplateFile, UsageError, read_template
from .stores import read_todo_file

__all__ = ["LivePlan", "LiveRender", "plan_turn", "render_turn", "turn_data"]


class LiveRender(NamedTuple):
    """The prompt of a turn, the template that it is of, and what was noticed.

    Attributes:
        read: the template.
        prompt: the prompt.
        diagnostics: what was noticed in the header, in files, and by the render.
        log: what was only logged.
        is_fallback: whether the template failed and is used as it stands.
    """

    read: TemplateFile
    prompt: Prompt
    diagnostics: tuple[Diagnostic, ...]
    log: tuple[str, ...]
    is_fallback: bool


# rendering -------------------------------------------------------------------------------------


def render_turn(options: argparse.Namespace) -> LiveRender:
    """Render the prompt of a turn.

    Raises:
        UsageError: options are missing, or cannot be read.
        PromptError: a file cannot be read; or, under a profile that does not fall back, the
            render or a provider fails.
    """
    zone = None if options.zone is None else find_zone(options.zone)
    now = None if options.now is None else _moment(options.now, zone)
    if options.set_todo is not None and (options.session is None or options.store is None):
        raise UsageError("--set-todo needs --session and --store, whose list it replaces")
    read = _read(options)
    given = _given(options, read)
    with _opened(options) as store, _logging() as log:
        if options.set_todo is not None and store is not None:
            store.set_todos(options.session, read_todo_file(options.set_todo))
        with caught_fallbacks(read.template.name) as fallbacks:
            made = _renderer(options, read, given, store=store, zone=zone, now=now)
            definition = _definition(options, read.agent)
            prompt = made.renderer.prompt(definition, options.session, options.user, given)
    found = (*read.diagnostics, *made.diagnostics, *prompt.diagnostics)
    # The error behind a fallback is named by it.
    findings = (
        f._replace(template=f.template or prompt.template)
        for f in dict.fromkeys((*found, *fallbacks))
        if f.severity == "warning"
    )
    return LiveRender(read, prompt, tuple(findings), _unsaid(log, found), bool(fallbacks))


def turn_data(turn: LiveRender) -> dict[str, Any]:
    """What a program may want to know of a turn beside the text."""
    prompt = turn.prompt
    return {
        "seconds": prompt.seconds,
        "providers": [
            {**run._asdict(), "variables": sorted(run.variables)} for run in prompt.providers
        ],
        "blocks": [
            {"scope": block.scope.name.lower(), "characters": len(block.text)}
            for block in prompt.blocks()
        ],
        "cacheable_prefix": prompt.cacheable_prefix._asdict(),
        "diagnostics": [finding.data() for finding in prompt.diagnostics],
        "log": list(turn.log),
    }


class LivePlan(NamedTuple):
    """The plan of a turn, as data a row for each provider, and what was noticed."""

    rows: tuple[dict[str, Any], ...]
    diagnostics: tuple[Diagnostic, ...]
    log: tuple[str, ...]


def plan_turn(options: argparse.Namespace) -> LivePlan:
    """Plan a turn.

    Raises:
        UsageError: options cannot be read.
        PromptError: a file cannot be read, or the template is invalid.
    """
    read = _read(options)
    if read.template.failure is not None:
        raise read.template.failure
    given = _given(options, read)
    with _logging() as log:
        made = _renderer(options, read, given)
        plan = made.renderer.plan(_definition(options, read.agent), given)
    found = (*read.diagnostics, *made.diagnostics, *plan.diagnostics)
    return LivePlan(tuple(plan.rows()), found, _unsaid(log, found))


class _Made(NamedTuple):
    """A renderer, and what was noticed in the files that it was made from."""

    renderer: PromptRenderer
    diagnostics: tuple[Diagnostic, ...]


def _renderer(
    options: argparse.Namespace,
    read: TemplateFile,
    given: Mapping[str, Any],
    *,
    store: TextStore | None = None,
    zone: datetime.tzinfo | None = None,
    now: datetime.datetime | None = None,
) -> _Made:
    reads = read.template.variables
    sections = [n for n in ("skills", "mcp") if getattr(options, n) and n in reads]
    known = read_sections(options, read, [n for n in sections if n not in given])
    tools = load_tools(options.tools) if options.tools and "tools" in reads else None
    renderer = PromptRenderer(
        [_provider_of(known.values)] if known.values else [],
        entry_points=not options.no_entry_points,
        store=store,
        tools=tools or (),
        workspace=Workspace(options.workspace) if options.workspace is not None else None,
        profile=read.template.profile,
        clock=None if now is None else lambda: now,
        zone=zone,
        partials=None if options.partials is None else Folder(options.partials),
    )
    return _Made(renderer, (*known.diagnostics, *(tools.diagnostics if tools else ())))


def _provider_of(values: Mapping[str, Any]) -> Provider:
    """What --skills and --mcp name, in place of what the workspace knows of it."""

    @provider(*values, priority=1, scope=Scope.SESSION, name="command")
    def give(request: object) -> Mapping[str, Any]:
        return values

    return give


# what the options say ----------------------------------------------------------------------------


def _read(options: argparse.Namespace) -> TemplateFile:
    asked = PROFILES[options.profile] if options.profile else None
    return read_template(options.file, asked, options.partials, default=LIVE)


def _definition(options: argparse.Namespace, agent: AgentDefinition) -> AgentDefinition:
    """The agent, rendered by the profile that was asked for, and named for what was read."""
    path = Path(name_of(options.file))
    return replace(agent, path=path, profile=None if options.profile else agent.profile)


def _given(options: argparse.Namespace, read: TemplateFile) -> Mapping[str, Any]:
    inputs = {entry.name: entry for entry in read.agent.inputs}
    given = read_given(options, inputs, read.template.profile)
    return given if isinstance(given, dict) else {"value": given}


def _opened(options: argparse.Namespace) -> AbstractContextManager[TextStore | None]:
    return nullcontext() if options.store is None else open_store(options.store)


def _moment(text: str, zone: datetime.tzinfo | None) -> datetime.datetime:
    try:
        moment = datetime.datetime.fromisoformat(text)
        if moment.tzinfo is None and zone is not None:
            moment = moment.replace(tzinfo=zone)
        return moment.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        raise UsageError("--now takes a time such as 2026-11-29T18:42 or …T18:42:00Z") from None


def _unsaid(log: Iterable[str], findings: Iterable[Diagnostic]) -> tuple[str, ...]:
    """What was logged and is in no finding."""
    said = [finding.message for finding in findings]
    return tuple(dict.fromkeys(line for line in log if not any(text in line for text in said)))


@contextmanager
def _logging() -> Iterator[list[str]]:
    """The warnings that cuecard logs, of which nothing is printed on the way."""
    lines: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("cuecard")
    logger.addHandler(handler)
    try:
        yield lines
    finally:
        logger.removeHandler(handler)

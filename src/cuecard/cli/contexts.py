"""The context that a command's options give: single values, files, a task, a workspace."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..agents import Input
from ..errors import ContextError, PromptError
from ..files import read_json, read_text
from ..operator import slots_from_prompt
from ..profile import Profile
from ..source import Diagnostic
from .inputs import TemplateFile, UsageError, check_places

__all__ = [
    "Context",
    "add_section_arguments",
    "read_context",
    "read_file_context",
    "read_given",
    "read_sections",
    "read_turn_contexts",
]

_SECTIONS = ("workspace", "skills", "tools", "environment", "user", "mcp", "vision")


class Context(NamedTuple):
    """The values for a render, and what was noticed while they were gathered."""

    values: Any
    diagnostics: tuple[Diagnostic, ...] = ()


def add_section_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare where the sections of a workspace agent come from."""
    group = parser.add_argument_group("sections of the prompt")
    group.add_argument(
        "--workspace",
        metavar="DIR",
        help="the folder that the agent works in: gives `workspace`, `skills`, `environment` "
        "and `user`",
    )
    group.add_argument(
        "--skills",
        metavar="DIR",
        action="append",
        default=[],
        help="a folder of skills, instead of the workspace's own; may be repeated",
    )
    group.add_argument("--tools", metavar="FILE.json", help="a JSON list of tools, in any form")
    group.add_argument(
        "--mcp", metavar="FILE.json", help="a configuration of MCP servers: gives `mcp`"
    )


def read_context(options: argparse.Namespace, read: TemplateFile) -> Context:
    """The context that the options give, held against the inputs that the agent declares.

    Single values override the directive's, these a file's, and these the sections'.

    Raises:
        UsageError: a variable without `=`, or without a name.
        ContextError: a declared input is absent or of another type (P710, P711).
        PromptError: a file cannot be read (P801, P802), is no JSON (P806), ...
    """
    profile = read.template.profile
    inputs = {entry.name: entry for entry in read.agent.inputs}
    given = read_given(options, inputs, profile)
    if not isinstance(given, dict):
        return Context(given)
    sections = _sections(options, read, given)
    (values,), noticed = _filled(read, sections.values, [given])
    return Context(values, (*sections.diagnostics, *noticed))


def read_turn_contexts(
    options: argparse.Namespace, read: TemplateFile, turns: Iterable[Mapping[str, Any]]
) -> tuple[list[dict[str, Any]], tuple[Diagnostic, ...]]:
    """The contexts of a series: each turn laid over what the options give, as `read_context`.

    Raises:
        PromptError: what the options give is no mapping (P707), and as `read_context`.
    """
    inputs = {entry.name: entry for entry in read.agent.inputs}
    given = read_given(options, inputs, read.template.profile)
    if not isinstance(given, dict):
        raise PromptError(
            "turns are laid over a JSON object of names to values",
            code="P707",
            template=options.vars,
        )
    sections = _sections(options, read, given)
    contexts, noticed = _filled(read, sections.values, [{**given, **turn} for turn in turns])
    return contexts, (*sections.diagnostics, *noticed)


def _filled(
    read: TemplateFile, sections: Mapping[str, Any], given: Iterable[Mapping[str, Any]]
) -> tuple[list[dict[str, Any]], tuple[Diagnostic, ...]]:
    """Contexts held against the agent's inputs; what is noticed twice is told once."""
    names = {entry.name for entry in read.agent.inputs}
    declared = {name: value for name, value in sections.items() if name in names}
    guarded = read.template.optional
    filled = [read.agent.fill({**declared, **values}, guarded=guarded) for values in given]
    noticed = dict.fromkeys(finding for each in filled for finding in each.diagnostics)
    return [{**sections, **each.context} for each in filled], tuple(noticed)


def read_given(options: argparse.Namespace, inputs: Mapping[str, Input], profile: Profile) -> Any:
    """The values of --var, --directive and --vars, of which the first named override the others."""
    context: Any = {} if options.vars is None else read_file_context(options.vars, profile)
    named: dict[str, Any] = {}
    if options.directive is not None:
        named.update(slots_from_prompt(_directive_text(options.directive)))
    named.update(_single_values(options.variables, inputs))
    if not named:
        return context
    return {**context, **named} if isinstance(context, dict) else {"value": context, **named}


def read_file_context(file: str, profile: Profile) -> Any:
    """The context in a JSON file: an object, or for some profiles any value.

    Raises:
        PromptError: the file cannot be read (P801, P802), is no JSON (P806) or holds no
            object (P707).
    """
    context = read_json(file)
    if not isinstance(context, dict) and not profile.bind_value:
        raise PromptError(
            "expected a JSON object of names to values",
            code="P707",
            template=file,
            hint="only the profile `operator` takes other values, as `value`",
        )
    return context


def _directive_text(directive: str) -> str:
    return read_text("-") if directive == "-" else directive


def _single_values(assignments: Iterable[str], inputs: Mapping[str, Input]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        name = name.strip()
        if not equals or not name:
            # What stands there may be a secret: only the option is named.
            raise UsageError("--var takes NAME=VALUE, but one has no '=' or no name")
        values[name] = _typed(text, inputs[name]) if name in inputs else text
    return values


def _typed(text: str, declared: Input) -> Any:
    try:
        return declared.read(text)
    except ValueError:
        raise ContextError(
            f"the text for input `{declared.name}` cannot be read as `{declared.type}`",
            code="P711",
            path=f"$.{declared.name}",
            hint="arrays and objects are written as JSON",
        ) from None


# sections ----------------------------------------------------------------------------------


def _sections(options: argparse.Namespace, read: TemplateFile, given: Mapping[str, Any]) -> Context:
    """The sections that the template reads and nothing else gives; absent ones are null."""
    if not (options.workspace or options.skills or options.tools or options.mcp):
        return Context({})
    wanted = [n for n in _SECTIONS if n in read.template.variables and n not in given]
    return read_sections(options, read, wanted)


def read_sections(
    options: argparse.Namespace, read: TemplateFile, wanted: Iterable[str]
) -> Context:
    """What the options know of the wanted sections; null for those of which they do not."""
    values: dict[str, Any] = dict.fromkeys(wanted)
    diagnostics: list[Diagnostic] = []
    for part in _known_sections(options, list(values)):
        values.update(part.values)
        diagnostics.extend(part.diagnostics)
    if values.get("skills"):
        from ..skills import skill_values

        bodies = "body" in read.template.source.text
        values["skills"] = skill_values(values["skills"], body=bodies)
    return Context(values, tuple(diagnostics))


def _known_sections(options: argparse.Namespace, wanted: list[str]) -> Iterator[Context]:
    """What each option knows of the wanted sections; what is loaded is only what is asked."""
    if options.workspace is not None:
        from ..workspace import Workspace

        names = [n for n in wanted if n != "skills" or not options.skills]
        known = Workspace(options.workspace).values(names)
        yield Context(known.values, known.diagnostics)
    if options.skills and "skills" in wanted:
        from ..skills import discover_skills

        check_places(options.skills)
        skills = discover_skills(*options.skills)
        yield Context({"skills": skills}, skills.diagnostics)
    if options.tools is not None and "tools" in wanted:
        from ..tools import load_tools

        tools = load_tools(options.tools)
        yield Context({"tools": tools}, tools.diagnostics)
    if options.mcp is not None and "mcp" in wanted:
        from ..tools import load_mcp_servers

        yield Context({"mcp": load_mcp_servers(options.mcp)})

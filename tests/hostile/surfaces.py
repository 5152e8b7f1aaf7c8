"""Surfaces: the ways into cuecard that are attacked, each as people call it.

A surface takes an `Attempt` and returns what came out: a text, and the diagnostics beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import cuecard
from cuecard import markdown, operator
from cuecard.profile import PROFILES

__all__ = ["RENDERS", "SURFACES", "Attempt", "Output"]


class Attempt(NamedTuple):
    """An attack that is ready: its template, the context, and the folder of its files."""

    template: str
    context: Any
    profile: str
    folder: Path
    has_files: bool


class Output(NamedTuple):
    """What came out: a text, and the codes and messages of diagnostics."""

    text: str
    diagnostics: tuple[tuple[str, str], ...] = ()


Surface = Callable[[Attempt], Output]


def _template(attempt: Attempt) -> cuecard.Template:
    return cuecard.Template(
        attempt.template,
        profile=PROFILES[attempt.profile],
        name="attack",
        partials=cuecard.Folder(attempt.folder) if attempt.has_files else None,
    )


def _found(diagnostics: Iterable[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((found.code, found.message) for found in diagnostics)


def _render(attempt: Attempt) -> Output:
    return Output(_template(attempt).render(attempt.context))


def _trace(attempt: Attempt) -> Output:
    prompt = _template(attempt).trace(attempt.context)
    parts = [prompt.text[segment.start : segment.end] for segment in prompt.segments]
    return Output(prompt.text if "".join(parts) == prompt.text else "the segments lack text")


def _control_tokens(attempt: Attempt) -> Output:
    prompt = _template(attempt).trace(attempt.context)
    return Output(prompt.text, _found(prompt.control_tokens()))


def _isolated(attempt: Attempt) -> Output:
    """With limits that let everything through: what is left is the worker's own bounds."""
    limits = cuecard.Limits(
        fuel=1 << 60, output=1 << 60, nodes=1 << 40, width=1 << 40, tags=1 << 20, tag_tokens=1 << 20
    )
    profile = replace(PROFILES[attempt.profile], limits=limits)
    with cuecard.Isolation(workers=1, spare=0, memory=256 << 20, seconds=1.0) as isolation:
        try:
            return Output(isolation.render(attempt.template, attempt.context, profile=profile))
        finally:
            # Whatever became of it, the next render is served.
            assert isolation.render("{{ a }}", {"a": "next"}) == "next"


def _bind(attempt: Attempt) -> Output:
    return Output(_template(attempt).bind(attempt.context).render({}))


def _function(attempt: Attempt) -> Output:
    profile = PROFILES[attempt.profile]
    return Output(cuecard.render(attempt.template, attempt.context, profile=profile, name="attack"))


def _operator(attempt: Attempt) -> Output:
    return Output(operator.render_system(attempt.template, attempt.context))


def _slots(attempt: Attempt) -> Output:
    return Output(str(sorted(operator.slots_from_prompt(attempt.template))))


def _markdown(attempt: Attempt) -> Output:
    return Output(markdown.render_system(attempt.template, str(attempt.folder), **attempt.context))


def _live(attempt: Attempt) -> Output:
    renderer = cuecard.PromptRenderer()
    return Output(renderer.render(attempt.template, extra_vars=attempt.context))


def _agent(attempt: Attempt) -> Output:
    agent = cuecard.parse_agent(attempt.template, name="attack")
    template = cuecard.Template(agent.source, profile=agent.profile_or())
    filled = agent.fill(attempt.context)
    return Output(
        template.render(filled.context), _found((*agent.diagnostics, *filled.diagnostics))
    )


def _header(attempt: Attempt) -> Output:
    agent = cuecard.parse_agent(attempt.template, name="attack")
    kept = {key: agent.extras[key] for key in sorted(agent.extras)}
    shown = f"{agent.name}, {agent.description}, {agent.tools}, {kept}"
    return Output(shown, _found(agent.diagnostics))


def _agent_file(attempt: Attempt) -> Output:
    agent = cuecard.load_agent(attempt.folder / "agent.md")
    return Output(agent.system_prompt, _found(agent.diagnostics))


def _skills(attempt: Attempt) -> Output:
    found = cuecard.discover_skills(attempt.folder / "skills")
    bodies = [skill.body[:100] for skill in found]
    return Output(cuecard.skills_catalog(found) + "".join(bodies), _found(found.diagnostics))


def _catalog(attempt: Attempt) -> Output:
    return Output(cuecard.skills_catalog(attempt.context["skills"]))


def _tools(attempt: Attempt) -> Output:
    tools = [cuecard.ToolSpec.of(tool) for tool in attempt.context["tools"]]
    return Output(str([(tool.name, tool.description) for tool in tools]))


def _check(attempt: Attempt) -> Output:
    path = attempt.folder / "attack.agent.md"
    path.write_text(attempt.template, encoding="utf-8", errors="surrogatepass")
    return Output("", _found(cuecard.lint([path])))


def _names(attempt: Attempt) -> Output:
    template = _template(attempt)
    return Output(f"{sorted(template.required)} {sorted(template.optional)}")


RENDERS = ("render", "trace", "bind")
"""What an attack on all engines is tried as on cuecard."""

SURFACES: dict[str, Surface] = {
    "render": _render,
    "trace": _trace,
    "bind": _bind,
    "function": _function,
    "operator": _operator,
    "slots": _slots,
    "markdown": _markdown,
    "live": _live,
    "agent": _agent,
    "header": _header,
    "agent_file": _agent_file,
    "skills": _skills,
    "catalog": _catalog,
    "tools": _tools,
    "check": _check,
    "names": _names,
    "control_tokens": _control_tokens,
    "isolated": _isolated,
}

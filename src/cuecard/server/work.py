"""What worker processes do for requests: templates of strangers never run in the service itself.

Each function takes plain data and gives plain data, and is called by its name in a worker of
`Isolation`.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NamedTuple

from ..agents import AgentDefinition, parse_agent
from ..catalog import declared_slots, slots_beside
from ..errors import FallbackWarning, PromptError
from ..explain import Explanation, change_data, changed_names, follow, series_data
from ..files import Folder
from ..frontmatter import read_document
from ..lint import Checker, Finding, Settings, Target, fix_document, kind_of, read_target
from ..profile import LIVE, PROFILES, Profile
from ..prompt import Prompt, ProviderRun, Scope
from ..source import Source
from ..template import Template
from ..tokens import TokenCounter, find_counter
from .answers import check_output, prompt_data

__all__ = ["check", "diff", "explain", "reads", "render", "turns"]

Data = dict[str, Any]
_MARK = "\ufeff"


class _Text(NamedTuple):
    """A text that was sent, as an agent and as its template."""

    agent: AgentDefinition
    template: Template
    counter: TokenCounter | None
    body_start: int


def render(request: Data) -> Data:
    """A template rendered with a context."""
    profile = _bounded(PROFILES[request["profile"]], request)
    template = Template(
        request["template"],
        profile=profile,
        name=request["name"],
        scopes=_scopes(request),
    )
    prompt = _traced(template, request["context"], request)
    return prompt_data(prompt, template.source, profile.name, request["include"], _counter(request))


def explain(request: Data) -> Data:
    """A text rendered with a context, and where each part of it comes from."""
    read = _read(request)
    prompt = _traced(read.template, _filled(read, request["context"]), request)
    prompt.providers = tuple(
        ProviderRun(name, "called", tuple(variables))
        for name, variables in request.get("providers", {}).items()
    )
    profile = read.template.profile.name
    data = Explanation(prompt, read.template.source, profile, read.counter).data()
    return {**data, "body_start": read.body_start, "anthropic": prompt.anthropic_system()}


def diff(request: Data) -> Data:
    """The prompts of two contexts, compared."""
    read = _read(request)
    contexts = [_filled(read, request[which]) for which in ("before", "after")]
    before, now = (
        _traced(read.template, context, request).with_counter(read.counter) for context in contexts
    )
    found = now.diff(before)
    found = found._replace(variables=changed_names(found.variables, *contexts))
    return change_data(found, before, now, read.counter)


def turns(request: Data) -> Data:
    """The prompts of a series of contexts, each compared with the one before."""
    read = _read(request)
    given = request.get("given", {})
    contexts = [_filled(read, {**given, **turn}) for turn in request["turns"]]
    with _fallbacks():
        series = follow(read.template, contexts, read.counter or find_counter("auto"))
        prompts = [read.template.render(context) for context in contexts]
    check_output("".join(prompts), request["output"], read.template.name)
    return {**series_data(series, read.template), "prompts": prompts}


def reads(request: Data) -> Data:
    """The variables that a text reads, and the profile that its header names."""
    read = _read(request)
    variables = sorted(read.template.variables)
    return {"variables": variables, "profile": read.template.profile.name}


def check(request: Data) -> Data:
    """The mistakes of a text, with their places in it, and the text without those that can go."""
    settings = Settings(
        partials=request["partials"], entry_points=False, variables=request["variables"]
    )
    path = request["name"]
    target = Target(path, kind_of(path, settings))
    checker = Checker(settings)
    document = read_target(target, settings, request["text"])
    findings = checker.check_document(document).findings
    fixed = None
    if any(finding.fix is not None and finding.fix.safe for finding in findings):
        mended = fix_document(checker, target, document)
        fixed = mended.mark + mended.text
    starts = _line_starts(request["text"])
    return {
        "diagnostics": [_placed(finding, starts) for finding in findings],
        "fixed": fixed if fixed != request["text"] else None,
        "inputs": _inputs(request),
    }


# reading -----------------------------------------------------------------------------------


def _read(request: Data) -> _Text:
    text, name = request["text"], request["name"]
    body = read_document(text, name).body.text
    agent = parse_agent(text, name=name)
    asked = request["profile"]
    default = PROFILES[request.get("default_profile", "strict")]
    profile = _bounded(PROFILES[asked] if asked else agent.profile_or(default), request)
    template = Template(
        Source(agent.system_prompt, name, first_line=agent.first_line),
        profile=profile,
        partials=_folder(request) if profile.partials else None,
        scopes=_scopes(request),
    )
    return _Text(agent, template, _counter(request), len(text) - len(body))


def _folder(request: Data) -> Folder | None:
    path = request.get("partials")
    return None if path is None else Folder(path)


def _bounded(profile: Profile, request: Data) -> Profile:
    limits = replace(profile.limits, output=min(profile.limits.output, request["output"]))
    return replace(profile, limits=limits)


def _scopes(request: Data) -> dict[str, Scope]:
    return {name: Scope[scope.upper()] for name, scope in request["scopes"].items()}


def _counter(request: Data) -> TokenCounter | None:
    name = request["tokens"]
    if name is None:
        return None
    # A worker can write no file, and tiktoken keeps one unless it is told not to.
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", "")
    return find_counter(name)


def _filled(read: _Text, context: Mapping[str, Any]) -> Mapping[str, Any]:
    return read.agent.fill(context, guarded=read.template.optional).context


def _fallbacks() -> AbstractContextManager[None]:
    """Without warnings: a prompt says by itself why its template is used as it stands."""
    return warnings.catch_warnings(action="ignore", category=FallbackWarning)


def _traced(template: Template, context: Mapping[str, Any], request: Data) -> Prompt:
    with _fallbacks():
        prompt = template.trace(context)
    check_output(prompt.text, request["output"], template.name)
    return prompt


# findings ------------------------------------------------------------------------------------


def _line_starts(text: str) -> list[int]:
    # Columns do not count a byte order mark.
    starts = [len(text) - len(text.removeprefix(_MARK))]
    for position, character in enumerate(text):
        if character == "\n":
            starts.append(position + 1)
    return starts


def _placed(finding: Finding, starts: list[int]) -> Data:
    """A finding with the offsets of its place in the whole text, which a page marks."""
    data = finding.diagnostic.data()
    span = finding.span
    data["start"] = data["end"] = data["end_line"] = data["end_column"] = None
    if span is not None:
        data["end_line"], data["end_column"] = span.end_line, span.end_column
        data["start"] = _offset(span.line, span.column, starts)
        data["end"] = _offset(span.end_line, span.end_column, starts)
    data["fixable"] = finding.fix is not None and finding.fix.safe
    return data


def _offset(line: int, column: int, starts: list[int]) -> int:
    return starts[min(line, len(starts)) - 1] + column - 1


def _inputs(request: Data) -> list[Data]:
    """The slots of the text: its declared inputs, then what else it reads and nobody gives."""
    provided: Collection[str] = request["variables"]
    try:
        agent = parse_agent(request["text"], name=request["name"])
    except PromptError:
        return []
    try:
        slots = slots_beside(agent, provided, LIVE, _folder(request))
    except PromptError:
        slots = declared_slots(agent, provided)
    return [{**slot._asdict(), "default": _sendable(slot.default)} for slot in slots]


def _sendable(value: Any) -> Any:
    """A default, unless it holds a lone surrogate, which no text can."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return None
    return value

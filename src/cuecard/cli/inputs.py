"""What the command reads: the template's file, and the context that its options give."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, NoReturn

from ..errors import PromptError
from ..files import Folder, read_text
from ..frontmatter import read_document
from ..operator import slots_from_prompt
from ..profile import LIVE, MARKDOWN, OPERATOR, STRICT, Profile
from ..prompt import Scope
from ..source import Diagnostic, Source
from ..template import Template

__all__ = [
    "PROFILES",
    "TemplateFile",
    "UsageError",
    "read_context",
    "read_template",
    "read_turns",
]

PROFILES = {profile.name: profile for profile in (STRICT, OPERATOR, MARKDOWN, LIVE)}


class UsageError(Exception):
    """The arguments do not make sense together."""


class TemplateFile(NamedTuple):
    """A template from a file, and what was noticed in its header."""

    template: Template
    diagnostics: tuple[Diagnostic, ...]


def read_template(
    file: str,
    profile: Profile,
    partials: str | None,
    scopes: Mapping[str, Scope] | None = None,
) -> TemplateFile:
    """The template in a file; of a file with front matter, its body.

    Raises:
        PromptError: the file cannot be read, its header is broken, or the template is
            invalid.
    """
    text = read_text(file)
    name = "<stdin>" if file == "-" else file
    folder = Folder(partials) if partials is not None else None
    document = read_document(text, name)
    return TemplateFile(
        Template(document.body, profile=profile, partials=folder, scopes=scopes),
        document.diagnostics,
    )


def read_context(
    variables: Iterable[str], file: str | None, directive: str | None, profile: Profile
) -> Any:
    """The context that the options give: a file's, then the directive's, then single values.

    Raises:
        UsageError: a variable without `=`, or without a name.
        PromptError: the file cannot be read (P801, P802) or is no JSON (P806).
    """
    context: Any = {}
    if file is not None:
        context = _read_json(file)
        if not isinstance(context, dict) and not profile.bind_value:
            raise PromptError(
                "expected a JSON object of names to values",
                code="P707",
                template=file,
                hint="only the profile `operator` takes other values, as `value`",
            )
    named: dict[str, Any] = {}
    if directive is not None:
        named.update(slots_from_prompt(_directive_text(directive)))
    for assignment in variables:
        name, equals, value = assignment.partition("=")
        if not equals or not name.strip():
            # What stands there may be a secret: only the option is named.
            raise UsageError("--var takes NAME=VALUE, but one has no '=' or no name")
        named[name.strip()] = value
    if not named:
        return context
    return {**context, **named} if isinstance(context, dict) else {"value": context, **named}


def _directive_text(directive: str) -> str:
    return read_text("-") if directive == "-" else directive


def _read_json(file: str) -> Any:
    text = read_text(file)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        # The line of the fault is not shown: it is data, not template.
        line, column = error.lineno, error.colno
        raise PromptError(
            f"invalid JSON at line {line}, column {column}: {error.msg}",
            code="P806",
            template=file,
        ) from None
    except (ValueError, RecursionError):
        raise PromptError(
            "invalid JSON: a number that is none, or nested too deeply", code="P806", template=file
        ) from None


def read_turns(file: str) -> list[dict[str, Any]]:
    """The JSON objects of a file that has one a line; empty lines are left out.

    Raises:
        PromptError: the file cannot be read (P801, P802), or a line is no JSON (P806) or no
            object (P707).
    """
    source = Source(read_text(file), "<stdin>" if file == "-" else file)
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

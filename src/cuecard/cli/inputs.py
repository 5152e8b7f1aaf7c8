"""What the command reads: the template's file, and the context that its options give."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

from ..errors import PromptError
from ..files import Folder, read_text
from ..frontmatter import read_document
from ..operator import slots_from_prompt
from ..profile import LIVE, MARKDOWN, OPERATOR, STRICT, Profile
from ..source import Diagnostic
from ..template import Template

__all__ = ["PROFILES", "TemplateFile", "UsageError", "read_context", "read_template"]

PROFILES = {profile.name: profile for profile in (STRICT, OPERATOR, MARKDOWN, LIVE)}


class UsageError(Exception):
    """The arguments do not make sense together."""


class TemplateFile(NamedTuple):
    """A template from a file, and what was noticed in its header."""

    template: Template
    diagnostics: tuple[Diagnostic, ...]


def read_template(file: str, profile: Profile, partials: str | None) -> TemplateFile:
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
        Template(document.body, profile=profile, partials=folder), document.diagnostics
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


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)

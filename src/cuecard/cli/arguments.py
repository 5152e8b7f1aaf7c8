"""Arguments that several commands take, and what they mean."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

from ..profile import OPERATOR, PROFILES, STRICT
from ..prompt import Scope
from .inputs import TemplateFile, UsageError, read_template

__all__ = [
    "STORE_HELP",
    "STORE_VARIABLE",
    "add_partials_argument",
    "add_render_arguments",
    "add_scope_arguments",
    "add_store_argument",
    "check_standard_input",
    "read_asked_template",
    "read_scopes",
]


STORE_HELP = "the store: file:FOLDER, sqlite:PATH or postgresql://HOST/DATABASE"
STORE_VARIABLE = "CUECARD_STORE"


def add_render_arguments(parser: argparse.ArgumentParser, *, result: str) -> None:
    """Declare what a render needs: a template, a profile, a context, a place for its result."""
    parser.add_argument("file", metavar="FILE", help="the template; - is standard input")
    parser.add_argument(
        "--profile",
        choices=list(PROFILES),
        help="how to read and render (default: the header's, else strict, or operator with "
        "--directive)",
    )
    parser.add_argument(
        "--var",
        action="append",
        default=[],
        dest="variables",
        metavar="NAME=VALUE",
        help="one variable with a text value; may be repeated",
    )
    parser.add_argument("--vars", metavar="FILE.json", help="a JSON object of variables")
    parser.add_argument(
        "--directive",
        metavar="TEXT|-",
        help="a task: the keys of a JSON object become variables, other text `directive`",
    )
    add_partials_argument(parser)
    parser.add_argument(
        "--output", metavar="FILE", help=f"write {result} there, whole or not at all"
    )


def add_partials_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the folder of partials."""
    parser.add_argument(
        "--partials", metavar="DIR", help="the folder that include, import and extends read"
    )


def add_scope_arguments(parser: argparse.ArgumentParser, *, tokens: str) -> None:
    """Declare how long values hold, and what counts tokens."""
    parser.add_argument(
        "--scope",
        action="append",
        default=[],
        dest="scopes",
        metavar="NAME[,NAME]=SCOPE",
        help="how long values hold: static, session, day or turn (default: turn); may be repeated",
    )
    parser.add_argument("--tokens", metavar="COUNTER", help=tokens)


def add_store_argument(parser: argparse.ArgumentParser) -> None:
    """Declare which store a command works on."""
    parser.add_argument(
        "--store", metavar="URL", help=f"{STORE_HELP} (default: the variable {STORE_VARIABLE})"
    )


def read_asked_template(
    options: argparse.Namespace, scopes: Mapping[str, Scope] | None = None
) -> TemplateFile:
    """The template that the options name, read by the profile that they or its header name.

    Raises:
        PromptError: the file cannot be read, or is invalid.
    """
    asked = PROFILES[options.profile] if options.profile else None
    default = STRICT if options.directive is None else OPERATOR
    return read_template(options.file, asked, options.partials, scopes, default=default)


def check_standard_input(*files: str | None) -> None:
    """See that at most one of these is standard input.

    Raises:
        UsageError: more than one is.
    """
    if files.count("-") > 1:
        raise UsageError("standard input can be read only once")


def read_scopes(assignments: Iterable[str]) -> dict[str, Scope]:
    """Scopes by variable, from `NAME=SCOPE` or `NAME,NAME=SCOPE`.

    Raises:
        UsageError: an assignment without `=` or name, or with a scope that does not exist.
    """
    scopes: dict[str, Scope] = {}
    known = {scope.name: scope for scope in Scope}
    for assignment in assignments:
        names, equals, given = assignment.partition("=")
        listed = [name.strip() for name in names.split(",")]
        if not equals or not all(listed):
            raise UsageError(f"--scope takes NAME=SCOPE, not {assignment!r}")
        scope = known.get(given.strip().upper())
        if scope is None:
            from ..language.vocabulary import nearest

            hint = nearest(given.strip().lower(), [name.lower() for name in known])
            raise UsageError(
                f"no scope {given!r}: it is static, session, day or turn"
                + (f". {hint}" if hint else "")
            )
        scopes.update(dict.fromkeys(listed, scope))
    return scopes

"""`cuecard doctor`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .. import __version__
from ..errors import PromptError
from ..layout import table
from ..source import Diagnostic
from .arguments import STORE_VARIABLE, add_store_argument
from .installed import Extra, extras, installed_version
from .output import print_diagnostics, print_json, write_text

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


DESCRIPTION = """\
Say what is installed, what can be reached, and what is wrong: versions, the extras and what
they lack, the store, the providers that packages bring, the settings of `check`.

Exits with 1 when something is wrong. An extra that is not installed is not wrong; a package
that is older than an extra needs is."""

EXAMPLES = """\
examples:
  cuecard doctor
  cuecard doctor --store sqlite:agent.db
  cuecard doctor --json
"""

_CORE = ("minijinja", "msgspec", "PyYAML")


class _Found(NamedTuple):
    """A thing that was looked at: its name, what is said of it, and what is wrong with it."""

    name: str
    state: str
    problems: tuple[Diagnostic, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_store_argument(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Look, print, and give the exit code."""
    groups = {
        "versions": list(_versions()),
        "extras": [_extra(extra) for extra in extras()],
        "store": [_store(options.store or os.environ.get(STORE_VARIABLE))],
        "providers": list(_providers()),
        "settings": [_settings()],
    }
    problems = [p for found in groups.values() for each in found for p in each.problems]
    if options.json:
        print_json(_data(groups, problems))
    else:
        write_text("\n".join(_listing(groups)) + "\n", None)
        print_diagnostics(problems)
    return 1 if problems else 0


def _versions() -> Iterator[_Found]:
    yield _Found("cuecard", __version__)
    yield _Found("python", f"{platform.python_version()} ({sys.executable})")
    yield _Found("system", f"{platform.system()} {platform.release()} {platform.machine()}")
    for package in _CORE:
        yield _Found(package, installed_version(package) or "missing")


def _extra(extra: Extra) -> _Found:
    install = f"pip install 'cuecard[{extra.name}]'"
    problems = tuple(
        Diagnostic("P807", f"the extra needs {bounds}", None, extra.name, "error", install)
        for bounds in extra.outdated
    )
    if extra.missing:
        return _Found(extra.name, f"lacks {', '.join(extra.missing)}: {install}", problems)
    versions = ", ".join(f"{name} {version}" for name, version in extra.present)
    return _Found(extra.name, versions, problems)


def _store(address: str | None) -> _Found:
    if address is None:
        return _Found("none", f"name one by --store or {STORE_VARIABLE}")
    from ..stores import open_store

    try:
        with open_store(address) as store:
            store.profile("cuecard-doctor")
            name = type(store).__name__
    except PromptError as error:
        # An address may hold a password.
        return _Found("store", "cannot be used", (error.diagnostic()._replace(template="store"),))
    return _Found(name, "can be read")


def _providers() -> Iterator[_Found]:
    from ..providers import discover_providers

    for each in discover_providers():
        if each.provider is None:
            problems = () if each.error is None else (each.error.diagnostic(),)
            yield _Found(each.entry_point, "cannot be loaded", problems)
        else:
            names = ", ".join(sorted(each.provider.provides or ())) or "does not say what it gives"
            yield _Found(each.entry_point, names)


def _settings() -> _Found:
    from ..lint import find_settings

    try:
        settings = find_settings()
    except PromptError as error:
        return _Found(error.template or "settings", "cannot be read", (error.diagnostic(),))
    return _Found(settings.path or "none", "defaults" if settings.path is None else "can be read")


def _listing(groups: dict[str, list[_Found]]) -> Iterator[str]:
    rows = [
        (group if number == 0 else "", each.name, each.state)
        for group, found in groups.items()
        for number, each in enumerate(found or [_Found("none", "")])
    ]
    yield from table(("", "name", "state"), rows)


def _data(groups: dict[str, list[_Found]], problems: Iterable[Diagnostic]) -> dict[str, Any]:
    listed = {
        group: [{"name": each.name, "state": each.state, "ok": not each.problems} for each in found]
        for group, found in groups.items()
    }
    return {**listed, "problems": [problem.data() for problem in problems]}

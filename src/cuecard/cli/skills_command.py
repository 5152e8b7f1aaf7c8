"""`cuecard skills`."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..errors import PromptError
from ..layout import excerpt, table, visible
from ..skills import Skill, discover_skills, skill_folders, skills_catalog
from ..source import Found
from .inputs import check_places
from .output import error_data, print_diagnostics, print_json, write_text

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


_COLUMNS = ("name", "description", "folder")
_NARROWEST = 20

DESCRIPTION = """\
List the skills that an agent would see: folders with a SKILL.md, those of an earlier FOLDER
hiding those of a later one. Without a FOLDER, the usual ones of the current folder and of
the user are searched: .agents/skills, .claude/skills and those of other clients.

What is wrong with a skill is printed to standard error, and never hides another skill.
With --strict, a skill that breaks any rule is left out, and the exit code is 1."""

EXAMPLES = """\
examples:
  cuecard skills
  cuecard skills .agents/skills --strict
  cuecard skills --disable deploy --catalog
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "folders", metavar="FOLDER", nargs="*", help="where to look (default: the usual folders)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print as JSON")
    form.add_argument(
        "--catalog", action="store_true", help="print the block that a prompt holds of them"
    )
    parser.add_argument(
        "--strict", action="store_true", help="leave out what breaks a rule, and exit with 1"
    )
    parser.add_argument(
        "--disable",
        action="append",
        default=[],
        dest="disabled",
        metavar="NAME",
        help="leave out the skill of this name; may be repeated",
    )


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """List, and give the exit code."""
    try:
        folders = _folders(options.folders)
    except PromptError as error:
        if options.json:
            print_json({"error": error_data(error)})
        raise
    found = discover_skills(*folders, disabled=options.disabled, strict=options.strict)
    if options.json:
        print_json(_data(found))
    elif options.catalog:
        catalog = skills_catalog(found)
        write_text(catalog + "\n" if catalog else "", None)
    else:
        write_text(_listing(found), None)
    print_diagnostics(found.diagnostics)
    return 1 if options.strict and found.diagnostics else 0


def _folders(given: Iterable[str]) -> Sequence[str | Path]:
    folders = list(given)
    check_places(folders)
    return folders or skill_folders()


def _data(found: Found[Skill]) -> dict[str, Any]:
    return {
        "skills": [skill.as_mapping() for skill in found],
        "diagnostics": [finding.data() for finding in found.diagnostics],
    }


def _listing(found: Found[Skill]) -> str:
    if not found:
        return "No skills.\n"
    names = [excerpt(skill.name) for skill in found]
    folders = [visible(str(skill.path.parent)) for skill in found]
    others = (_COLUMNS[0], *names), (_COLUMNS[2], *folders)
    taken = sum(max(map(len, column)) + 2 for column in others)
    width = max(_NARROWEST, shutil.get_terminal_size().columns - taken)
    descriptions = [excerpt(" ".join(skill.description.split()), width) for skill in found]
    return "\n".join(table(_COLUMNS, zip(names, descriptions, folders, strict=True))) + "\n"

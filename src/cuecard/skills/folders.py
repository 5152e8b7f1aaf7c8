"""The folders in which agents' clients keep skills."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

__all__ = ["CLIENTS", "skill_folders"]

CLIENTS = ("claude", "codex", "copilot", "cursor", "gemini", "github", "goose", "opencode")
"""The clients whose folders are looked at, in this order."""


def skill_folders(
    project: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    clients: Iterable[str] = CLIENTS,
) -> tuple[Path, ...]:
    """The usual folders of skills, whether they exist or not; the first has precedence.

    Args:
        project: the project's folder; the current one by default.
        home: the user's folder; by default the one that the system names, if any.
        clients: names of clients, each with a folder `.NAME/skills`.

    Returns:
        `.agents/skills` and each client's folder in the project, then the same in the home
        folder.
    """
    names = ("agents", *clients)
    places = [Path.cwd() if project is None else Path(project)]
    own = _home() if home is None else Path(home)
    if own is not None:
        places.append(own)
    return tuple(dict.fromkeys(place / f".{name}" / "skills" for place in places for name in names))


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None

"""What is installed of the packages that cuecard's extras name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from typing import NamedTuple

__all__ = ["Extra", "extras", "installed_version"]

_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(?:\[(?P<extras>[\w.,\s-]+)\])?\s*(?P<bounds>[^;]*)"
    r"(?:;(?P<marker>.*\bextra\s*==\s*['\"](?P<extra>[\w.-]+)['\"]).*)?"
)
_ALL = "all"


class Extra(NamedTuple):
    """An extra of cuecard.

    Attributes:
        name: its name.
        present: the packages of it that are installed, with their versions.
        missing: the packages of it that are not.
        outdated: requirements that what is installed does not meet.
    """

    name: str
    present: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    outdated: tuple[str, ...]


def installed_version(package: str) -> str | None:
    """The version of a package; None when it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def extras() -> list[Extra]:
    """The extras of the installed cuecard, sorted by name; without `all`."""
    declared: dict[str, list[re.Match[str]]] = {}
    for line in metadata.requires("cuecard") or ():
        found = _REQUIREMENT.match(line)
        if found is not None and found["extra"] is not None:
            declared.setdefault(found["extra"], []).append(found)
    return [_extra(name, declared) for name in sorted(declared) if name != _ALL]


def _extra(name: str, declared: dict[str, list[re.Match[str]]]) -> Extra:
    present: list[tuple[str, str]] = []
    missing: list[str] = []
    outdated: list[str] = []
    for package, bounds, anywhere in dict.fromkeys(_packages(name, declared)):
        version = installed_version(package)
        if version is not None:
            present.append((package, version))
            if not _is_new_enough(version, bounds):
                outdated.append(f"{package}{bounds}")
        elif anywhere:
            missing.append(package)
    return Extra(name, tuple(present), tuple(missing), tuple(outdated))


def _packages(
    name: str, declared: dict[str, list[re.Match[str]]]
) -> Iterator[tuple[str, str, bool]]:
    """The packages of an extra, and of those that it is made of, with their bounds.

    The last of the three says whether every platform needs it.
    """
    for found in declared.get(name, ()):
        if found["name"] == "cuecard":
            for other in (found["extras"] or "").split(","):
                yield from _packages(other.strip(), declared)
        else:
            yield found["name"], found["bounds"].strip(), " and " not in found["marker"]


def _is_new_enough(version: str, bounds: str) -> bool:
    """Whether a version meets a lower bound; nothing else bounds an extra of ours."""
    lower = re.search(r">=\s*([\d.]+)", bounds)
    return lower is None or _numbers(version) >= _numbers(lower[1])


def _numbers(version: str) -> tuple[int, ...]:
    leading = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, leading[0].split("."))) if leading else ()

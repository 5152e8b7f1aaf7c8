"""Environments that hold a wheel and what an extra of it needs, and nothing else.

Nothing is fetched: what is needed is in the environment of the tests already. Which packages
an extra needs is read from the wheel's metadata, and from that of the packages; those alone are
linked, file by file where two packages share a folder. So a package that is used and not
declared is missing here, as it is where a user installs the extra.

`matrix.py` installs each extra for real.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable, Iterator
from email.message import Message
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from . import archives

PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 300


def run_programs(folder: Path, *extras: str, **environment: str) -> None:
    """Run the programs of some extras in an environment, in one process; each must end well."""
    names = [extra.replace("-", "_") for extra in extras]
    files = [str(PROGRAMS / f"{name}.py") for name in names]
    done = run(folder, str(PROGRAMS / "run.py"), *files, **environment)
    told = f"{done.stdout[-2000:]}{done.stderr[-4000:]}"
    assert done.returncode == 0, told
    assert [line for line in done.stdout.splitlines() if line.endswith(" ok")] == [
        f"{name} ok" for name in names
    ], told


def run(
    folder: Path, *arguments: str, given: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the Python of an environment, which sees nothing else, in an empty folder.

    Args:
        folder: the environment.
        arguments: what Python is given.
        given: standard input.
        environment: variables besides those that find programs and homes.
    """
    here = folder / "here"
    here.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name in ("LANG", "TMPDIR")}
    path = f"{folder / 'bin'}:{os.defpath}"
    return subprocess.run(
        [folder / "bin" / "python", "-I", *arguments],
        cwd=here,
        env={**kept, "PATH": path, "HOME": str(here), "NO_COLOR": "1", **environment},
        input=given,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def installed(folder: Path, wheel: Path) -> Path:
    """An environment into which pip has installed a wheel, and linked what its core needs.

    The environment of the tests lends pip; it is not in this one.
    """
    blank(folder)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    options = ["-qq", "--no-deps", "--no-index", "--disable-pip-version-check", "--no-compile"]
    subprocess.run([*pip, *options, str(wheel)], check=True, timeout=120)
    return folder


@functools.cache
def core() -> Path:
    """An environment with the wheel of this checkout, and what its core needs."""
    folder = installed(archives.temporary("core") / "venv", archives.made().wheel)
    link(site_of(folder), packages_of(""))
    return folder


def with_extra(extra: str, folder: Path) -> Path:
    """An environment in a new folder, with the wheel of this checkout and one extra."""
    return linked(folder / "venv", core(), packages_of(extra))


def packages_of(extra: str) -> frozenset[str]:
    """The packages that the wheel of this checkout needs; the empty extra is its core."""
    return closure(archives.made().metadata(), [extra] if extra else [])


def blank(folder: Path) -> Path:
    """An environment without any package, not even pip."""
    venv.EnvBuilder(symlinks=True).create(folder)
    return folder


def site_of(folder: Path) -> Path:
    """Where the packages of an environment are."""
    (site,) = folder.glob("lib/python*/site-packages")
    return site


# what is needed ----------------------------------------------------------------------------------


def closure(about: Message, extras: Iterable[str]) -> frozenset[str]:
    """The packages that a wheel needs, by their canonical names, and all that those need.

    Args:
        about: the metadata of the wheel.
        extras: which of its extras; none for its core.
    """
    found: set[str] = set()
    seen: set[tuple[str, frozenset[str]]] = set()
    open_needs = list(needs(about.get_all("Requires-Dist", ()), frozenset(extras)))
    while open_needs:
        requirement = open_needs.pop()
        name, more = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, more) in seen:
            continue
        seen.add((name, more))
        distribution = metadata.distribution(name)
        assert requirement.specifier.contains(distribution.version, prereleases=True), requirement
        found.add(name)
        open_needs += needs(distribution.requires or (), more)
    return frozenset(found)


def needs(lines: Iterable[str], extras: frozenset[str]) -> Iterator[Requirement]:
    """The requirements that hold here, with some extras."""
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras | {""}):
            yield requirement


# linking -----------------------------------------------------------------------------------------


class Tree:
    """Who owns the files below a folder: as a whole, and each of its entries."""

    __slots__ = ("entries", "owners")

    def __init__(self) -> None:
        self.owners: set[str] = set()
        self.entries: dict[str, Tree] = {}

    def add(self, owner: str, parts: tuple[str, ...]) -> None:
        """Add a file, by the parts of its path."""
        self.owners.add(owner)
        if parts:
            self.entries.setdefault(parts[0], Tree()).add(owner, parts[1:])

    def link(self, chosen: frozenset[str], source: Path, target: Path) -> None:
        """Link what some packages own, whole folders where no other has a file in them."""
        for name, entry in self.entries.items():
            if entry.owners <= chosen:
                (target / name).symlink_to(source / name)
            elif entry.owners & chosen and entry.entries:
                (target / name).mkdir()
                entry.link(chosen, source / name, target / name)


@functools.cache
def tree() -> tuple[Path, Tree]:
    """The packages of the environment of the tests, and where they are."""
    root = Tree()
    site = Path(sysconfig.get_path("purelib"))
    for record in site.glob("*.dist-info/RECORD"):
        owner = canonicalize_name(record.parent.name.partition("-")[0])
        for file in metadata.Distribution.at(record.parent).files or ():
            if file.parts[0] != ".." and "__pycache__" not in file.parts:
                root.add(owner, file.parts)
    return site, root


def linked(folder: Path, installation: Path, packages: frozenset[str]) -> Path:
    """An environment with the package of another one, and some packages of this one.

    Args:
        folder: the new environment.
        installation: the one into which the wheel was installed.
        packages: canonical names.
    """
    blank(folder)
    target = site_of(folder)
    for entry in site_of(installation).glob("cuecard*"):
        (target / entry.name).symlink_to(entry)
    link(target, packages)
    return folder


def link(target: Path, packages: frozenset[str]) -> None:
    """Link some packages of the environment of the tests into a folder for packages."""
    site, root = tree()
    missing = packages - root.owners
    assert not missing, f"without files: {sorted(missing)}"
    root.link(packages, site, target)

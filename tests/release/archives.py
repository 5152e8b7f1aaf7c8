"""The archives that go to the package index, as `python -m build` makes them."""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]


class Archives(NamedTuple):
    """A wheel, and the source archive that it was built from."""

    wheel: Path
    source: Path

    def metadata(self) -> Message:
        """What the wheel says of itself."""
        with zipfile.ZipFile(self.wheel) as wheel:
            (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
            return HeaderParser().parsestr(wheel.read(name).decode())

    def members(self) -> dict[str, bytes]:
        """The files of the wheel."""
        with zipfile.ZipFile(self.wheel) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}

    def source_names(self) -> set[str]:
        """The names of the files of the source archive, without its one folder."""
        with tarfile.open(self.source) as archive:
            files = [member.name for member in archive if member.isfile()]
        assert {name.partition("/")[0] for name in files} == {self.source.name[: -len(".tar.gz")]}
        return {name.partition("/")[2] for name in files}


def built(folder: Path, sources: Path = ROOT, *formats: str) -> Archives:
    """The archives that are built into an empty folder.

    Args:
        folder: where they are put.
        sources: what they are built from.
        formats: `--wheel` to build it from the sources; else it is built from the source
            archive, as whoever has nothing else does.
    """
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    done = subprocess.run(
        [*command, *formats, str(sources)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return in_folder(folder)


@functools.cache
def made() -> Archives:
    """The archives of this checkout, once a process: the wheel is built from the other."""
    return built(temporary("archives"))


def temporary(name: str) -> Path:
    """A folder that ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix=f"cuecard-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def in_folder(folder: Path) -> Archives:
    """The archives in a folder that has one of each, or a wheel alone."""
    (wheel,) = folder.glob("*.whl")
    return Archives(wheel, next(folder.glob("*.tar.gz"), wheel))

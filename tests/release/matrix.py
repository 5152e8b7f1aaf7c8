"""Install each extra for real and run its program: `python -m tests.release.matrix`.

The archives in the folder are the ones that are uploaded. When all is well, and they were
built from a commit, their checksums are written, for `sha256sum --check`.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ..store_backends import postgres_address
from . import archives, environments, types

SUMS = archives.ROOT / "build" / "release" / "tested.sha256"
OWN_PROCESS = "ray"
"""The extra whose program cannot run in the process of another: Daft has one engine in each."""


def main() -> None:
    """Read the arguments, and try everything."""
    parser = argparse.ArgumentParser(prog="python -m tests.release.matrix", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the archives are, and nothing else")
    parser.add_argument("--uv", required=True, help="the program `uv`")
    parser.add_argument("--python", default=sys.executable, help="the Python to install into")
    options = parser.parse_args()
    SUMS.unlink(missing_ok=True)
    made = archives.in_folder(options.folder)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cuecard-release-") as folder:
        for extra in ("", *archives.EXTRAS):
            _try(Path(folder, extra or "core"), made, extra, options)
        types.check(Path(folder, "core"), Path(folder, "types"))
        _say("types", "mypy and pyright agree")
    _say("", f"{time.monotonic() - started:.0f} s in all")
    _sign(made)


def _try(folder: Path, made: archives.Archives, extra: str, options: argparse.Namespace) -> None:
    """Install the wheel with an extra into a new environment, and run what it is for."""
    started = time.monotonic()
    python = folder / "bin" / "python"
    wanted = f"cuecard[{extra}] @ {made.wheel.resolve().as_uri()}" if extra else str(made.wheel)
    _call(options.uv, "venv", "--quiet", "--python", options.python, str(folder))
    _call(options.uv, "pip", "install", "--quiet", "--python", str(python), wanted)
    _call(options.uv, "pip", "check", "--quiet", "--python", str(python))
    count = len(list(environments.site_of(folder).glob("*.dist-info")))
    ready = time.monotonic()
    for programs in _programs(extra):
        environments.run_programs(folder, *programs, POSTGRES=postgres_address())
    version = environments.run(folder, "-V").stdout.split()[-1]
    seconds = f"{ready - started:.0f} s to install, {time.monotonic() - ready:.0f} s to run"
    _say(extra or "core", f"{count} packages on Python {version}, {seconds}")


def _programs(extra: str) -> list[list[str]]:
    """The programs to run with an extra, those of one process together."""
    if extra == "all":
        return [["core", *together()], [OWN_PROCESS]]
    return [["core"], [extra]] if extra else [["core"]]


def together() -> list[str]:
    """The extras whose programs can run in one process."""
    return [extra for extra in archives.EXTRAS if extra not in ("all", OWN_PROCESS)]


def _sign(made: archives.Archives) -> None:
    changed = _call("git", "-C", str(archives.ROOT), "status", "--porcelain")
    if changed:
        _say("", "not to be uploaded: the checkout has changes that no commit has")
        return
    SUMS.parent.mkdir(parents=True, exist_ok=True)
    with SUMS.open("w") as sums:
        for path in made:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            sums.write(f"{digest}  {path.resolve().relative_to(archives.ROOT)}\n")
            _say(digest[:12], path.name)


def _call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def _say(name: str, text: str) -> None:
    sys.stdout.write(f"{name:13}  {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

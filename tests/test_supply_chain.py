"""The supply chain: builds are always the same, needs are known, and nothing calls home."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^ ;\\]+)", re.MULTILINE)

# what is built -----------------------------------------------------------------------------------


def copied(folder: Path, mask: int) -> Path:
    """The sources in a folder, with the permissions that a umask leaves and the time of now."""
    names = ("src", "tests", "docs", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md")
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    folder.mkdir()
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored, copy_function=shutil.copy)
        else:
            shutil.copy(ROOT / name, folder / name)
    for path in folder.rglob("*"):
        path.chmod((0o777 if path.is_dir() else 0o666) & ~mask)
    return folder


def built(sources: Path, **environment: str) -> dict[str, bytes]:
    """The wheel and the source archive that are built from a folder."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", sources / "out", sources],
        env={**os.environ, "SOURCE_DATE_EPOCH": "1790000000", **environment},
        capture_output=True,
        check=True,
        timeout=120,
    )
    return {path.name: path.read_bytes() for path in (sources / "out").iterdir()}


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("first")
    return built(copied(folder / "sources", 0o022), PYTHONHASHSEED="1", TZ="Asia/Tokyo")


def test_builds_are_the_same(archives: dict[str, bytes], tmp_path: Path) -> None:
    """Wheel and source archive have the same bytes, wherever and by whom they are built."""
    again = built(copied(tmp_path / "elsewhere", 0o077), PYTHONHASHSEED="2", TZ="America/Lima")
    assert {name.rpartition(".")[2] for name in archives} == {"whl", "gz"}
    assert archives.keys() == again.keys()
    assert [name for name in archives if archives[name] != again[name]] == []


def test_what_is_in_them(archives: dict[str, bytes], tmp_path: Path) -> None:
    """The wheel has every file of the package and nothing else; the archive has the tests too."""
    for name, data in archives.items():
        (tmp_path / name).write_bytes(data)
    package = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "cuecard").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        found = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (about,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
        assert "Requires-Dist: minijinja" in wheel.read(about).decode()
    assert found == package
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in package} <= names
    assert {"tests/test_supply_chain.py", "LICENSE", "README.md", "CHANGELOG.md"} <= names


# what is needed ----------------------------------------------------------------------------------


def requirements() -> dict[str, list[Requirement]]:
    """What the package and each of its extras need, but for other extras of its own."""
    texts = {"": PROJECT["project"]["dependencies"], **PROJECT["project"]["optional-dependencies"]}
    return {
        extra: [each for each in map(Requirement, needs) if each.name != "cuecard"]
        for extra, needs in texts.items()
    }


def lowest(requirement: Requirement) -> Version:
    """The lowest version that a requirement allows."""
    (version,) = [each.version for each in requirement.specifier if each.operator == ">="]
    return Version(version)


def pinned(lock: str) -> dict[str, Version]:
    """The versions in a lock, by the names as `pip` compares them."""
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    return {canonical(name): Version(version) for name, version in PINNED.findall(text)}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_requirement_has_a_lowest_version() -> None:
    """Each says from which version on it works, and `dev.lock` has that one or a newer one."""
    newest = pinned("dev.lock")
    for each in (each for needs in requirements().values() for each in needs):
        assert lowest(each) <= newest[canonical(each.name)], str(each)


@pytest.mark.parametrize("extra", ["", "live", "stores", "postgres"])
def test_the_lowest_versions_are_those_that_are_tested(extra: str) -> None:
    """`lowest.lock`, which `make lowest` runs the tests with, has just the lowest versions."""
    found = pinned("lowest.lock")
    assert {each.name: found[canonical(each.name)] for each in requirements()[extra]} == {
        each.name: lowest(each) for each in requirements()[extra]
    }


@pytest.mark.parametrize("lock", sorted(path.name for path in ROOT.glob("requirements/*.lock")))
def test_locks_have_hashes_and_no_address(lock: str) -> None:
    """Each version in a lock has its hashes, and none names an index."""
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[A-Za-z0-9])", text)[1:]
    assert entries
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text


# what is known of it -----------------------------------------------------------------------------

AUDIT = """
import json, sys
answer = {answer!r}
if answer is None:
    sys.exit("the service cannot be reached")
with open(sys.argv[sys.argv.index("--output") + 1], "w") as file:
    json.dump({{"dependencies": answer, "fixes": []}}, file)
sys.exit(any(each.get("vulns") for each in answer))
"""
"""Stands for `pip-audit`, whose database no test can reach, and writes reports of its form."""

UNKNOWN = {"name": "a", "skip_reason": "Dependency not found"}
CLEAN = {"name": "b", "version": "1", "vulns": []}
WORM = {"name": "c", "version": "2", "vulns": [{"id": "CVE-1"}, {"id": "CVE-2"}]}


@pytest.mark.parametrize(
    ("answer", "status", "says"),
    [
        (None, 0, "cannot be reached: nothing is audited"),
        ([UNKNOWN, UNKNOWN], 0, "cannot be reached: nothing is audited"),
        ([UNKNOWN, CLEAN], 0, "Audited 1 packages: 0 with known vulnerabilities"),
        ([CLEAN, WORM], 1, "c 2: CVE-1, CVE-2"),
    ],
    ids=["offline", "mirror", "clean", "vulnerable"],
)
def test_audit(answer: Any, status: int, says: str, tmp_path: Path) -> None:
    """A known vulnerability fails the check; a database out of reach is said, and does not."""
    (tmp_path / "pip_audit.py").write_text(AUDIT.format(answer=answer), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, ROOT / "requirements" / "audit.py"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (status, "")
    assert says in done.stdout


# no network --------------------------------------------------------------------------------------

OFFLINE = """
import sys
CALLS = ("connect", "getaddrinfo", "gethostby", "sendto", "bind")
REFUSED = tuple(f"socket.{call}" for call in CALLS)

def refuse(event, arguments):
    if event.startswith(REFUSED):
        raise SystemExit(f"offline: {event}")

sys.addaudithook(refuse)
"""
"""Ends the process that would use the network. Pairs of sockets, as of event loops, are none."""

COMMANDS = (
    ("render", "agent.md", "--var", "x=1"),
    ("render", "agent.md", "--session", "s", "--user", "ann", "--store", "sqlite:a.db"),
    ("render", "agent.md", "--workspace", ".", "--skills", ".", "--var", "x=1", "--json"),
    ("vars", "agent.md"),
    ("explain", "agent.md", "--var", "x=1", "--tokens", "auto"),
    ("explain", "agent.md", "--var", "x=1", "--html", "page.html"),
    ("diff", "--template", "agent.md", "x.json", "x.json"),
    ("check", "agent.md"),
    ("fmt", "--check", "agent.md"),
    ("rule", "P202"),
    ("agents", "."),
    ("skills", "."),
    ("notes", "set", "likes tea", "--profile", "--user", "ann", "--store", "file:memory"),
    ("todos", "show", "--session", "s", "--store", "sqlite:a.db"),
    ("init", "two"),
)


def offline(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python where the network is out of reach, and where asking for it ends the process."""
    command = [sys.executable, "-c", OFFLINE + code]
    if shutil.which("unshare") and not subprocess.run(["unshare", "-n", "true"]).returncode:
        command = ["unshare", "-n", *command]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "call",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import urllib.request; urllib.request.urlopen('http://example.invalid/')",
    ],
)
def test_the_network_is_refused(call: str, tmp_path: Path) -> None:
    """The child process of these tests does end when something asks for the network."""
    done = offline(call, tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("offline: socket.")


def test_commands_use_no_network(tmp_path: Path) -> None:
    """Every command that reads files does without."""
    (tmp_path / "agent.md").write_text(
        "---\nname: one\ndescription: Works.\n---\n{{ x | default }} {{ user_notes | default }}\n"
    )
    (tmp_path / "x.json").write_text('{"x": 1}')
    code = f"""
from cuecard.cli import main
for command in {COMMANDS!r}:
    try:
        main(list(command))
    except SystemExit as end:
        assert end.code in (None, 0), (command, end.code)
"""
    done = offline(code, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "page.html").is_file()


def test_the_library_uses_no_network(tmp_path: Path) -> None:
    """Neither do renderers with stores, event loops and tools, tokens, checks and snapshots."""
    code = """
import asyncio, cuecard
from cuecard.stores import open_store
from cuecard.tokens import find_counter

@cuecard.provider("weather")
async def station(request):
    await asyncio.sleep(0)
    return {"weather": "snow"}

with open_store("sqlite:store.db") as store:
    made = cuecard.PromptRenderer([station], store=store, tools=[{"name": "search"}])
    store.set_notes("one", "ann", "notes")
    template = "{{ weather }} {{ user_notes }} {{ tools | tojson }}{{ current_time }}"
    agent = cuecard.AgentDefinition(name="one", system_prompt=template)
    assert made.render(agent, "s", "ann").startswith("snow notes")
    assert asyncio.run(made.aprompt(agent, "s", "ann")).text.startswith("snow notes")
assert find_counter("auto")("some words") > 0
print("done")
"""
    done = offline(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]

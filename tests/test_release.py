"""What is released: the archives, what they hold and say, what is missed, and the types.

What each extra is for is tried in `tests/test_release_extras.py`.
"""

from __future__ import annotations

import fnmatch
import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

import cuecard

from .release import environments, types
from .release.archives import EXTRAS, PROJECT, ROOT, Archives, built, made

DATA = (
    "cuecard/cli/completions/cuecard.*",
    "cuecard/cli/starter.md",
    "cuecard/environment/probe.sh",
    "cuecard/explain/page.css",
    "cuecard/explain/page.html",
    "cuecard/explain/page.js",
    "cuecard/py.typed",
    "cuecard/server/examples.json",
    "cuecard/server/page/*.css",
    "cuecard/server/page/*.js",
    "cuecard/server/page/icon.svg",
    "cuecard/server/page/index.html",
    "cuecard/tokens/cache_rules.json",
)
"""The files of the package that are no modules."""

ABOUT = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
IN_SOURCE = (
    *("benchmarks", "docs", "examples", "requirements", "src", "tests"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md"),
    *("Makefile", "conftest.py", "pyproject.toml"),
)
FEATURES: list[dict[str, Any]] = [
    json.loads(line)
    for line in (ROOT / "tests" / "release" / "features.jsonl").read_text("utf-8").splitlines()
]
COMMANDS = [each for each in FEATURES if "command" in each]
ALONE = ["", *(extra for extra in EXTRAS if extra != "all")]


@pytest.fixture(name="archives")
def archives_of_this_checkout() -> Archives:
    """The archives, built once."""
    return made()


@pytest.fixture(name="core")
def core_alone() -> Path:
    """An environment without any extra, made once."""
    return environments.core()


# the archives ------------------------------------------------------------------------------------


def test_index_would_take_them(archives: Archives) -> None:
    """`twine check` finds nothing, the page that is made of the README included."""
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, archives)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("PASSED") == 2


def test_wheel_holds_the_package_and_nothing_else(archives: Archives) -> None:
    """Modules, the data files that they read, and what a wheel says of itself."""
    names = archives.members().keys()
    data = {name for name in names if name.startswith("cuecard/") and not name.endswith(".py")}
    assert {each for each in DATA if not fnmatch.filter(data, each)} == set()
    assert {name for name in data if not any(fnmatch.fnmatch(name, each) for each in DATA)} == set()
    about = f"cuecard-{cuecard.__version__}.dist-info/"
    rest = {name for name in names if not name.startswith("cuecard/")}
    assert rest == {about + name for name in ABOUT}


def test_page_of_the_service_is_whole(archives: Archives) -> None:
    """Every file that the page or one of its modules asks for is in the wheel, and no other."""
    page = "cuecard/server/page/"
    files = {
        name.removeprefix(page): data.decode()
        for name, data in archives.members().items()
        if name.startswith(page)
    }
    asked = set(re.findall(r'"/assets/([\w.-]+)"', files["index.html"]))
    for text in files.values():
        asked |= set(re.findall(r'from "\./([\w.-]+)"', text))
    assert files.keys() == asked | {"index.html"}


def test_source_archive_is_the_project(archives: Archives) -> None:
    """It holds the sources, tests, pages and examples, and no file that is not theirs."""
    names = archives.source_names()
    top = {name.partition("/")[0] for name in names if not name.startswith(".")}
    assert set(IN_SOURCE) <= top
    assert top - set(IN_SOURCE) == {"PKG-INFO", "mkdocs.yml"}
    assert [name for name in names if re.search(r"__pycache__|\.pyc$|(^|/)\.venv", name)] == []
    assert "tests/test_release.py" in names
    assert "docs/releasing.md" in names


def test_wheel_is_the_one_of_the_checkout(archives: Archives, tmp_path: Path) -> None:
    """The wheel, which is built from the source archive, is the one that the checkout gives."""
    assert built(tmp_path / "dist", ROOT, "--wheel").members() == archives.members()


# what they say -----------------------------------------------------------------------------------


def test_version_is_from_one_place(archives: Archives) -> None:
    """The package says it once; names, metadata and the changelog follow."""
    version = cuecard.__version__
    assert "version" in PROJECT["project"]["dynamic"]
    assert "version" not in PROJECT["project"]
    assert archives.wheel.name == f"cuecard-{version}-py3-none-any.whl"
    assert archives.source.name == f"cuecard-{version}.tar.gz"
    assert archives.metadata()["Version"] == importlib.metadata.version("cuecard") == version
    holders = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "src").rglob("*.py")
        if f'"{version}"' in path.read_text("utf-8")
    ]
    assert holders == ["src/cuecard/__init__.py"]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    (newest, *_) = re.findall(r"^## (\S+) - (?:unreleased|\d{4}-\d\d-\d\d)$", changelog, re.M)
    assert newest == version


def test_metadata_is_that_of_the_project(archives: Archives) -> None:
    """Licence, Python, extras, command and plugin are there, and that there are types."""
    about = archives.metadata()
    assert about["License-Expression"] == "Apache-2.0"
    assert about["Requires-Python"] == ">=3.11"
    assert about["Description-Content-Type"] == "text/markdown"
    assert set(about.get_all("Provides-Extra", ())) == set(EXTRAS)
    classifiers = about.get_all("Classifier", ())
    assert "Typing :: Typed" in classifiers
    (entry_points,) = (
        data.decode() for name, data in archives.members().items() if "entry_points" in name
    )
    assert "[console_scripts]\ncuecard = cuecard.cli:main" in entry_points
    assert "[pytest11]\ncuecard = cuecard.pytest_plugin" in entry_points


def test_all_is_all() -> None:
    """The extra `all` is every other extra."""
    named = re.findall(r"[\w-]+", " ".join(re.findall(r"\[(.*?)\]", " ".join(EXTRAS["all"]))))
    assert sorted(named) == sorted(extra for extra in EXTRAS if extra != "all")


def test_installed_python_is_allowed(archives: Archives) -> None:
    """The Python of these tests is one that the wheel can be installed into."""
    allowed = SpecifierSet(archives.metadata()["Requires-Python"])
    assert ".".join(map(str, sys.version_info[:3])) in allowed


# what is installed -------------------------------------------------------------------------------


def test_import_brings_no_extra(core: Path) -> None:
    """The wheel alone can be imported, typed, and run by name and by module."""
    code = "import cuecard, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = environments.run(core, "-W", "error", "-c", code)
    assert done.stderr == ""
    others = {name for name in done.stdout.split() if not name.startswith("_")}
    assert others - sys.stdlib_module_names == {"cuecard", "minijinja"}
    version = f"cuecard {cuecard.__version__}\n"
    assert environments.run(core, "-m", "cuecard", "--version").stdout == version
    script = subprocess.run([core / "bin" / "cuecard", "--version"], capture_output=True, text=True)
    assert script.stdout == version


def test_core_alone(core: Path) -> None:
    """Rendering and the commands that need no extra work without any."""
    environments.run_programs(core, "core")
    done = environments.run(core, str(types.GOOD))
    assert done.returncode == 0, done.stderr


# what is missing ---------------------------------------------------------------------------------


def missing(feature: dict[str, Any], there: frozenset[str]) -> str | None:
    """The extra that a feature asks for first, where some packages are there; None for none."""
    for extra, needed in feature["needs"].items():
        if not there.issuperset(needed):
            return str(extra)
    return None


def test_every_extra_is_missed() -> None:
    """There is a feature for each extra that parts of cuecard cannot do without."""
    missed = {extra for each in FEATURES for extra in each["needs"]}
    # The adapter makes plain data for the client, which it does not import.
    assert set(EXTRAS) - missed == {"all", "anthropic"}


@pytest.mark.parametrize("extra", ALONE)
def test_missing_extras_are_named(extra: str, tmp_path: Path) -> None:
    """What an environment lacks is an error that says how to install it."""
    there = environments.packages_of(extra)
    expected: dict[str, str] = {}
    codes: dict[str, str] = {}
    for each in FEATURES:
        wanted = missing(each, there)
        if wanted is not None and "code" in each:
            expected[each["id"]] = f"MissingExtraError P807 pip install 'cuecard[{wanted}]'"
            codes[each["id"]] = each["code"]
    folder = environments.with_extra(extra, tmp_path)
    probe = str(environments.PROGRAMS / "probe.py")
    done = environments.run(folder, probe, given=json.dumps(codes))
    assert done.returncode == 0, done.stderr
    answers: dict[str, str] = json.loads(done.stdout)
    assert {name: answer.partition(",")[0] for name, answer in answers.items()} == expected


@pytest.mark.parametrize("feature", COMMANDS, ids=[each["id"] for each in COMMANDS])
def test_commands_name_what_is_missing(feature: dict[str, Any], core: Path) -> None:
    """A command whose extra is missing says so on standard error, without a traceback."""
    here = core / "here"
    here.mkdir(exist_ok=True)
    (here / "agent.md").write_text("---\nname: a\ndescription: Helps.\n---\n{{ x }}\n")
    (here / "tasks.jsonl").write_text('{"x": "1"}\n')
    done = environments.run(core, "-m", "cuecard", *feature["command"])
    (extra, *_) = feature["needs"]
    assert done.returncode == 1
    assert "P807" in done.stderr
    assert f"pip install 'cuecard[{extra}]'" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


# types -------------------------------------------------------------------------------------------


def test_types_of_the_public_api(core: Path, tmp_path: Path) -> None:
    """mypy and pyright take a program that uses the wheel, and refuse each misuse of it."""
    types.check(core, tmp_path / "types")


def test_misuses_differ() -> None:
    """Each line of the misuses has a name of its own."""
    names = [each["id"] for each in types.MISUSES]
    assert len(set(names)) == len(names)

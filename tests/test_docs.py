"""The documentation as a whole: the site builds, what it refers to exists, every code is told.

What its blocks show is run by conftest.py.
"""

from __future__ import annotations

import ast
import doctest
import importlib.util
import posixpath
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest
import yaml

import cuecard
from cuecard.errors import CODES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
DIRECTIVES = [
    (page.name, name)
    for page in sorted((DOCS / "reference").glob("*.md"))
    for name in re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.M)
]
PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("examples/*/README.md")],
    key=lambda path: path.as_posix(),
)
MODULES = sorted((ROOT / "src").rglob("*.py"))
SHOWING = [
    ".".join(module.relative_to(ROOT / "src").with_suffix("").parts)
    for module in MODULES
    if ">>> " in module.read_text(encoding="utf-8")
]
READ = {"console", "jinja", "json", "markdown", "pycon", "python", "sh", "toml", "yaml"}
"""Languages of blocks that conftest.py, or the tests of the rules, run or read."""

SHOWN = {"go", "java", "lua", "rust", "text", "typescript"}
"""Languages of blocks for other programs, and of what is no program at all.

tests/test_service_docs.py runs those of the service.
"""


def script(name: str) -> ModuleType:
    """A program of docs/, as a module."""
    specification = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_site_builds_without_a_warning() -> None:
    """Every link of every page leads somewhere, on the site and in the repository."""
    prepared = subprocess.run(
        [sys.executable, "docs/prepare_site.py"], cwd=ROOT, capture_output=True, text=True
    )
    assert (prepared.returncode, prepared.stderr) == (0, "")
    built = subprocess.run(
        [str(Path(sys.executable).with_name("zensical")), "build", "--strict"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    # All that it says is a megabyte; the lines that matter name a page.
    said = [line for line in (built.stdout + built.stderr).splitlines() if ".md" in line]
    assert built.returncode == 0, "\n".join(said[:20])
    places = {page: set(re.findall(r'\bid="?([^"\s>]+)', text)) for page, text in html().items()}
    assert "cuecard.Template" in places["reference/index.html"]
    assert [page for page, text in html().items() if re.search(r"<td><code>[^<]*\\\|", text)] == []
    dead = [
        (page, target, anchor)
        for page, text in html().items()
        for target, anchor in re.findall(r'href="?([^"\s>:#]*)#([^"\s>]+)', text)
        if anchor
        not in places[posixpath.normpath(posixpath.join(page, "..", target) if target else page)]
    ]
    assert dead == []


def target_of(page: str, target: str) -> str:
    """The page that a link of a page means."""
    return posixpath.normpath(posixpath.join(page, "..", target)) if target else page


def html() -> dict[str, str]:
    """The pages of the site by their paths; the one for pages that are not there has no place."""
    site = ROOT / "build" / "site"
    return {
        path.relative_to(site).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(site.rglob("*.html"))
        if path.name != "404.html"
    }


def test_a_link_to_nothing_ends_the_preparation() -> None:
    """Links of pages are made those of the site, code stays, and a dead link is an error."""
    site = script("prepare_site")
    fence = "```text\n[a](no.md)\n```\n"
    page = f"[a](../README.md#try-it) [b](https://example.com) [c](../Makefile) `x \\| y`\n{fence}"
    mended = site.mended(page, "adapters/x.md", DOCS)
    assert mended == f"[a](../index.md#try-it) [b](https://example.com) c `x | y`\n{fence}"
    with pytest.raises(SystemExit, match=r"x\.md: there is no no\.md, which it links to"):
        site.mended("[a](no.md)", "x.md", DOCS)


def test_the_navigation_has_every_page() -> None:
    """A page that is not in the navigation is found by nobody."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed: list[str] = []

    def walk(entries: list[dict[str, object]]) -> None:
        for entry in entries:
            for target in entry.values():
                if isinstance(target, list):
                    walk(target)
                else:
                    listed.append(str(target))

    walk(yaml.safe_load(text)["nav"])
    assert len(listed) == len(set(listed))
    assert set(listed) == set(script("prepare_site").pages())


def test_the_pictures_are_current() -> None:
    """docs/images/ holds what `make format` would draw: run it when this fails."""
    images = DOCS / "images"
    drawn = script("draw_pictures").pictures()
    assert {name: (images / name).read_text(encoding="utf-8") for name in drawn} == drawn


def test_the_words_of_the_language_are_current() -> None:
    """docs/language.md holds what `make format` would write: run it when this fails."""
    page = script("generate_language").page()
    assert (DOCS / "language.md").read_text(encoding="utf-8") == page


@pytest.mark.parametrize(("page", "name"), DIRECTIVES)
def test_the_reference_is_of_what_there_is(page: str, name: str) -> None:
    """Every directive of the reference names something that can be imported."""
    assert resolve_name(name) is not None


def test_the_reference_has_every_public_name() -> None:
    """What `cuecard` exports is in the reference, by itself or with its room."""
    told = {name for _, name in DIRECTIVES}
    errors = {name for name in cuecard.__all__ if isinstance(getattr(cuecard, name), type)}
    errors = {name for name in errors if issubclass(getattr(cuecard, name), Exception)}
    rooms = {"lint", "markdown", "operator"}
    profiles = {"LIVE", "MARKDOWN", "OPERATOR", "STRICT"}
    missing = {
        name
        for name in set(cuecard.__all__) - errors - rooms - profiles
        if f"cuecard.{name}" not in told
    }
    assert missing == set()


def test_every_code_is_told() -> None:
    """Each code has a row in the page of errors, in the words that the errors use."""
    text = (DOCS / "errors.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `?(P\d{3})`? \| ([^|]+?) \|", text, re.M))
    links = dict(re.findall(r"^\| \[`?(P\d{3})`?\]\([^)]+\) \| ([^|]+?) \|", text, re.M))
    assert {**rows, **links} == CODES
    pages = {page.stem for page in (DOCS / "rules").glob("P*.md")}
    assert pages & CODES.keys() == links.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_block_is_of_a_known_language(page: Path) -> None:
    """A block without a language, or of one that nothing reads, would never be checked."""
    opened = False
    for line in page.read_text(encoding="utf-8").splitlines():
        found = re.match(r"\s*(`{3,})(.*)$", line)
        if found is None:
            continue
        if not opened:
            assert found[2].split(" ")[0] in READ | SHOWN, line
        opened = not opened
    assert not opened


@pytest.mark.parametrize("name", SHOWING)
def test_docstrings_are_true(name: str) -> None:
    """What a docstring shows is what happens."""
    done = doctest.testmod(import_module(name))
    assert done.attempted > 0
    assert done.failed == 0


def test_docstrings_show_what_is_run() -> None:
    """A docstring shows sessions, which are run; the pages of rules have tests of their own."""
    for module in MODULES:
        if "rules" in module.parts:
            continue
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                assert "```" not in (ast.get_docstring(node) or ""), module


def test_the_examples_read_alike() -> None:
    """A title, one paragraph that links its page, and the commands."""
    for file in sorted(ROOT.glob("examples/*/README.md")):
        title, gap, text, other, *commands = file.read_text(encoding="utf-8").splitlines()
        assert title.startswith("# "), file
        assert (gap, other) == ("", ""), file
        assert re.search(r" See \[[^]]+\]\(\.\./\.\./docs/[^)]+\)\.$", text), file
        assert 1 <= len(commands) <= 3, file
        assert all(line.startswith("    ") for line in commands), file


def test_the_readme_is_short() -> None:
    """A reader sees all of it in a few minutes, with one picture of the page and one of explain."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 200
    assert re.findall(r"!\[[^]]+\]\(docs/images/([^)]+)\)", text) == ["explain.svg", "page.png"]

"""Writes build/docs/: the pages of docs/ as the site's builder wants them.

The pages are written to be read in the repository too, where they link to files beside docs/.
Here those files become pages, and links to what is no page become text. A link to a file that
there is not ends it. `make docs` runs it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
TARGET = ROOT / "build" / "docs"
BESIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
}
"""Files beside docs/ that are pages of the site, and what they are called there."""

GALLERY = "examples.md"
ASSETS = (".svg", ".png")

_GALLERY_HEAD = """\
# Examples

Each is a folder in `examples/` with real files and what comes of them; the tests run them all.
"""
LANGUAGES = {
    ".j2": "jinja",
    ".json": "json",
    ".jsonl": "json",
    ".md": "markdown",
    ".py": "python",
    ".txt": "text",
}
"""The files of an example that are shown, and as what."""

_MOST_SHOWN = 6_000

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]\n]*)\]\((?P<target>[^)\s]+)\)")
# Within code, the site's reader takes `|` for itself, and the repository's wants a backslash.
_CODE = re.compile(r"`[^`\n]+`")
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?^\1", re.M | re.S)


def main() -> None:
    """Write all pages anew."""
    shutil.rmtree(TARGET, ignore_errors=True)
    for page, text in pages().items():
        target = TARGET / page
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for asset in assets():
        target = TARGET / asset.relative_to(DOCS)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(asset, target)


def pages() -> dict[str, str]:
    """The pages by their paths on the site."""
    sources = {path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))}
    beside = {page: ROOT / name for name, page in BESIDE.items() if (ROOT / name).is_file()}
    found = {
        page: mended(path.read_text(encoding="utf-8"), page, path.parent)
        for page, path in {**sources, **beside}.items()
    }
    return {**found, GALLERY: mended(gallery(), GALLERY, ROOT / "examples" / "x")}


def gallery() -> str:
    """The page of the examples: what each shows, and what it prints."""
    parts = [_GALLERY_HEAD]
    folders = (path.parent for path in (ROOT / "examples").glob("*/README.md"))
    for folder in sorted(folders, key=lambda each: (each.name.startswith("adapters_"), each)):
        title, _, text = (folder / "README.md").read_text(encoding="utf-8").partition("\n")
        parts.append(f"## {title.removeprefix('# ')} {{#{folder.name}}}\n{text.rstrip()}\n")
        parts += [_shown(path) for path in _files_of(folder)]
    return "\n".join(parts)


def _files_of(folder: Path) -> Iterator[Path]:
    """What is worth a look: the prompt's template, the program, and what comes of them."""
    for path in sorted(folder.iterdir()):
        told = path.suffix in LANGUAGES and path.name != "README.md"
        if told and path.stat().st_size <= _MOST_SHOWN:
            yield path


def _shown(path: Path) -> str:
    language = LANGUAGES[path.suffix]
    text = path.read_text(encoding="utf-8").rstrip()
    return f'~~~~~~{language} title="{path.relative_to(ROOT).as_posix()}"\n{text}\n~~~~~~\n'


def assets() -> Iterator[Path]:
    """The pictures of the pages."""
    return (path for path in sorted(DOCS.rglob("*")) if path.suffix in ASSETS)


def mended(text: str, page: str, folder: Path) -> str:
    """A page whose links hold on the site; code is left as it is.

    Args:
        text: the page.
        page: its path on the site.
        folder: the folder that its links are relative to.
    """
    parts: list[str] = []
    start = 0
    for fence in _FENCE.finditer(text):
        parts += [_with_links(text[start : fence.start()], page, folder), fence[0]]
        start = fence.end()
    return "".join((*parts, _with_links(text[start:], page, folder)))


def _with_links(text: str, page: str, folder: Path) -> str:
    up = "../" * page.count("/")

    def link(found: re.Match[str]) -> str:
        path, _, anchor = found["target"].partition("#")
        if not path or ":" in path:
            return found[0]
        place = (folder / path).resolve()
        if not place.exists():
            raise SystemExit(f"{page}: there is no {path}, which it links to")
        target = place_on_site(place)
        if target is None:
            return found["text"]
        here, _, inner = target.partition("#")
        anchor = anchor or inner
        end = f"#{anchor}" if anchor else ""
        return f"{found['image']}[{found['text']}]({up}{here}{end})"

    return _CODE.sub(lambda code: code[0].replace("\\|", "|"), _LINK.sub(link, text))


def place_on_site(place: Path) -> str | None:
    """Where a file of the repository is on the site; None when it is not there."""
    if not place.is_relative_to(ROOT):
        return None
    path = place.relative_to(ROOT).as_posix()
    if path in BESIDE:
        return BESIDE[path]
    if path.split("/")[0] == "examples":
        name = "/".join(path.split("/")[1:2])
        return f"{GALLERY}#{name}" if name and "." not in name else GALLERY
    if place.is_relative_to(DOCS):
        if place.is_dir():
            place = place / "index.md"
        if place.is_file() and (place.suffix == ".md" or place.suffix in ASSETS):
            return place.relative_to(DOCS).as_posix()
    return None


if __name__ == "__main__":
    main()

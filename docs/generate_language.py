"""Writes docs/language.md: every tag, filter, test and function, with an example that is run.

`make format` runs it; a test sees that the page is current. The texts are those that an editor
shows, and their examples are tried by the tests of the language server.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cuecard.lsp.words import FILTERS, FUNCTIONS, TAGS, TESTS, Word

PAGE = Path(__file__).parent / "language.md"
HEAD = """\
# The language, word by word

Every tag, filter, test and function that there is. [Templates](templates.md) has the rules that \
they follow, [compatibility](compatibility.md) what other engines do. `⏎` is a line break. An \
editor with [`cuecard lsp`](editors.md) shows this page's lines while you type.
"""
TABLES: Mapping[str, Mapping[str, Word]] = {
    "Tags": TAGS,
    "Filters": FILTERS,
    "Tests": TESTS,
    "Functions": FUNCTIONS,
}


def page() -> str:
    """The page of the language."""
    return "\n".join((HEAD, *(_table(title, words) for title, words in TABLES.items())))


def _table(title: str, words: Mapping[str, Word]) -> str:
    rows = "\n".join(_row(name, word) for name, word in sorted(words.items()))
    return f"## {title}\n\n| word | what it does | example | gives |\n|---|---|---|---|\n{rows}\n"


def _row(name: str, word: Word) -> str:
    cells = (f"`{_cell(name)}`", _cell(word.text), f"`{_cell(word.example)}`", _result(word))
    return f"| {' | '.join(cells)} |"


def _result(word: Word) -> str:
    return f"`{_cell(word.result)}`" if word.result.strip() else ""


def _cell(text: str) -> str:
    return text.replace("\n", "⏎").replace("|", "\\|")


def main() -> None:
    """Write it."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()

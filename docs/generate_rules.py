"""Writes docs/rules/: a page for each rule of `cuecard check`, and their list.

`make format` runs it; a test sees that the pages are current.
"""

from __future__ import annotations

from pathlib import Path

from cuecard.lint import all_rules, rule_index, rule_page

FOLDER = Path(__file__).parent / "rules"


def pages() -> dict[str, str]:
    """The pages by the names of their files."""
    rules = all_rules()
    return {"index.md": rule_index(rules)} | {f"{r.code}.md": rule_page(r) for r in rules}


def main() -> None:
    """Write the pages, and remove those of rules that are gone."""
    FOLDER.mkdir(exist_ok=True)
    current = pages()
    for file in FOLDER.glob("*.md"):
        if file.name not in current:
            file.unlink()
    for name, text in current.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

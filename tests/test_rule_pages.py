"""The pages of the rules: they are in docs/rules/, and what they show is true.

The convention for their blocks of code is in the docstring of `cuecard.lint.rule`.
"""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from cuecard.lint import GROUPS, Checker, Rule, all_rules, find_settings, rule_page

from .running import Run

DOCS = Path(__file__).parent.parent / "docs"
FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=fence)$", re.S | re.M)
TWO_PAGES = "\n".join(f"{number}. A rule that never changes." for number in range(1, 80))
NAMES = {"markdown": "agent.md", "jinja": "prompt.j2", "toml": "cuecard.toml"}

each_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)


def section(rule: Rule, title: str) -> str:
    """The text below a heading of a rule's page."""
    after = rule.page.split(f"\n## {title}\n", 1)[1]
    return re.split(r"\n## (?:Why it matters|Example|Use instead|Fix)\n", after)[0]


def blocks(text: str) -> dict[str, str]:
    """The files that a section shows, by their names."""
    files = {}
    for found in FENCE.finditer(text):
        language, _, name = found["info"].partition(" ")
        text = found["text"].replace("(Two pages of rules follow.)", TWO_PAGES)
        files[name or NAMES[language]] = text
    return files


def codes_of(rule: Rule, files: dict[str, str]) -> list[str]:
    """The codes of a rule that are found in files."""
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(text.encode())
    reports = Checker(find_settings()).check(["."])
    found = [finding for report in reports for finding in report.findings]
    return [finding.code for finding in found if finding.code in rule.codes]


@each_rule
class TestEachPage:
    def test_shows_what_it_finds(
        self, rule: Rule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The rule finds something in its example."""
        monkeypatch.chdir(tmp_path)
        files = blocks(section(rule, "Example"))
        assert files
        assert codes_of(rule, files)

    def test_shows_what_to_write(
        self, rule: Rule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The rule finds nothing in what its page would have instead."""
        monkeypatch.chdir(tmp_path)
        files = blocks(section(rule, "Use instead"))
        assert files
        assert codes_of(rule, files) == []

    def test_is_shown_by_the_command(self, rule: Rule, run: Run) -> None:
        """`cuecard rule` prints the page, by code and by name."""
        for word in (rule.code.lower(), rule.name):
            assert run("rule", word) == (0, rule_page(rule), "")


def generator() -> Any:
    specification = importlib.util.spec_from_file_location("pages", DOCS / "generate_rules.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_pages_are_current() -> None:
    """docs/rules/ holds what `make format` would write: run it when this fails."""
    written = {
        file.name: file.read_text(encoding="utf-8") for file in (DOCS / "rules").glob("*.md")
    }
    assert written == generator().pages()


def test_list_names_every_rule(run: Run) -> None:
    """`cuecard rule` lists the rules, group by group."""
    result = run("rule")
    header, *lines = result.out.splitlines()
    assert header.split()[:4] == ["code", "name", "severity", "fix"]
    by_group = [rule.code for group in GROUPS for rule in all_rules() if rule.group == group]
    assert [line.split()[0] for line in lines] == by_group

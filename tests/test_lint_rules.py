"""Rules: what each finds and where, what it lets pass, and how it mends.

A case of `tests/cases/lint/CODE.jsonl` is a file (`file`, `text`; more of them in `files`),
`settings` if there are any, and what is found (in that file alone, or when it is checked with
the files of `across`): `finds` lists code, line, column, end line and
end column. By default only the findings of the codes of that file of cases are looked at;
`select` names others. `hint` and `says` are parts of the first finding's hint and message;
`fixed` is the text after `--fix` (with `unsafe` after `--unsafe-fixes`), null when nothing
may be mended.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuecard.lint import (
    Checker,
    Finding,
    Settings,
    Target,
    all_rules,
    collect,
    find_rule,
    fix_document,
    read_settings,
    read_target,
)

from .case_files import FOLDER, Case

CASES = FOLDER / "lint"


def cases() -> Iterator[Any]:
    for file in sorted(CASES.glob("*.jsonl")):
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            if line:
                case = {"select": [file.stem], **json.loads(line)}
                yield pytest.param(case, id=f"{file.stem}-{case.get('id', number)}")


def settings_of(case: Case) -> Settings:
    if "settings" not in case:
        return Settings()
    lines = list(_toml(case["settings"], ""))
    Path("cuecard.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_settings("cuecard.toml")


def _toml(table: dict[str, Any], name: str) -> Iterator[str]:
    tables = {key: value for key, value in table.items() if isinstance(value, dict)}
    if name:
        yield f"[{name}]"
    for key, value in table.items():
        if key not in tables:
            yield f"{json.dumps(key)} = {json.dumps(value)}"
    for key, value in tables.items():
        yield from _toml(value, f"{name}.{json.dumps(key)}" if name else json.dumps(key))


def write_files(case: Case) -> None:
    for name, text in {**case.get("files", {}), case["file"]: case["text"]}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(text.encode())


def target_of(case: Case, settings: Settings) -> Target:
    (target,) = collect([case["file"]], settings)
    return target


def place(finding: Finding) -> list[Any]:
    if finding.span is None:
        return [finding.code, None, None, None, None]
    span = finding.span
    return [finding.code, span.line, span.column, span.end_line, span.end_column]


@pytest.mark.parametrize("case", list(cases()))
def test_a_case(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The findings, their places, and the text after mending are the case's."""
    monkeypatch.chdir(tmp_path)
    write_files(case)
    settings = settings_of(case)
    checker = Checker(settings)
    target = target_of(case, settings)
    if "across" in case:
        reports = checker.check([case["file"], *case["across"]])
        (report,) = [report for report in reports if report.path == case["file"]]
    else:
        report = checker.check_target(target)
    found = [f for f in report.findings if f.code.startswith(tuple(case["select"]))]
    assert [place(finding) for finding in found] == case["finds"], report.findings
    if "hint" in case:
        assert case["hint"] in (found[0].hint or "")
    if "says" in case:
        assert case["says"] in found[0].message
    if "fixed" in case:
        document = read_target(target, settings)
        fixed = fix_document(checker, target, document, unsafe=case.get("unsafe", False))
        expected = case["text"] if case["fixed"] is None else case["fixed"]
        assert fixed.text == expected


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
class TestEveryRule:
    def test_has_cases(self, rule: Any) -> None:
        """Each has cases that fire and cases that do not."""
        file = CASES / f"{rule.code}.jsonl"
        finds = [json.loads(line)["finds"] for line in file.read_text().split("\n") if line]
        assert any(finds)
        assert not all(finds)

    def test_has_a_page(self, rule: Any) -> None:
        """Its page sums it up in a sentence and has the sections of every page."""
        assert rule.summary.endswith(".")
        sections = [line[3:] for line in rule.page.splitlines() if line.startswith("## ")]
        expected = ["What it does", "Why it matters", "Example", "Use instead"]
        assert sections == expected + (["Fix"] if rule.fixes else [])

    def test_is_found(self, rule: Any) -> None:
        """By its code, by its name, and by the further codes of its findings."""
        for word in (rule.code, rule.code.lower(), rule.name, *rule.also):
            assert find_rule(word) == rule

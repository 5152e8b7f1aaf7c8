"""What the rules of white space and of files stand on: pieces, byte order marks, secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cuecard
from cuecard.lint import Checker, Settings, Target, fix_document, read_target

from .case_files import FOLDER

PROFILES = {
    profile.name: profile for profile in (cuecard.STRICT, cuecard.OPERATOR, cuecard.MARKDOWN)
}
SECRETS = FOLDER / "lint" / "P432.jsonl"
MARKS = ("", "-", "+")
TAGS = tuple(
    text
    for lead in MARKS
    for trail in MARKS
    for text in (
        f"{{#{lead} c {trail}#}}",
        f"{{%{lead} set x = 1 {trail}%}}",
        f"{{%{lead} raw {trail}%}} {{{{ a \n {{%{trail} endraw {lead}%}}",
        f"{{%{lead} if true {trail}%}}\n b {{%{trail} endif {lead}%}}",
    )
)
templates = st.lists(
    st.sampled_from(("A", "- b", " ", "  ", "\t", "\n", "\r\n", "\n\n", *TAGS)), max_size=12
).map("".join)


@pytest.mark.parametrize("name", PROFILES)
@given(text=templates)
def test_pieces_are_what_is_printed(name: str, text: str) -> None:
    """The texts of all pieces, one after the other, are the render of a template of constants."""
    document = read_target(Target("a.j2", "template"), Settings(profiles={"*": name}), text)
    shown = "".join(piece.shown for piece in document.pieces)
    rendered = cuecard.render(document.body.text, profile=PROFILES[name])
    assert shown.strip() == rendered.strip()
    if name != "markdown":
        assert shown == rendered
    for piece in document.pieces:
        if piece.kind == "text":
            assert document.body.text[piece.shown_start : piece.shown_end] == piece.shown


@pytest.mark.parametrize("name", PROFILES)
@given(text=templates)
def test_mended_lines_stay_mended(name: str, text: str) -> None:
    """After all fixes no line ends with blanks or is indented with tabs."""
    checker = Checker(Settings(select=("P903", "P904"), profiles={"*": name}))
    target = Target("a.j2", "template")
    document = read_target(target, checker.settings, text)
    assert fix_document(checker, target, document, unsafe=True).left == ()


@pytest.mark.parametrize("name", PROFILES)
@given(text=templates)
def test_safe_fixes_print_the_same(name: str, text: str) -> None:
    """Blanks that are removed safely were not printed."""
    checker = Checker(Settings(select=("P9",), profiles={"*": name}))
    target = Target("a.j2", "template")
    document = read_target(target, checker.settings, text)
    for finding in checker.check_document(document).findings:
        assert finding.fix is None or finding.code == "P903" or not finding.fix.safe
        if finding.fix is not None and finding.fix.safe:
            (edit,) = finding.fix.edits
            changed = text[: edit.start] + text[edit.end :]
            profile = PROFILES[name]
            assert cuecard.render(changed, profile=profile) == cuecard.render(text, profile=profile)


def test_a_mark_is_told_of_a_file(tmp_path: Path) -> None:
    """A byte order mark is read, is no part of the text, and is gone when it is mended."""
    file = tmp_path / "SYSTEM.md"
    file.write_bytes(b"\xef\xbb\xbfBe kind.\n")
    target = Target(str(file), "template")
    checker = Checker(Settings(select=("P434",)))
    document = read_target(target, checker.settings)
    assert (document.mark, document.text) == ("\ufeff", "Be kind.\n")
    fixed = fix_document(checker, target, document)
    assert (fixed.mark, fixed.text, fixed.left) == ("", "Be kind.\n", ())


def test_a_mark_stays_unless_it_is_mended(tmp_path: Path) -> None:
    """Other fixes leave it where it is, and their edits meet their places."""
    file = tmp_path / "a.md"
    file.write_bytes(b"\xef\xbb\xbf---\nname: a: b\n---\nBe kind.\n")
    target = Target(str(file), "agent")
    checker = Checker(Settings(select=("P401",)))
    fixed = fix_document(checker, target, read_target(target, checker.settings))
    assert (fixed.mark, fixed.text) == ("\ufeff", '---\nname: "a: b"\n---\nBe kind.\n')


def test_a_secret_is_not_repeated() -> None:
    """No part of a finding holds more of a secret than its beginning."""
    checker = Checker(Settings(select=("P432",)))
    told = 0
    for line in SECRETS.read_text(encoding="utf-8").splitlines():
        text = json.loads(line)["text"]
        target = Target("a.md", "agent")
        document = read_target(target, checker.settings, text)
        for finding in checker.check_document(document).findings:
            assert finding.span is not None
            secret = document.text[finding.span.start : finding.span.end]
            said = f"{finding.message} {finding.hint} {finding.fix}"
            assert len(secret) >= 20
            assert secret[4:16] not in said
            told += 1
    assert told >= 16

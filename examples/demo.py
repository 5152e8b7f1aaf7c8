"""What `make demo` runs: each example rendered by the library and by the command."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import NoReturn

import cuecard
from cuecard.tools import load_mcp_servers, load_tools
from cuecard.workspace import Workspace

ROOT = Path(__file__).parent.parent
FOLDER = "examples"
PROMPTS = {
    "reviewer/agent.md": ("reviewer/context.json", cuecard.STRICT, None),
    "operator/triage.md": ("operator/task.json", cuecard.OPERATOR, None),
    "partials/SYSTEM.md": ("partials/context.json", cuecard.MARKDOWN, "partials/partials"),
}
TASKS, FILES = 100_000, 16
WIDTH = 92


def fail(why: str) -> NoReturn:
    sys.exit(f"demo: {why}")


def styled(text: str, style: str) -> str:
    terminal = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return f"\x1b[{style}m{text}\x1b[0m" if terminal else text


def row(label: str, text: str) -> None:
    first, *rest = textwrap.wrap(text, WIDTH - 12, break_on_hyphens=False) or [""]
    print("  " + styled(label.ljust(10), "2") + first)
    for line in rest:
        print(" " * 12 + line)


def show_text(prompt: str) -> None:
    row("prompt", f"{len(prompt):,} characters in {prompt.count(chr(10)):,} lines")
    lines = [line for line in prompt.splitlines() if line.strip()]
    for line in (*lines[:2], f"… {len(lines) - 4} more lines", *lines[-2:]):
        print("  │ " + textwrap.shorten(line, WIDTH - 4, placeholder=" …"))


def run(*arguments: str, stderr: int | None = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    # The command that is installed beside this Python comes first.
    places = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    command = shutil.which("cuecard", path=places) or fail("there is no command `cuecard`")
    row("command", " ".join(("cuecard", *arguments)))
    return subprocess.run(
        [command, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=stderr,
        encoding="utf-8",
        timeout=120,
    )


def compare(prompt: str, *arguments: str) -> None:
    done = run("render", *arguments)
    # A tool that is slow to answer is at times not among the facts about the machine.
    texts = (re.sub(r"(?m)^- (Tools|Machine): .*\n", "", text) for text in (done.stdout, prompt))
    if done.returncode != 0 or len(set(texts)) > 1:
        fail(f"the command gave another text, or none:\n{done.stderr}")
    row("", "gives the same text")


def show(file: str, vars_file: str, profile: cuecard.Profile, partials: str | None) -> None:
    print("\n" + styled(f"{FOLDER}/{file}", "1"))
    folder = cuecard.Folder(ROOT / FOLDER / partials) if partials else None
    # The header of an agent's file is about the agent, and no part of its prompt.
    agent = cuecard.load_agent(ROOT / FOLDER / file)
    template = cuecard.Template(agent.source, profile=profile, partials=folder)
    values = json.loads((ROOT / FOLDER / vars_file).read_text(encoding="utf-8"))
    prompt = template.render(agent.fill(values, guarded=template.optional).context)
    row("profile", profile.name)
    row("required", ", ".join(sorted(template.required)))
    row("optional", ", ".join(sorted(template.optional)) or "none")
    show_text(prompt)
    more = ("--partials", f"{FOLDER}/{partials}") if partials else ()
    paths = (f"{FOLDER}/{file}", "--vars", f"{FOLDER}/{vars_file}")
    compare(prompt, *paths, "--profile", profile.name, *more)


def show_workspace() -> None:
    print("\n" + styled(f"{FOLDER}/system_md/SYSTEM.md", "1"))
    folder = ROOT / FOLDER / "system_md"
    workspace, tools = Workspace(folder / "book"), load_tools(folder / "tools.json")
    skills = workspace.skills()
    prompt = cuecard.markdown.render_system(
        (folder / "SYSTEM.md").read_text(encoding="utf-8"),
        workspace.folder,
        skills,
        tools,
        environment=workspace.environment(),
        user=workspace.user(),
        mcp=load_mcp_servers(folder / "mcp.json"),
    )
    row("profile", "markdown")
    row("skills", ", ".join(skill.name for skill in skills))
    row("tools", ", ".join(tool.name for tool in tools))
    show_text(prompt)
    files = {"--workspace": "book", "--tools": "tools.json", "--mcp": "mcp.json"}
    more = (part for name, file in files.items() for part in (name, f"{FOLDER}/system_md/{file}"))
    compare(prompt, f"{FOLDER}/system_md/SYSTEM.md", "--profile", "markdown", *more)


def show_turns() -> None:
    print("\n" + styled("Twenty turns, and what breaks the cache", "1"))
    files = ("--vars", f"{FOLDER}/reviewer/context.json", "--turns", f"{FOLDER}/turns/turns.jsonl")
    done = run("explain", f"{FOLDER}/turns/agent.md", *files)
    verdict = [line for line in done.stdout.splitlines() if " breaks the front " in line]
    if done.returncode != 0 or not verdict:
        fail(f"the report names no culprit:\n{done.stderr}")
    row("", verdict[0])


def show_session() -> None:
    print("\n" + styled(f"{FOLDER}/live/agent.md", "1"))
    program = f"{FOLDER}/live/session.py"
    row("program", f"python {program}")
    done = subprocess.run(
        [sys.executable, program], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=120
    )
    if done.returncode != 0 or done.stderr:
        fail(f"the session broke off:\n{done.stderr}")
    print(textwrap.indent(done.stdout, "  │ ", lambda line: True).rstrip())
    done = run("explain", f"{FOLDER}/live/agent.md", "--plan", "--no-entry-points")
    if done.returncode != 0:
        fail(f"there is no plan:\n{done.stderr}")
    print(textwrap.indent(done.stdout, "  │ ").rstrip())


def task(number: int) -> dict[str, object]:
    return {
        "question": f"Where do we sleep after {number % 40} km?",
        "days": (number + 1) % 10_000 and number % 9 + 1,
        "kilometres": number % 97,
        "huts": [{"name": f"Hut {number % 50}", "beds": number % 7}],
    }


def show_batch() -> None:
    import pyarrow
    from pyarrow import parquet

    print("\n" + styled(f"{TASKS:,} prompts from a table", "1"))
    with tempfile.TemporaryDirectory() as folder:
        tasks, output = Path(folder, "tasks"), f"{folder}/prompts.parquet"
        tasks.mkdir()
        for part in range(FILES):
            rows = pyarrow.Table.from_pylist([task(n) for n in range(part, TASKS, FILES)])
            parquet.write_table(rows, tasks / f"{part}.parquet")
        # The bar is drawn on a terminal only, and by the command itself.
        bar = None if sys.stderr.isatty() else subprocess.PIPE
        done = run("batch", f"{FOLDER}/batch/agent.md", str(tasks), output, stderr=bar)
        rendered = parquet.read_metadata(output).num_rows if done.returncode == 0 else 0
    if rendered != TASKS:
        fail(f"the batch has {rendered:,} rows:\n{done.stderr}")
    print(textwrap.indent(done.stdout, "  │ ", lambda line: True).rstrip())


def show_mistake() -> None:
    print("\n" + styled("A template with a mistake", "1"))
    done = run("render", f"{FOLDER}/broken/agent.md", "--vars", f"{FOLDER}/broken/context.json")
    if done.returncode != 1 or done.stdout or not done.stderr:
        fail(f"this should have failed, with an error and nothing else:\n{done.stdout}")
    row("", f"exits with {done.returncode} and says")
    print(textwrap.indent(done.stderr, "  │ ").rstrip())


sys.stdout.reconfigure(errors="replace")  # a terminal may know fewer characters than a prompt
print(f"cuecard {cuecard.__version__}: system prompts from templates, by library and command")
for name, (vars_file, profile, partials) in PROMPTS.items():
    show(name, vars_file, profile, partials)
show_workspace()
show_turns()
show_session()
show_batch()
show_mistake()
print(
    f"\n{len(PROMPTS) + 1} prompts rendered twice, 20 turns compared, 6 turns of a session shown, "
    f"{TASKS:,} prompts made of a table, 1 mistake explained."
)
command = Path(sys.executable).with_name("cuecard")
shown = command.relative_to(ROOT) if command.is_relative_to(ROOT) else command
print(f"The same in a browser, at http://127.0.0.1:8321/: {shown} serve {FOLDER}/")

"""What mypy and pyright say of programs that use the installed package.

`typed_api.py` has no error. Every line of `misuses.jsonl` has one, so that the types say
something.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
GOOD = HERE / "typed_api.py"
MISUSES: list[dict[str, str]] = [
    json.loads(line) for line in (HERE / "misuses.jsonl").read_text("utf-8").splitlines()
]
PRELUDE = """\
from pathlib import Path

import cuecard
from cuecard.batch import BatchOptions
from cuecard.operator import OperatorSpawner, TaskSpec
from cuecard.stores import TodoItem, open_store

path = Path("agent.md")
template = cuecard.Template("x")
prompt = template.trace()
renderer = cuecard.PromptRenderer()


def given_as_text(request: cuecard.ProviderRequest) -> str:
    return request.user_id or ""


def all_wrong(request: cuecard.ProviderRequest) -> None:
"""


class Said(NamedTuple):
    """An error that a checker found."""

    file: str
    line: int
    message: str


def check(environment: Path, folder: Path) -> None:
    """See that both checkers find the misuses and nothing else.

    Args:
        environment: where the package is installed.
        folder: where the programs are written to; it is made.
    """
    lines = write(folder)
    for checker in (mypy, pyright):
        found = checker(environment, folder)
        name = checker.__name__
        assert [said for said in found if said.file != "misuses.py"] == [], name
        wrong = {said.line: said.message for said in found}
        missed = [each for line, each in lines.items() if line not in wrong]
        assert missed == [], f"{name} finds nothing wrong with these"
        assert [wrong[line] for line in wrong if line not in lines] == [], name


def write(folder: Path) -> dict[int, str]:
    """Write the programs, and say in which line each misuse is."""
    folder.mkdir()
    shutil.copy(GOOD, folder)
    text = PRELUDE + "".join(f"    {each['code']}\n" for each in MISUSES)
    (folder / "misuses.py").write_text(text)
    first = PRELUDE.count("\n") + 1
    return {number: each["id"] for number, each in enumerate(MISUSES, first)}


def mypy(environment: Path, folder: Path) -> list[Said]:
    """What `mypy --strict` finds."""
    options = ["--strict", "--config-file=", "--cache-dir=cache", "--no-error-summary"]
    python = f"--python-executable={environment / 'bin' / 'python'}"
    printed = _run(
        folder, "mypy", *options, "--hide-error-context", python, GOOD.name, "misuses.py"
    )
    found = re.findall(r"^([^:\n]+):(\d+): error: (.*)$", printed, re.MULTILINE)
    assert found, printed
    return [Said(file, int(line), message) for file, line, message in found]


def pyright(environment: Path, folder: Path) -> list[Said]:
    """What pyright finds, in its strict mode; it is in its package, and fetches nothing."""
    settings = {"typeCheckingMode": "strict", "venvPath": "..", "reportUnusedExpression": "none"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    python = f"--pythonpath={environment / 'bin' / 'python'}"
    printed = _run(folder, "pyright", "--outputjson", python, GOOD.name, "misuses.py")
    found: list[dict[str, Any]] = json.loads(printed)["generalDiagnostics"]
    return [
        Said(Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"])
        for each in found
        if each["severity"] == "error"
    ]


def _run(folder: Path, module: str, *arguments: str) -> str:
    # Neither sees the sources: not by a path, nor by a setting of this checkout.
    hidden = ("MYPYPATH", "PYTHONPATH", "PYRIGHT_PYTHON_FORCE_VERSION")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout

"""Runs the examples in the documentation: Python sessions and shell sessions, as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from sybil import Example, Sybil
from sybil.parsers.doctest import DocTestParser
from sybil.parsers.markdown import CodeBlockParser

ROOT = Path(__file__).parent


def run_shell_session(example: Example) -> str | None:
    """Run the commands of a `console` block in one folder; compare all that they print."""
    script: list[str] = []
    expected: list[str] = []
    for line in str(example.parsed).splitlines():
        if line.startswith("$ "):
            script.append(line[2:])
        elif script:
            expected.append(line)
    if not script:
        return None
    # What runs pytest itself is a run of its own, and no worker of this one.
    own = {name: value for name, value in os.environ.items() if "PYTEST_XDIST" not in name}
    environment = {**own, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        for name in set(re.findall(r"\bexamples/[\w./-]+", "\n".join(script))):
            target = Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
        result = subprocess.run(
            ["bash", "-c", "\n".join(script)],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
    printed = result.stdout.splitlines()
    if printed == expected:
        return None
    return "\n".join(("the session prints something else:", *printed))


pytest_collect_file = Sybil(
    parsers=[
        DocTestParser(),
        CodeBlockParser(language="console", evaluator=run_shell_session),
    ],
    patterns=["*.md"],
    excludes=["examples/*", "requirements/*", "broken_prompts/*", "CONTRIBUTING.md"],
).pytest()

"""Runs what the documentation shows: Python and shell sessions, and every block that is data.

Sessions print what stands below them. Blocks of data, templates and programs can be read by
what reads them. A block with a `title` is a file: on a page that has such, all sessions run in
one folder, in which the files are. `<!-- skip: next -->` above a block leaves out what is
broken on purpose; the pages of the rules have tests of their own (tests/test_rule_pages.py).
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from sybil import Document, Example, Region, Sybil
from sybil.parsers.doctest import DocTestParser
from sybil.parsers.markdown import CodeBlockParser, SkipParser

import cuecard

ROOT = Path(__file__).parent
FOLDER = "the folder of this page"
TITLED = re.compile(
    r'^```(?P<language>\w+) title="(?P<title>[\w./-]+)"\n(?P<text>.*?)^```$', re.M | re.S
)
USUAL_PORT = "8321"


def pytest_configure() -> None:
    """Have interruptions interrupt, here and in all that the tests start.

    A shell without job control starts what is in the background with SIGINT ignored.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def run_shell_session(example: Example) -> str | None:
    """Run the commands of a `console` block in one folder; compare all that they print."""
    script: list[str] = []
    expected: list[str] = []
    for line in str(example.parsed).splitlines():
        if line.startswith("$ "):
            script.append(line[2:])
        elif line.startswith("> ") and "<<" in script[-1] and not expected:
            script[-1] += f"\n{line[2:]}"
        elif script:
            expected.append(line)
    if not script:
        return "a session has lines that begin with `$ `; call what is not run `sh`"
    # What runs pytest itself is a run of its own, and no worker of this one.
    own = {name: value for name, value in os.environ.items() if "PYTEST_XDIST" not in name}
    environment = {**own, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    with session_folder(example) as folder:
        for name in set(re.findall(r"\bexamples/[\w./-]+", "\n".join(script))):
            target = Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
        text = "\n".join(script)
        if "cuecard serve" in text:
            # On a page the service has its usual port, here one that is free.
            text = text.replace(USUAL_PORT, free_port())
        printed = output_of(text, folder, environment).splitlines()
    if printed == expected:
        return None
    return "\n".join(("the session prints something else:", *printed))


@contextmanager
def session_folder(example: Example) -> Iterator[str]:
    """The folder of a page's files, when it has such, else one for this session alone."""
    if TITLED.search(example.document.text):
        yield example.namespace[FOLDER]
        return
    with tempfile.TemporaryDirectory() as folder:
        yield folder


def free_port() -> str:
    """A port that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def find_files(document: Document) -> Iterable[Region]:
    """The blocks of a page that are files."""
    for found in TITLED.finditer(document.text):
        yield Region(found.start(), found.end(), found, write_file)


def write_file(example: Example) -> str | None:
    """Write a file into the page's folder, and see that it can be read."""
    found = example.parsed
    target = Path(example.namespace[FOLDER], found["title"])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(found["text"], encoding="utf-8")
    return fault_of(READERS[found["language"]], found["text"])


def output_of(script: str, folder: str, environment: dict[str, str]) -> str:
    """What a script prints. What it starts ends with it."""
    with subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            return process.communicate(timeout=60)[0]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def read_program(text: str) -> None:
    """See that a program compiles, and that what it imports of cuecard is there."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cuecard"):
            module = import_module(node.module or "")
            missing = [each.name for each in node.names if not hasattr(module, each.name)]
            if missing:
                raise ImportError(f"{node.module} has no {', '.join(missing)}")


def read_markdown(text: str) -> None:
    """See that an agent file, or a template in Markdown, can be read."""
    cuecard.Template(cuecard.parse_agent(text).source)


def read_script(text: str) -> None:
    """See that a shell would take a script, without running it."""
    subprocess.run(["bash", "-n"], input=text, text=True, check=True, capture_output=True)


READERS: dict[str, Callable[[str], object]] = {
    "jinja": cuecard.Template,
    "json": json.loads,
    "markdown": read_markdown,
    "python": read_program,
    "sh": read_script,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}
"""What reads a block of each language."""


def read_with(reader: Callable[[str], object]) -> Callable[[Example], str | None]:
    """An evaluator that fails where a reader raises."""
    return lambda example: fault_of(reader, str(example.parsed))


def fault_of(reader: Callable[[str], object], text: str) -> str | None:
    """Why a text cannot be read; None when it can."""
    try:
        reader(text)
    except Exception as error:
        return f"this cannot be read: {error}"
    return None


def set_up(namespace: dict[str, Any]) -> None:
    """Give a page a folder."""
    namespace[FOLDER] = tempfile.mkdtemp()


def tear_down(namespace: dict[str, Any]) -> None:
    """Remove the page's folder."""
    shutil.rmtree(namespace[FOLDER])


PAGES = Sybil(
    setup=set_up,
    teardown=tear_down,
    parsers=[
        DocTestParser(),
        SkipParser(),
        find_files,
        CodeBlockParser(language="console", evaluator=run_shell_session),
        *(CodeBlockParser(language, read_with(reader)) for language, reader in READERS.items()),
    ],
    patterns=["docs/*.md", "docs/adapters/*.md", "benchmarks/README.md"],
    filenames=["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
    # tests/test_service_docs.py runs that page, against one service.
    excludes=["examples/*", "examples/*/*", "tests/*", "tests/*/*", "docs/service.md"],
)
pytest_collect_file = PAGES.pytest()

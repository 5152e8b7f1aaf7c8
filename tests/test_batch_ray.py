"""A real Ray cluster of two processors on this machine: the same as here, with a worker lost."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil  # type: ignore[import-untyped]
import pytest

import cuecard

from .batch_tables import batch, read_rows, write_lines, write_parquet

CLUSTER = """
import sys
import ray
context = ray.init(
    num_cpus=2, include_dashboard=False, log_to_driver=False, _temp_dir=sys.argv[1],
    object_store_memory=100 << 20, _node_ip_address="127.0.0.1",
)
print(context.address_info["gcs_address"], flush=True)
sys.stdin.read()
ray.shutdown()
"""

TEMPLATE = (
    "{% for n in range(200) %}{{ a }}{{ n }}{% endfor %}{% if b == 7 %}{{ 1 / 0 }}{% endif %}"
)


class Cluster(NamedTuple):
    """A cluster: the process that started it, its address, and the environment it takes."""

    process: psutil.Process
    address: str
    environment: dict[str, str]

    def run(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a program that may use the cluster."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=cwd,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=100,
        )

    def workers(self) -> list[psutil.Process]:
        """The processes that render parts."""
        found = []
        for process in self.process.children(recursive=True):
            try:
                if any("UDFActor" in part for part in process.cmdline()):
                    found.append(process)
            except psutil.Error:
                continue
        return found


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """One cluster for all tests; it ends with the process that started it."""
    folder = tempfile.mkdtemp(prefix="cr")  # the paths of its sockets have to be short
    environment = {
        **os.environ,
        "DAFT_ANALYTICS_ENABLED": "0",
        "HOME": folder,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    process = subprocess.Popen(
        [sys.executable, "-c", CLUSTER, folder],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    # What it says before, on its token, goes elsewhere.
    address = process.stdout.readline().strip()
    assert address, process.communicate()
    yield Cluster(psutil.Process(process.pid), address, environment)
    process.communicate("", timeout=60)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Twelve parts, each of which takes a part of a second."""
    for part in range(12):
        rows = [{"a": f"{part}-{row}", "b": row} for row in range(400)]
        write_parquet(tmp_path / "in" / f"{part:02d}.parquet", rows)
    (tmp_path / "t.md").write_text(TEMPLATE)
    return tmp_path


def expected(folder: Path) -> list[dict[str, Any]]:
    """The rows that the same batch has in this process."""
    batch(TEMPLATE, folder / "in", folder / "here")
    return read_rows(folder / "here")


def test_a_worker_is_killed(cluster: Cluster, tasks: Path) -> None:
    """The part that it rendered is rendered by another, and the output is that of one process."""
    killed: list[int] = []

    def kill_one() -> None:
        records = tasks / "out" / "_cuecard" / "parts"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not killed:
            if len(list(records.glob("*.json"))) >= 2:
                for worker in cluster.workers()[:1]:
                    worker.kill()
                    killed.append(worker.pid)
            time.sleep(0.05)

    killer = threading.Thread(target=kill_one)
    killer.start()
    engine = ("--engine", f"ray:{cluster.address}")
    done = cluster.run("-m", "cuecard", "batch", "t.md", "in", "out", "--json", *engine, cwd=tasks)
    killer.join()
    assert killed
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert (data["rows"], data["parts"], data["codes"]) == (4800, 12, {"P203": 12})
    assert data["faults"] == []
    assert read_rows(tasks / "out") == expected(tasks)
    assert not list((tasks / "out").glob(".[0-9]*"))


def test_resumed_elsewhere(cluster: Cluster, tasks: Path) -> None:
    """What one engine began another finishes; the summary is that of one process."""
    template = cuecard.Template(TEMPLATE, name="t.md")
    here = batch(template, tasks / "in", tasks / "out")
    for part in ("03", "07"):
        (tasks / "out" / f"{part}.parquet").unlink()
    engine = ("--engine", f"ray:{cluster.address}", "--resume", "--json")
    done = cluster.run("-m", "cuecard", "batch", "t.md", "in", "out", *engine, cwd=tasks)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["resumed"] == 10
    assert (data["rows"], data["codes"]) == (here.rows, here.codes)
    told = [(s["number"], s["rows"], sorted(s["ways"])) for s in data["segments"]]
    assert told == [(s.number, s.rows, sorted(s.ways)) for s in here.segments]
    assert read_rows(tasks / "out") == expected(tasks)


def test_a_dataframe(cluster: Cluster, tmp_path: Path) -> None:
    """A dataframe of a cluster has its prompts made there."""
    write_lines(tmp_path / "t.jsonl", [{"a": str(row)} for row in range(100)])
    program = f"""
import json, os
import daft, ray
from cuecard import batch
ray.init(address="{cluster.address}", log_to_driver=False)
daft.set_runner_ray(noop_if_initialized=True)
made = batch.render(daft.read_json("{tmp_path}/t.jsonl"), "Hi {{{{ a }}}}", workers=2)
print(json.dumps(made.to_pydict()["prompt"]))
"""
    done = cluster.run("-c", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [f"Hi {row}" for row in range(100)]

"""Object stores: batches from a bucket into a bucket, by the command and the protocol of S3.

The store is moto's, in a process of its own: Daft speaks to it as to any other.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import httpx
import pytest

from .batch_tables import write_table

SECRET = "not-to-be-told-0123456789"


class Store:
    """A store that runs, with one bucket.

    Args:
        address: where it answers.
    """

    def __init__(self, address: str) -> None:
        self.settings = {
            "AWS_ENDPOINT_URL": address,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }
        self._client = boto3.client(
            "s3",
            endpoint_url=address,
            region_name="us-east-1",
            aws_access_key_id="key",
            aws_secret_access_key=SECRET,
        )
        self._client.create_bucket(Bucket="tasks")

    def put(self, file: Path, name: str) -> None:
        """Give it a file."""
        self._client.upload_file(str(file), "tasks", name)

    def get(self, name: str) -> bytes:
        """What it has under a name."""
        data: bytes = self._client.get_object(Bucket="tasks", Key=name)["Body"].read()
        return data

    def names(self, prefix: str) -> list[str]:
        """What it has below a name."""
        listed = self._client.list_objects_v2(Bucket="tasks", Prefix=prefix)
        return [each["Key"] for each in listed.get("Contents", ())]

    def batch(self, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run the command against it."""
        (folder / "t.md").write_text("Task {{ a }}: {{ 10 // n }}")
        return subprocess.run(
            [sys.executable, "-m", "cuecard", "batch", "t.md", *arguments, "--json"],
            cwd=folder,
            env={**os.environ, **self.settings},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """A store for the module."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield Store(_ready(f"http://127.0.0.1:{port}", process))
        finally:
            process.terminate()


def _ready(address: str, process: "subprocess.Popen[bytes]") -> str:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None, "the store has ended"
        try:
            httpx.get(f"{address}/moto-api/", trust_env=False)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return address
    raise AssertionError("the store does not begin")


def summary(done: "subprocess.CompletedProcess[str]") -> Any:
    """What the command says of a run in which nothing was noted by the way."""
    assert [line for line in done.stderr.splitlines() if not line.startswith("batch: ")] == []
    return json.loads(done.stdout)


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv"])
def test_from_bucket_to_bucket(ending: str, store: Store, tmp_path: Path) -> None:
    """Parts are read and written, and those that are there are not rendered again."""
    for part in range(2):
        path = tmp_path / f"{part}.{ending}"
        rows = [{"a": f"{part}-{row}", "n": row} for row in range(3)]
        write_table(path, rows)
        store.put(path, f"{ending}/in/{path.name}")
    places = (f"s3://tasks/{ending}/in", f"s3://tasks/{ending}/out")
    first = summary(store.batch(tmp_path, *places))
    assert (first["rows"], first["parts"], first["resumed"]) == (6, 2, 0)
    assert set(store.names(f"{ending}/out/")) >= {f"{ending}/out/{n}.{ending}" for n in range(2)}
    again = summary(store.batch(tmp_path, *places, "--resume"))
    assert (again["rows"], again["resumed"]) == (6, 2)
    if ending == "jsonl":
        read = [json.loads(line) for line in store.get("jsonl/out/1.jsonl").splitlines()]
        assert [row["prompt"] for row in read] == [None, "Task 1-1: 10", "Task 1-2: 5"]
        assert [row["error"] and row["error"]["code"] for row in read] == ["P203", None, None]


def test_a_bucket_that_is_not_there(store: Store, tmp_path: Path) -> None:
    """The error names the place, and nothing that is secret."""
    done = store.batch(tmp_path, "s3://elsewhere/in.jsonl", "s3://tasks/none")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert (error["code"], error["template"]) == ("P801", "s3://elsewhere/in.jsonl")
    assert "credentials" in error["hint"]
    assert SECRET not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert store.names("none/") == []

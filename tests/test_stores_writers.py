"""Several writers of one store: nothing is lost, nothing is mixed, nothing is half."""

import subprocess
import sys
import threading
from collections.abc import Callable

from cuecard.stores import TodoItem, open_store

from .store_backends import address

__all__ = ["address"]

LISTS = [tuple(TodoItem(f"{name} {n}") for n in range(40)) for name in ("red", "blue")]

FORKING = """
import os, signal, sys, time
from cuecard.stores import TodoItem, open_store
address = sys.argv[1]
with open_store("sqlite::memory:") as store:
    store.set_profile("ann", "a")  # imports all, once for all processes

def fork(call, *arguments):
    child = os.fork()
    if child == 0:
        try:
            call(*arguments)
            os._exit(0)
        finally:
            os._exit(1)
    return child
"""
"""Runs functions in processes of their own."""

ADD_NOTES = """
def add(name, begin):
    time.sleep(max(0, begin - time.time()))
    with open_store(address) as store:
        for number in range(15):
            store.append_note("agent", "ann", f"{name} {number}")

begin = time.time() + 0.1
children = [fork(add, name, begin) for name in "abcd"]
print([os.waitpid(child, 0)[1] for child in children])
"""

KILL_WRITERS = """
lists = [tuple(TodoItem(f"{name} {n}") for n in range(40)) for name in ("red", "blue")]
notes = ["a" * 50_000, "b" * 50_000]

def write(pipe):
    store = open_store(address)
    number = 0
    while True:
        store.set_todos("s", lists[number % 2])
        store.set_notes("agent", "ann", notes[number % 2])
        if number == 0:
            os.write(pipe, b"begun")
        number += 1

for pause in (0, 0.002, 0.005, 0.01, 0.02):
    read_end, write_end = os.pipe()
    child = fork(write, write_end)
    os.close(write_end)
    assert os.read(read_end, 5) == b"begun"
    time.sleep(pause)
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    with open_store(address) as store:
        assert store.todos("s") in lists
        assert store.notes("agent", "ann") in notes
        store.set_todos("s", lists[0][:1])
        store.append_note("agent", "ann", "c")
        assert store.todos("s") == lists[0][:1]
        assert store.notes("agent", "ann")[-2:] == "\\nc"
    print(pause)
"""


def run(code: str, address: str) -> str:
    """What code prints that forks."""
    done = subprocess.run(
        [sys.executable, "-c", FORKING + code, address],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_threads(calls: list[Callable[[], None]]) -> None:
    """Run calls at once; the first failure is raised."""
    failures: list[BaseException] = []

    def guarded(call: Callable[[], None]) -> None:
        try:
            call()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if failures:
        raise failures[0]


def test_threads_lose_no_note(address: str) -> None:
    """Eight threads add notes to one text, from the first opening on; each note is there once."""
    with open_store(address) as store:

        def add(name: int) -> None:
            for number in range(12):
                store.append_note("agent", "ann", f"{name} {number}")

        in_threads([lambda name=name: add(name) for name in range(8)])  # type: ignore[misc]
        notes = store.notes("agent", "ann")
    assert notes is not None
    assert sorted(notes.split("\n")) == sorted(f"{a} {b}" for a in range(8) for b in range(12))
    for name in range(8):
        own = [line for line in notes.split("\n") if line.startswith(f"{name} ")]
        assert own == [f"{name} {number}" for number in range(12)], "each in its order"


def test_processes_lose_no_note(address: str) -> None:
    """Four processes open a blank store at once and add notes; each note is there once."""
    assert run(ADD_NOTES, address) == "[0, 0, 0, 0]\n"
    with open_store(address) as store:
        notes = store.notes("agent", "ann")
    assert notes is not None
    assert sorted(notes.split("\n")) == sorted(f"{a} {b}" for a in "abcd" for b in range(15))


def test_readers_see_whole_lists(address: str) -> None:
    """While a list is replaced again and again, readers see one or the other, never a mixture."""
    with open_store(address) as store:
        store.set_todos("s", LISTS[0])
        done = threading.Event()

        def write() -> None:
            try:
                for number in range(60):
                    store.set_todos("s", LISTS[number % 2])
            finally:
                done.set()

        def read() -> None:
            while not done.is_set():
                assert store.todos("s") in LISTS

        in_threads([write, read, read, read])


def test_killed_writer_leaves_a_whole_state(address: str) -> None:
    """After `kill -9` in the middle of writing, all is old or new, and can be written."""
    assert run(KILL_WRITERS, address).split() == ["0", "0.002", "0.005", "0.01", "0.02"]

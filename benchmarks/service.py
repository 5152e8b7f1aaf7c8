"""Measure the HTTP service beside a bare FastAPI endpoint that answers as many bytes.

Both run in processes of their own under the same server, on one core; what asks them is on
another. README.md says how to read the table.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import math
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from agent_prompt import TEMPLATE, sentences, skill, stable_context, tool, turns
from charts import bars
from report import Goal, machine, table, versions, write_into
from report import number as digits

CONNECTIONS = 32
TURNS = 50
"""Turns of a session; then the connection goes on with a new one, whom nobody knows."""

BODIES = 2_000
WARM_UP = 0.2
"""Share of a round's requests that come before it and are not counted."""

SERVICE, BARE, STORED = "cuecard serve", "bare FastAPI", "cuecard serve, with a store"
KINDS = {SERVICE: "cuecard", STORED: "cuecard", BARE: "peer"}
AGENT, FROM_STORE = "Argus", "Argus-from-store"
PATHS = {
    SERVICE: f"/v1/agents/{AGENT}/render",
    STORED: f"/v1/agents/{FROM_STORE}/render",
    BARE: "/render",
}

HEADER = f"---\nname: {AGENT}\ndescription: Works on the code of a bank.\n---\n"


# what is asked ------------------------------------------------------------------------------------


def write_agent(folder: Path) -> None:
    """The agent of the other benchmarks: its tools and skills are files, as providers want them."""
    agents, workspace = folder / "agents", folder / "workspace"
    agents.mkdir()
    (agents / "argus.md").write_text(HEADER + TEMPLATE, encoding="utf-8")
    stored = HEADER.replace(AGENT, FROM_STORE) + TEMPLATE
    for slot, variable in (("notes", "user_notes"), ("plan", "todo_list_md")):
        stored = stored.replace(f"if {slot} ", f"if {variable} ")
        stored = stored.replace(f"{{{{ {slot} }}}}", f"{{{{ {variable} }}}}")
    (agents / "stored.md").write_text(stored, encoding="utf-8")
    for entry in map(skill, range(10)):
        place = workspace / ".agents" / "skills" / entry["name"]
        place.mkdir(parents=True)
        head = f"name: {entry['name']}\ndescription: {entry['description']}"
        place.joinpath("SKILL.md").write_text(f"---\n{head}\n---\nDo so.\n", encoding="utf-8")
    given = json.dumps([tool(number) for number in range(15)])
    (folder / "tools.json").write_text(given, encoding="utf-8")


def slots(stored: bool = False) -> Iterator[bytes]:
    """The slots of turns, as JSON: notes and plan change now and then."""
    for turn in itertools.islice(turns(), BODIES):
        given = {} if stored else {"notes": turn["notes"], "plan": turn["plan"]}
        yield json.dumps({"organisation": "Fjordkasse", **given}).encode()


def requests(path: str, bodies: Sequence[bytes], number: int) -> Iterator[bytes]:
    """The requests of one connection, without an end."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Content-Length: "
    ).encode()
    for turn in itertools.count():
        # Connections are in the midst of their sessions at different times.
        session = (turn + number * TURNS // CONNECTIONS) // TURNS
        who = b'{"session":{"id":"s-%d-%d","user_id":"u-%d"},"slots":' % (number, session, number)
        body = bodies[(turn + number * 61) % len(bodies)]
        yield b"%s%d\r\n\r\n%s%s}" % (head, len(who) + len(body) + 1, who, body)


# asking -------------------------------------------------------------------------------------------


class Tally:
    """What all connections share: how many requests are left, and the seconds of those done."""

    def __init__(self, count: int, connections: int, done: asyncio.Future[None]) -> None:
        self.left = count
        self.open = connections
        self.seconds: list[float] = []
        self.bytes = 0
        self.done = done


class Connection(asyncio.BufferedProtocol):
    """A connection that sends the next request when it has the whole answer to the last."""

    def __init__(self, given: Iterator[bytes], tally: Tally) -> None:
        self._given = given
        self._tally = tally
        self._buffer = bytearray(1 << 18)
        self._view = memoryview(self._buffer)
        self._filled = 0
        self._size = 0
        self._start = 0.0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._next()

    def _next(self) -> None:
        tally = self._tally
        if tally.left <= 0:
            self._transport.close()
            tally.open -= 1
            if not tally.open and not tally.done.done():
                tally.done.set_result(None)
            return
        tally.left -= 1
        self._filled = self._size = 0
        self._start = time.perf_counter()
        self._transport.write(next(self._given))

    def get_buffer(self, sizehint: int) -> memoryview:
        if self._filled == len(self._buffer):
            self._fail("the answer is too long")
        return self._view[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        self._filled += nbytes
        if not self._size and not self._read_head():
            return
        if self._filled >= self._size:
            tally = self._tally
            tally.seconds.append(time.perf_counter() - self._start)
            tally.bytes += self._filled
            self._next()

    def _read_head(self) -> bool:
        """Whether the head is there, and then how long the answer is."""
        end = self._buffer.find(b"\r\n\r\n", 0, self._filled)
        if end < 0:
            return False
        head = bytes(self._view[:end]).lower()
        if not head.startswith(b"http/1.1 200 "):
            self._fail(bytes(self._view[: self._filled]).decode("utf-8", "replace"))
            return False
        length = head.index(b"content-length:") + len(b"content-length:")
        self._size = end + 4 + int(head[length:].split(b"\r\n", 1)[0])
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        if self._tally.left > 0:
            self._fail("the server closed a connection")

    def _fail(self, reason: str) -> None:
        if not self._tally.done.done():
            self._tally.done.set_exception(RuntimeError(reason))


class Load(NamedTuple):
    """What came of so many requests."""

    seconds: float
    times: list[float]
    bytes: int


async def ask(port: int, count: int, given: Sequence[Iterator[bytes]]) -> Load:
    """Send so many requests, one at a time on each connection."""
    loop = asyncio.get_running_loop()
    tally = Tally(count, len(given), loop.create_future())
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        for each in given:
            await loop.create_connection(
                lambda each=each: Connection(each, tally),  # type: ignore[misc]
                "127.0.0.1",
                port,
            )
        await tally.done
        seconds = time.perf_counter() - start
    finally:
        gc.enable()
    return Load(seconds, tally.seconds, tally.bytes)


def serve_load() -> None:
    """Read what to ask from standard input, a line each, and print what came of it."""
    asked: dict[str, list[Iterator[bytes]]] = {}
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        for line in sys.stdin:
            name, port, count, shown = json.loads(line)
            if name not in asked:
                bodies = list(slots(stored=name == STORED))
                asked[name] = [requests(PATHS[name], bodies, n) for n in range(CONNECTIONS)]
            load = runner.run(ask(port, count, asked[name]))
            times = sorted(load.times)
            figures = {
                "requests": count / load.seconds,
                "bytes": load.bytes / count,
                **{f"p{share}": _share(times, share) * 1e3 for share in shown},
            }
            print(json.dumps(figures), flush=True)


def _share(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, math.ceil(len(ordered) * share / 100) - 1)]


def _loop_factory() -> Any:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


# what is measured ---------------------------------------------------------------------------------


def serve_bare(size: int) -> None:
    """A FastAPI endpoint that takes the same JSON and answers a text that is always the same."""
    import uvicorn
    from fastapi import FastAPI
    from fastapi.responses import PlainTextResponse

    app = FastAPI(telemetry={"tracing": False, "metrics": False})
    text = sentences("bare", size // 40)[:size].ljust(size)

    @app.post("/render")
    async def render(body: dict[str, Any]) -> PlainTextResponse:
        return PlainTextResponse(text)

    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        print(f"Serving at {address}", file=sys.stderr, flush=True)
        # As `cuecard.server.serve` has it.
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            proxy_headers=False,
            ws="none",
            server_header=False,
            date_header=False,
        )
        uvicorn.Server(config).run(sockets=[listener])


# processes ----------------------------------------------------------------------------------------


class Server(NamedTuple):
    """A server that runs."""

    name: str
    port: int
    process: subprocess.Popen[str]

    def resident(self) -> float:
        """MiB of its process that are in memory."""
        try:
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
            return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
        except OSError:
            told = subprocess.run(
                ["ps", "-o", "rss=", "-p", str(self.process.pid)],
                check=True,
                capture_output=True,
                text=True,
            )
            return int(told.stdout) / 1024

    def processor(self) -> float | None:
        """Seconds of processor time that its process has used; None where that is not told."""
        try:
            told = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return None
        return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def cores() -> tuple[set[int], set[int]]:
    """The cores for servers, and those for what asks them; none where they cannot be chosen."""
    if not hasattr(os, "sched_getaffinity"):
        return set(), set()
    found = sorted(os.sched_getaffinity(0))
    return ({found[0]}, {found[1]}) if len(found) > 1 else (set(), set())


@contextmanager
def running(
    command: Sequence[str | Path], on: set[int], **options: Any
) -> Iterator[subprocess.Popen[str]]:
    """A process that is ended with the block, on the given cores."""
    before = os.sched_getaffinity(0) if on else set()
    if on:
        os.sched_setaffinity(0, on)
    try:
        process = subprocess.Popen(command, text=True, **options)
    finally:
        if on:
            os.sched_setaffinity(0, before)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


@contextmanager
def serving(name: str, folder: Path, size: int, on: set[int]) -> Iterator[Server]:
    command: list[str | Path] = [sys.executable, __file__, "--bare", str(size)]
    if name != BARE:
        command = [sys.executable, "-m", "cuecard", "serve", folder / "agents", "--port", "0"]
        command += ["--quiet", "--no-entry-points", "--workspace", folder / "workspace"]
        command += ["--tools", folder / "tools.json"]
    if name == STORED:
        command += ["--store", f"sqlite:{folder / 'store.db'}"]
    with running(command, on, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        if "http://" not in line:
            sys.exit(f"{name} did not start")
        yield Server(name, int(line.rsplit(":", 1)[1].strip(" /\n")), process)


class Client:
    """The process that asks."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(
        self, server: Server, count: int, shares: Sequence[float] = (50, 99)
    ) -> dict[str, float]:
        """Ask a server so many times, and how long it took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(
            json.dumps([server.name, server.port, count, list(shares)]),
            file=self._process.stdin,
            flush=True,
        )
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"{server.name} answered wrongly")
        figures: dict[str, float] = json.loads(line)
        return figures


# checks -------------------------------------------------------------------------------------------


def fill_store(folder: Path) -> bool:
    """Notes and todo lists for those who ask; whether there can be a store here."""
    from cuecard.stores import SQLiteStore, TodoItem

    try:
        store = SQLiteStore(folder / "store.db")
    except ImportError:
        return False
    for number in range(CONNECTIONS):
        store.set_notes(FROM_STORE, f"u-{number}", sentences(f"notes {number}", 6))
        items = [TodoItem(sentences(f"item {n}", 1), "pending") for n in range(8)]
        for session in range(3):
            store.set_todos(f"s-{number}-{session}", items)
    store.close()
    return True


def check(server: Server) -> int:
    """Compare an answer with what the library renders; the bytes of its body."""
    import http.client

    import cuecard

    turn = next(itertools.islice(turns(), 30, None))
    given = {"organisation": "Fjordkasse", "notes": turn["notes"], "plan": turn["plan"]}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    asked = json.dumps({"session": "check", "slots": given, "extra_vars": {"current_time": "9"}})
    connection.request("POST", PATHS[SERVICE], asked, {"Content-Type": "application/json"})
    body = connection.getresponse().read()
    connection.close()
    text = json.loads(body)["text"]
    stable = stable_context()
    places = [line[10:-11] for line in text.splitlines() if line.startswith("<location>")]
    for entry, place in zip(stable["skills"], sorted(places), strict=True):
        entry["path"] = place
    shown = sorted(stable["skills"], key=lambda entry: places.index(entry["path"]))
    workspace = text.split("You work in `")[1].split("`")[0]
    context = {**stable, **given, "skills": shown, "workspace": workspace, "current_time": "9"}
    if text != cuecard.render(TEMPLATE, context):
        sys.exit("the service gives another text than the library")
    return len(body)


# measuring ----------------------------------------------------------------------------------------

Round = dict[str, float]
Figures = dict[str, list[Round]]


def measure(client: Client, servers: Sequence[Server], rounds: int, count: int) -> Figures:
    """What each round gave by server; the servers take turns."""
    found: Figures = {server.name: [] for server in servers}
    for _ in range(rounds):
        for server in servers:
            client.ask(server, max(CONNECTIONS, int(count * WARM_UP)))
            before = server.processor()
            figures = client.ask(server, count)
            after = server.processor()
            if before is not None and after is not None:
                figures["processor"] = (after - before) / count * 1e6
            found[server.name].append(figures)
    return found


def middle(figures: Figures, name: str, key: str) -> float | None:
    """The median of the rounds; None when it was not measured."""
    found = [each[key] for each in figures.get(name, ()) if key in each]
    return statistics.median(found) if found else None


def ratio(figures: Figures, key: str) -> float | None:
    """The median of the ratios of each round: what disturbs one server often disturbs both."""
    pairs = zip(figures[SERVICE], figures[BARE], strict=True)
    found = [ours[key] / bare[key] for ours, bare in pairs if key in ours and bare.get(key)]
    return statistics.median(found) if found else None


def measure_memory(client: Client, server: Server, count: int) -> list[Round]:
    """The memory of a server that is asked so many times, and how fast it answers meanwhile."""
    found = [{"requests": 0.0, "mebibytes": server.resident(), "rate": 0.0}]
    done = 0
    for share in (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100):
        until = count * share // 100
        figures = client.ask(server, until - done, ())
        done = until
        told = {"requests": done, "mebibytes": server.resident(), "rate": figures["requests"]}
        found.append(told)
        print(f"{done:,} of {count:,}: {told['mebibytes']:.1f} MiB", file=sys.stderr)
    return found


# results ------------------------------------------------------------------------------------------


def goals(figures: Figures, memory: Sequence[Round]) -> list[Goal]:
    found = [
        Goal("requests a second, of the bare endpoint's", ratio(figures, "requests"), 0.5, True),
        Goal("time of 99 in 100 answers, of its", ratio(figures, "p99"), 4),
        Goal("   beside it: processor time, of its", ratio(figures, "processor")),
    ]
    if memory:
        # By then every buffer has been used, and as many sessions are remembered as ever will.
        tenth = next(each for each in memory if each["requests"] >= memory[-1]["requests"] / 10)
        growth = memory[-1]["mebibytes"] / tenth["mebibytes"]
        found.append(Goal("memory at the end, of that at a tenth of the way", growth, 1.1))
    return found


def rows(figures: Figures) -> list[tuple[str, ...]]:
    def cell(name: str, key: str) -> str:
        value = middle(figures, name, key)
        return "-" if value is None else digits(value)

    keys = ("requests", "p50", "p99", "processor", "bytes")
    return [(name, *(cell(name, key) for key in keys)) for name in KINDS if name in figures]


def memory_rows(memory: Sequence[Round]) -> list[tuple[str, ...]]:
    return [
        (
            f"{each['requests']:,.0f}",
            digits(each["mebibytes"]),
            digits(each["rate"]) if each["rate"] else "-",
        )
        for each in memory
    ]


def chart(figures: Figures) -> str:
    values = [(name, middle(figures, name, "requests") or 0.0) for name in figures]
    return bars(
        "Requests a second, on one core",
        "requests a second; each line is ten times the one before",
        [(name, value, KINDS[name]) for name, value in sorted(values, key=lambda each: -each[1])],
        {"cuecard": "cuecard", "peer": "FastAPI alone"},
    )


def run(options: argparse.Namespace) -> tuple[int, Figures, list[Round]]:
    """The bytes of an answer, what the rounds gave, and the memory."""
    here, there = cores()
    asking: list[str | Path] = [sys.executable, __file__, "--load"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_agent(folder)
        has_store = fill_store(folder)
        client = Client(stack.enter_context(running(asking, there, **pipes)))
        with ExitStack() as servers:
            service = servers.enter_context(serving(SERVICE, folder, 0, here))
            size = check(service)
            asked = [service, servers.enter_context(serving(BARE, folder, size, here))]
            if has_store:
                asked.append(servers.enter_context(serving(STORED, folder, 0, here)))
            figures = measure(client, asked, options.rounds, options.count)
        if not options.requests:
            return size, figures, []
        # One that has answered nothing yet.
        fresh = stack.enter_context(serving(SERVICE, folder, 0, here))
        return size, figures, measure_memory(client, fresh, options.requests)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Measure the HTTP service beside a bare FastAPI endpoint."
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the figures there too")
    parser.add_argument("--svg", metavar="FILE", type=Path, help="draw them there")
    parser.add_argument("--page", metavar="FILE", type=Path, help="put the tables into that page")
    parser.add_argument("--rounds", type=int, default=11, help="rounds of all servers (11)")
    parser.add_argument("--count", type=int, default=4_000, help="requests of a round (4,000)")
    parser.add_argument(
        "--requests", type=int, default=0, help="then ask so many times, and look at the memory (0)"
    )
    parser.add_argument("--bare", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--load", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if options.bare is not None:
        serve_bare(options.bare)
        return
    if options.load:
        serve_load()
        return
    size, figures, memory = run(options)
    found = versions({"cuecard", "fastapi", "httptools", "uvicorn", "uvloop"})
    facts = (
        ", ".join(f"{name} {found[name]}" for name in sorted(found))
        + f"; {machine()}, one for the server; {CONNECTIONS} connections, {size:,} bytes an answer"
    )
    head = ("", "requests/s", "ms, median", "ms, 99 in 100", "us of processor", "bytes")
    report = [
        table(head, rows(figures)),
        table(
            ("goal", "measured", "goal", ""),
            [goal.cells() for goal in goals(figures, memory)],
            left=(0, 3),
        ),
    ]
    if memory:
        report.append(table(("requests", "MiB", "requests/s"), memory_rows(memory), left=()))
    print(facts, *report, sep="\n\n")
    if options.page:
        write_into(options.page, "service", facts, report)
    if options.json:
        data = {
            "date": date.today().isoformat(),
            "machine": machine(),
            "versions": found,
            "bytes": size,
            "rounds": figures,
            "memory": memory,
            "goals": [goal.data() for goal in goals(figures, memory)],
        }
        options.json.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    if options.svg:
        options.svg.write_text(chart(figures), encoding="utf-8")


if __name__ == "__main__":
    main()

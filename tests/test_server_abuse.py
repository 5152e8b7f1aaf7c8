"""Requests that mean harm: bodies, paths, templates, and what may be seen of others' data."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cuecard.server import ServiceLimits, ServiceSettings, create_app
from cuecard.server.guard import Guard

from .service_files import FILES, SECRET, write_files
from .service_process import WRITE, Service, read_all, running, until
from .test_server_access import BODIES, NEEDS, path_of, token_file

JSON = {"content-type": "application/json"}
LIMITS = ServiceLimits()
LOOPS = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that is asked for too much, and has said nothing wrong at the end."""
    folder = tmp_path_factory.mktemp("abuse")
    options = ("--store", f"sqlite:{folder}/store.db", "--partials", str(write_files(folder)))
    with running(folder / "agents", options=options) as found:
        yield found
        assert found.get("/healthz").status_code == 200
        log = found.log()
        assert "Traceback" not in log
        assert "a request failed" not in log
        assert SECRET not in log


def code_of(answer: Any) -> str:
    """The code of a failed request."""
    code: str = answer.json()["error"]["code"]
    return code


class TestBodies:
    @pytest.mark.parametrize("operation", [each for each in NEEDS if each[:3] != "GET"])
    @pytest.mark.parametrize(
        ("content", "status"),
        [
            (b"", 422),
            (b"\xff\xfe", 422),
            (b"NaN", 422),
            (b'"\\ud800"', 422),
            (b'{"text": "\\udc00"}', 422),
            (b'{"template": -Infinity}', 422),
            (b"[" * 100_000 + b"]" * 100_000, 422),
            (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, 422),
            (b"1" * 100_000, 422),
            (b'{"\\u0000": 1}', 422),
            (b" " * (LIMITS.body + 1), 413),
        ],
        ids=range(11),
    )
    def test_that_are_no_json(
        self, service: Service, operation: str, content: bytes, status: int
    ) -> None:
        """A body that is none is refused before anything is done with it."""
        method = operation.partition(" ")[0]
        answer = service.http.request(method, path_of(operation), content=content, headers=JSON)
        assert answer.status_code == status
        assert code_of(answer) == ("P855" if status == 413 else "P857")

    @pytest.mark.parametrize(
        "kind",
        [
            *("", "text/plain", "application/x-www-form-urlencoded"),
            *("multipart/form-data; boundary=a", "text/json", "application/jsonp"),
            *("application/vnd.api+json", "application/json-patch"),
        ],
    )
    def test_that_call_themselves_something_else(self, service: Service, kind: str) -> None:
        """A form of another page can send no body of these routes."""
        content = json.dumps(BODIES["POST /v1/render"]).encode()
        headers = {"content-type": kind} if kind else {}
        answer = service.http.request("POST", "/v1/render", content=content, headers=headers)
        assert (answer.status_code, code_of(answer)) == (415, "P857")

    @pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
    def test_that_are_json(self, service: Service, kind: str) -> None:
        """Also in parts, and with further words in the type."""
        content = json.dumps(BODIES["POST /v1/render"]).encode()
        parts = iter([content[:5], b"", content[5:]])
        for body in (content, parts):
            answer = service.http.request(
                "POST", "/v1/render", content=body, headers={"content-type": kind}
            )
            assert answer.json() == {"text": "x", "fallback": False}

    def test_too_large_in_parts(self, service: Service) -> None:
        """A body whose length is not told is cut off where it gets too large."""
        parts = (b" " * 65_536 for _ in range(LIMITS.body // 65_536 + 1))
        answer = service.http.request("POST", "/v1/render", content=parts, headers=JSON)
        assert (answer.status_code, code_of(answer)) == (413, "P855")

    def test_with_endless_heads(self, service: Service) -> None:
        """A head that does not end is cut off, however it is made, before it takes memory."""
        line = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
        for start, part in (
            (b"GET /", b"a" * 4_096),
            (line + b"X: ", b"a" * 4_096),
            (line, b"X: a\r\n" * 600),
        ):
            with service.connection() as connection:
                connection.sendall(start)
                with pytest.raises((BrokenPipeError, ConnectionResetError)):
                    send_on(connection, part)
        assert service.get("/healthz").status_code == 200

    @pytest.mark.parametrize("length", ["-1", "1e3", "0x10", "99999999999999999999", "9" * 5_000])
    def test_of_odd_lengths(self, service: Service, length: str) -> None:
        """A length that is none, or too much, ends the connection with an answer."""
        head = f"POST /v1/render HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
        answer = service.raw(head.encode())
        assert answer.split(b" ", 2)[1] in (b"400", b"413")

    def test_of_lying_lengths(self, service: Service) -> None:
        """Who sends less than announced waits alone, and who sends more is not believed."""
        head = "POST /v1/render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        body = b'{"template": "x"}'
        with service.connection() as less:
            less.sendall(f"{head}Content-Length: 100\r\n\r\n".encode() + body)
            assert service.get("/healthz").status_code == 200
            less.shutdown(socket.SHUT_WR)
        more = service.raw(
            f"{head}Content-Length: {len(body)}\r\n\r\n".encode()
            + body
            + b"GET /v1/me SMUGGLED\r\nHost: localhost\r\n\r\n"
        )
        assert more.count(b"HTTP/1.1 ") <= 2
        assert b"roles" not in more

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ({"template": "{{ a }}", "context": {"a": [0] * 200_001}}, "P704"),
            ({"template": "{{ a }}" + "x" * (1 << 20)}, "P110"),
            ({"template": "{{ a * 9 }}", "context": {"a": "x" * 1_000_000}}, "P115"),
            ({"template": "{{ a }}{{ a }}{{ a }}", "context": {"a": "x" * 1_400_000}}, "P115"),
            (
                {"template": LOOPS},
                "P114",
            ),
        ],
    )
    def test_too_much_for_a_render(self, service: Service, body: Any, code: str) -> None:
        """What exceeds a bound is refused with the code of the bound."""
        answer = service.post("/v1/render", body)
        assert (answer.status_code, code_of(answer)) == (422, code)

    def test_too_long_a_prompt_of_an_agent(self, service: Service) -> None:
        """The bound on what an answer holds is also one for agents."""
        slots = {"workspace": "x" * 3_900_000, "intent": "y" * 200_000}
        answer = service.post("/v1/agents/reviewer/render", {"slots": slots})
        assert (answer.status_code, code_of(answer)) == (422, "P115")


def send_on(connection: socket.socket, part: bytes) -> None:
    """Send the same again and again, far beyond any bound."""
    for _ in range(10_000):
        connection.sendall(part)


NAMES = [
    *("..", "../secret.md", "../secret.json", "..%2fsecret.json", "%2e%2e%2fsecret.json"),
    *("..%5csecret.json", "..\\secret.json", "%2fetc%2fpasswd", "/etc/passwd", "//etc/passwd"),
    *("context.json%00.jsonl", "%00", "link.json", "gone.json", "notes.txt", "link.md", "."),
    *("./context.jsonl", "%252e%252e%252fsecret.json", "\u2025/secret.json", "secret"),
    *("....//secret.json", "worn", "worn/reviewer.md", "file:///etc/passwd", "-", "%ff", "*"),
]
"""Names that lead out of a folder, or try to."""


class TestFiles:
    @pytest.mark.parametrize(
        "path",
        [
            *("/v1/agents/{}", "/v1/agents/{}/file", "/v1/agents/reviewer/turns/{}"),
            *("/v1/agents/reviewer/contexts/{}", "/v1/agents/reviewer/turns/{}.jsonl"),
            *("/v1/agents/reviewer/contexts/{}.json", "/assets/{}", "/{}", "/v1/{}"),
        ],
    )
    def test_outside_are_not_shown(self, service: Service, path: str) -> None:
        """No name in a path leads to a file that is not offered."""
        for name in NAMES:
            line = f"GET {path.format(name)} HTTP/1.1\r\nHost: localhost\r\nConnection: close"
            answer = service.raw(f"{line}\r\n\r\n".encode())
            assert answer.split(b" ", 2)[1] in (b"400", b"404"), (path, name)
            assert SECRET.encode() not in answer
            assert b"root:" not in answer

    def test_outside_are_not_written(self, service: Service, tmp_path: Path) -> None:
        """No name in a path leads to a file that is not offered."""
        body = {"text": "changed", "revision": "0"}
        for name in NAMES:
            path = f"/v1/agents/{name}/file".encode()
            data = json.dumps(body).encode()
            head = b"PUT %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" % path
            head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data)
            assert service.raw(head + data).split(b" ", 2)[1] in (b"400", b"404", b"405"), name

    @pytest.mark.parametrize(
        "how",
        [
            '{{% include "{}" %}}',
            '{{% include ["none", "{}"] %}}',
            '{{% include "{}" ignore missing %}}',
            '{{% import "{}" as a %}}{{{{ a }}}}',
            '{{% from "{}" import a %}}',
            '{{% extends "{}" %}}',
            '{{% set name = "{}" %}}{{% include name %}}',
        ],
    )
    def test_outside_are_in_no_template(self, service: Service, how: str) -> None:
        """Templates of requests include nothing, or what lies in the folder of partials."""
        places = ["../secret.md", "/etc/passwd", "link.md", "worn/../../secret.md", "..\\secret.md"]
        header = "---\nprofile: markdown\n---\n"
        for name in places:
            template = how.format(name.replace("\\", "\\\\"))
            bodies: dict[str, Any] = {
                "/v1/render": {"template": template, "profile": "markdown"},
                "/v1/explain": {"text": header + template},
                "/v1/check": {"text": header + template},
                "/v1/diff": {"text": header + template, "before": {}, "after": {}},
                "/v1/turns": {"text": header + template, "turns": [{}]},
                "/v1/agents/says/explain": {"text": header + template},
            }
            for path, body in bodies.items():
                answer = service.post(path, body)
                assert answer.status_code in (200, 422)
                assert SECRET not in answer.text
                assert "root:" not in answer.text

    def test_in_the_folder_of_partials_are(self, service: Service) -> None:
        """A file of an author may include what the service was told to offer."""
        text = "---\nprofile: markdown\n---\n{% include 'worn/reviewer.md' %}"
        assert service.post("/v1/explain", {"text": text}).json()["text"].endswith("The old one.\n")

    @pytest.mark.parametrize("name", ["/etc/passwd", "../secret.md", "-", "", "a\nb", "SKILL.md"])
    def test_are_not_read_by_the_name_of_a_text(self, service: Service, name: str) -> None:
        """What a text is called is a name in messages, and no path."""
        for path, body in (
            ("/v1/render", {"template": "x"}),
            ("/v1/check", {"text": "x"}),
            ("/v1/explain", {"text": "x"}),
        ):
            answer = service.post(path, {**body, "name": name})
            assert answer.status_code == 200
            assert "root:" not in answer.text
            refused = service.post(path, {**body, "name": f"{name}\0"})
            assert (refused.status_code, code_of(refused)) == (422, "P857")

    @pytest.mark.parametrize(
        "counter", ["tokenizer:/etc/passwd", "tiktoken:gpt2", "huggingface:gpt2", "file", "/etc"]
    )
    def test_are_not_read_by_counters(self, service: Service, counter: str) -> None:
        """Only counters that read no file and fetch nothing may be named."""
        for operation in ("POST /v1/render", "POST /v1/explain", "POST /v1/turns", "POST /v1/diff"):
            body = {**BODIES[operation], "tokens": counter}
            answer = service.post(path_of(operation), body)
            assert (answer.status_code, code_of(answer)) == (422, "P857")


class TestCanaries:
    def test_are_in_no_log_metric_or_error(self, tmp_path: Path) -> None:
        """Texts, values, ids and tokens that pass through every route stay in their answers."""
        agents = write_files(tmp_path)
        options = ("--token-file", str(token_file(tmp_path)), "--store", f"sqlite:{tmp_path}/s.db")
        canary = "canary-7f3a"
        with running(agents, options=options, token=WRITE) as service:
            for operation in NEEDS:
                for answer in self._asked(service, operation, canary):
                    assert answer.status_code < 500
                    if answer.status_code >= 400:
                        assert canary not in answer.text, (operation, answer.text)
            answer = service.get("/v1/me", headers={"authorization": f"Bearer {canary}"})
            assert answer.status_code == 401
            metrics = service.get("/metrics").text
            assert canary not in metrics
            assert WRITE not in metrics
            assert 'route="/v1/agents/{name}/render"' in metrics
            assert canary not in service.log()
            assert WRITE not in service.log()
            assert "POST /v1/agents/{name}/render 200" in service.log()

    def _asked(self, service: Service, operation: str, canary: str) -> Iterator[Any]:
        """Answers to an operation with the canary wherever it takes something."""
        method, path = operation.split(" ")
        if method == "GET":
            yield service.get(path_of(operation))
            for known in ("{name}", "{file}", "{agent}", "{user}", "{session}"):
                path = path.replace(known, canary)
            yield service.get(path)
            return
        whom = {"session": {"id": canary, "user_id": canary}, "auth": canary}
        values = {"workspace": canary, "name": canary, "times": canary, "a": canary}
        bodies: dict[str, list[Any]] = {
            "POST /v1/agents/{name}/render": [
                {"slots": {"name": canary}, **whom},
                {"slots": {"name": canary, "times": canary}, **whom},
                {"slots": canary},
                {"extra_vars": values, "session": {"time_zone": canary}},
            ],
            "POST /v1/agents/{name}/explain": [
                {"slots": {"name": canary}, **whom},
                {"text": f"{canary} {{{{ name | nofilter }}}}", "slots": values},
                {"text": "---\nprofile: strict\n---\n{{ a + 1 }}", "extra_vars": values, **whom},
            ],
            "POST /v1/render": [
                {"template": "{{ a + 1 }}", "context": values},
                {"template": f"{canary} {{% if", "context": values},
                {"template": "{{ a | int }}", "context": values, "profile": "operator"},
                {"template": "{{ a }}", "context": values, "scopes": {"a": canary}},
            ],
            "POST /v1/check": [{"text": f"{canary} {{{{ a | nofilter }}}}"}],
            "POST /v1/explain": [{"text": f"{canary}{{{{ a + 1 }}}}", "context": values}],
            "POST /v1/diff": [{"text": "{{ a + 1 }}", "before": values, "after": values}],
            "POST /v1/turns": [{"text": "{{ a + 1 }}", "turns": [values], "auth": canary}],
            "PUT /v1/agents/{name}/file": [{"text": canary, "revision": canary}],
            "PUT /v1/todos/{session}": [{"todos": [{"content": canary, "status": canary}]}],
        }
        filled = path
        for known in ("{agent}", "{user}", "{session}"):
            filled = filled.replace(known, canary)
        for body in bodies.get(operation, [{"text": canary}]):
            yield service.request(method, filled.replace("{name}", "greeter"), body)
            yield service.request(method, path_of(operation), {**body, "text": None, "x": canary})
            yield service.request(method, filled.replace("{name}", canary), body)

    def test_of_names_forge_no_line(self, service: Service) -> None:
        """A name with a line break in it does not begin another line of the log."""
        name = "a\n00:00:00 GET /forged 200 0.0 ms"
        answer = service.post(
            "/v1/agents/greeter/explain",
            {"text": FILES["greeter.md"].replace("strict", "live"), "extra_vars": {name: 1}},
        )
        assert answer.status_code in (200, 422)
        assert not any(line.startswith("00:00:00") for line in service.log().splitlines())


class TestTooMany:
    def test_wait_for_workers(self, tmp_path: Path) -> None:
        """Who comes when too many wait is told to come again, and the rest are served."""
        agents = write_files(tmp_path)
        slow = {"template": "{% for a in range(150000) %}{{ a }}{% endfor %}", "context": {}}
        with running(agents, options=("--workers", "1")) as service:
            with ThreadPoolExecutor(100) as pool:
                answers = list(pool.map(lambda _: service.post("/v1/render", slow), range(100)))
            counted = dict.fromkeys((200, 422, 429), 0)
            for answer in answers:
                counted[answer.status_code] += 1
                if answer.status_code == 429:
                    assert code_of(answer) == "P120"
                    assert answer.headers["retry-after"] == "1"
            assert counted[429] >= 1
            assert counted[200] + counted[422] >= 1
            assert service.post("/v1/render", {"template": "x"}).json()["text"] == "x"

    def test_are_worked_on(self, service: Service) -> None:
        """Requests beyond the bound are refused, health is still told, and it recovers."""
        head = "POST /v1/render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        body = b'{"template": "x"}'
        opened = []
        try:
            for _ in range(LIMITS.requests):
                connection = service.connection()
                opened.append(connection)
                connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode())
            answer = until(lambda: (a := service.get("/v1/me")).status_code == 429 and a)
            assert (code_of(answer), answer.headers["retry-after"]) == ("P856", "1")
            for path in ("/healthz", "/readyz", "/metrics"):
                assert service.get(path).status_code == 200
            for connection in opened:
                connection.shutdown(socket.SHUT_WR)
        finally:
            for connection in opened:
                connection.close()
        until(lambda: service.get("/v1/me").status_code == 200)


class TestGuard:
    """The guard alone, around applications that do what no request can make the service do."""

    def test_lets_no_body_take_forever(self, tmp_path: Path) -> None:
        """A body that does not come to its end is given up, and its place is free again."""
        limits = ServiceLimits(receiving=0.05)
        status, body = self._asked(tmp_path, None, limits)
        assert (status, body["error"]["code"]) == (408, "P857")

    def test_tells_no_words_of_an_error(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """What an error says may be a stranger's text; its kind and its place are told."""

        async def fails(scope: Any, receive: Any, send: Any) -> None:
            raise LookupError("canary")

        status, body = self._asked(tmp_path, fails)
        assert (status, body["error"]["code"]) == (500, "P206")
        assert "`LookupError`" in body["error"]["message"]
        assert "canary" not in json.dumps(body) + caplog.text
        assert "`LookupError` at test_server_abuse.py:" in caplog.text

    def test_of_an_answer_that_has_begun(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """An answer that has begun stays the only one."""

        async def fails(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})
            raise LookupError("canary")

        assert self._asked(tmp_path, fails) == (200, {})
        assert "canary" not in caplog.text

    def _asked(self, folder: Path, inner: Any, limits: ServiceLimits = LIMITS) -> tuple[int, Any]:
        """Status and body of the answer to a request whose body never comes."""
        app = create_app(ServiceSettings((folder,), workers=1, limits=limits))
        guard = app if inner is None else Guard(inner, app.service)
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/render",
            "root_path": "",
            "query_string": b"",
            "headers": headers,
        }
        sent: list[Any] = []

        async def receive() -> Any:
            await asyncio.sleep(60)

        async def send(message: Any) -> None:
            sent.append(message)

        try:
            asyncio.run(guard(scope, receive, send))
        finally:
            app.service.workers.close()
        body = b"".join(message.get("body", b"") for message in sent)
        return sent[0]["status"], json.loads(body)


class TestDisconnects:
    def test_in_the_middle(self, service: Service) -> None:
        """Clients that leave while they send, wait or read cost nobody else anything."""
        slow = {"template": "{% for a in range(90000) %}{{ a }}{% endfor %}", "context": {}}
        data = json.dumps(slow).encode()
        head = b"POST /v1/render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        head += b"Content-Length: %d\r\n\r\n" % len(data)

        def leave(part: bytes, *, reads: int = 0) -> None:
            with service.connection() as connection:
                connection.sendall(part)
                if reads:
                    connection.recv(reads)
                # Without the closing handshake, as when a machine is switched off.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

        parts = [head[:10], head, head + data[:5], head + data]
        threads = [threading.Thread(target=leave, args=(part,)) for part in parts * 6]
        threads += [threading.Thread(target=leave, args=(head + data,), kwargs={"reads": 10})]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        with ThreadPoolExecutor(4) as pool:
            quick = {"template": "{{ a }}", "context": {"a": "x"}}
            answers = pool.map(lambda _: service.post("/v1/render", quick), range(8))
            assert [answer.json() for answer in answers] == [{"text": "x", "fallback": False}] * 8
        assert "Traceback" not in service.log()

    def test_before_the_answer_is_read(self, service: Service) -> None:
        """A client that never reads does not keep others from their answers."""
        big = json.dumps({"template": "{{ a * 3 }}", "context": {"a": "x" * 1_000_000}}).encode()
        head = b"POST /v1/render HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        head += b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(big)
        with service.connection() as lazy:
            lazy.sendall(head + big)
            for _ in range(5):
                answer = service.post("/v1/render", {"template": "x"})
                assert answer.json()["text"] == "x"
            assert read_all(lazy).count(b"x") >= 3_000_000

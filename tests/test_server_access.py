"""Who may ask the service for what: tokens, roles, hosts, origins, and headers of answers."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cuecard import PromptError
from cuecard.server import ServiceSettings, create_app, read_access

from .running import Run
from .service_files import write_files
from .service_process import READ, RENDER, TOKENS, WRITE, Service, running

ROLES = {"read": READ, "render": RENDER, "write": WRITE}
ORDER = [*ROLES]

NEEDS = {
    "GET /healthz": None,
    "GET /readyz": None,
    "GET /metrics": "read",
    "GET /v1/me": "read",
    "GET /v1/agents": "read",
    "GET /v1/agents/{name}": "read",
    "POST /v1/agents/{name}/render": "render",
    "POST /v1/agents/{name}/explain": "render",
    "GET /v1/agents/{name}/file": "read",
    "PUT /v1/agents/{name}/file": "write",
    "GET /v1/agents/{name}/turns/{file}": "read",
    "GET /v1/agents/{name}/contexts/{file}": "read",
    "POST /v1/render": "render",
    "POST /v1/check": "render",
    "POST /v1/explain": "render",
    "POST /v1/diff": "render",
    "POST /v1/turns": "render",
    "GET /v1/notes/{agent}/{user}": "read",
    "PUT /v1/notes/{agent}/{user}": "write",
    "GET /v1/profiles/{user}": "read",
    "PUT /v1/profiles/{user}": "write",
    "GET /v1/todos/{session}": "read",
    "PUT /v1/todos/{session}": "write",
}
"""The least role for each operation of the service; a new one has to be entered here."""

BODIES: dict[str, Any] = {
    "PUT /v1/agents/{name}/file": {"text": "x", "revision": "0"},
    "POST /v1/render": {"template": "x"},
    "POST /v1/check": {"text": "x"},
    "POST /v1/explain": {"text": "x"},
    "POST /v1/diff": {"text": "x", "before": {}, "after": {}},
    "POST /v1/turns": {"text": "x", "turns": [{}]},
    "PUT /v1/notes/{agent}/{user}": {"text": "x"},
    "PUT /v1/profiles/{user}": {"text": "x"},
    "PUT /v1/todos/{session}": {"todos": []},
}

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}


@cache
def token_file(folder: Path) -> Path:
    """A file of tokens, one of each role."""
    path = folder / "tokens"
    path.write_text(TOKENS)
    return path


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with tokens and a store; requests bring none by themselves."""
    folder = tmp_path_factory.mktemp("access")
    options = ("--token-file", str(token_file(folder)), "--store", f"file:{folder}/store")
    with running(write_files(folder), options=options) as found:
        yield found
        log = found.log()
        assert "Traceback" not in log
        assert not any(token in log for token in ROLES.values())


def path_of(operation: str) -> str:
    """An operation's path with its parameters filled in."""
    path = operation.partition(" ")[2].replace("{name}", "greeter")
    path = path.replace("turns/{file}", "turns/turns.jsonl")
    path = path.replace("contexts/{file}", "contexts/context.json")
    return path.replace("{", "").replace("}", "")


def ask(service: Service, operation: str, token: str | None, **headers: str) -> Any:
    """The answer to an operation with a token."""
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    method = operation.partition(" ")[0]
    body = BODIES.get(operation, {}) if method != "GET" else None
    return service.request(method, path_of(operation), body, headers=headers)


class TestRoles:
    def test_all_operations_are_here(self, service: Service) -> None:
        """The table above has each operation of the service's own document, and no other."""
        paths = service.get("/openapi.json").json()["paths"]
        every = {f"{method.upper()} {path}" for path, item in paths.items() for method in item}
        assert every == NEEDS.keys()

    @pytest.mark.parametrize("operation", NEEDS)
    def test_of_an_operation(self, service: Service, operation: str) -> None:
        """A role does what it and those below it may; without a token there is nothing."""
        least = NEEDS[operation]
        for role, token in ROLES.items():
            answer = ask(service, operation, token)
            if least is not None and ORDER.index(role) < ORDER.index(least):
                assert (answer.status_code, answer.json()["error"]["code"]) == (403, "P852")
                assert least in answer.json()["error"]["message"]
            else:
                assert answer.status_code not in (401, 403), answer.text
        for other in (None, "nobody-has-this-token", READ[:-1], f"{WRITE}x", RENDER.upper()):
            answer = ask(service, operation, other)
            if least is None:
                assert answer.status_code == 200
            else:
                assert (answer.status_code, answer.json()["error"]["code"]) == (401, "P851")
                assert answer.headers["www-authenticate"] == "Bearer"
                assert other is None or other not in answer.text

    @pytest.mark.parametrize("operation", [each for each in NEEDS if each[:3] != "GET"])
    def test_come_before_the_body(self, service: Service, operation: str) -> None:
        """What strangers send is not looked at, whatever it is."""
        method = operation.partition(" ")[0]
        for headers in ({"content-type": "application/json"}, {"content-type": "text/plain"}, {}):
            for content in (b"{", b"\xff", b'{"unknown": 1}', b"[" * 10_000):
                answer = service.http.request(
                    method, path_of(operation), content=content, headers=headers
                )
                assert (answer.status_code, answer.json()["error"]["code"]) == (401, "P851")

    def test_other_ways_to_send_a_token(self, service: Service) -> None:
        """A token counts in its header only, and only as a bearer's."""
        for headers in (
            {"authorization": READ},
            {"authorization": f"Basic {READ}"},
            {"authorization": f"Bearer {READ}, {READ}"},
            {"cookie": f"token={READ}"},
            {"x-api-key": READ},
        ):
            assert service.get("/v1/me", headers=headers).status_code == 401
        assert service.get(f"/v1/me?token={READ}&access_token={READ}").status_code == 401
        found = service.get("/v1/me", headers={"authorization": f"bearer {READ}"})
        assert found.json()["roles"] == ["read"]

    @pytest.mark.parametrize("role", ROLES)
    def test_are_told(self, service: Service, role: str) -> None:
        """A page can ask what its token is good for."""
        found = ask(service, "GET /v1/me", ROLES[role]).json()["roles"]
        assert found == ORDER[: ORDER.index(role) + 1]

    def test_the_page_takes_none(self, service: Service) -> None:
        """The page itself, which asks for the token, is shown to everybody."""
        answer = service.get("/")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/html")


class TestTokenFile:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            (b"", "no token"),
            (b"# none\n\n", "no token"),
            (b"SECRETSECRETSECRET", "line 1: the line begins with no role"),
            (b"read\n", "line 1: the line is not a role and one token"),
            (b"read SECRETSECRETSECRET SECRET", "line 1: the line is not a role and one token"),
            (b"# a\nadmin SECRETSECRETSECRET", "line 2: the line begins with no role"),
            (b"read SECRETSECRETSEC", "line 1: the token is shorter than 16 characters"),
            (b"read SECRETSECRETSECRET\xff", "byte 24 is not UTF-8"),
        ],
    )
    def test_errors_show_no_token(self, run: Run, tmp_path: Path, text: bytes, says: str) -> None:
        """The service does not start with a file that it cannot read all of."""
        path = tmp_path / "tokens"
        path.write_bytes(text)
        done = run("serve", "--token-file", str(path))
        assert done.status == 1
        assert says in done.err
        assert "SECRET" not in done.err + done.out

    def test_that_is_missing(self, run: Run) -> None:
        """A file that is not there is said to be that."""
        done = run("serve", "--token-file", "none")
        assert (done.status, "P801" in done.err) == (1, True)

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", "127.0.0.2"])
    def test_is_needed_for_others(self, run: Run, tmp_path: Path, host: str) -> None:
        """An address that others may reach is not served without tokens."""
        done = run("serve", "--host", host)
        assert done.status == 2
        assert "--token-file" in done.err
        with pytest.raises(PromptError, match="P810"):
            create_app(ServiceSettings((tmp_path,), host=host))

    def test_keeps_no_token(self, tmp_path: Path) -> None:
        """What is kept of tokens does not hold them."""
        access = read_access(token_file(tmp_path))
        assert not any(token in repr(vars(access)) for token in ROLES.values())
        assert [access.role_of(token).name for token in ROLES.values()] == [  # type: ignore[union-attr]
            *("READ", "RENDER", "WRITE")
        ]


class TestHosts:
    @pytest.mark.parametrize(
        ("host", "status"),
        [
            *((host, 200) for host in ("127.0.0.1", "localhost:80", "LocalHost", "[::1]:8321")),
            *(
                (host, 403)
                for host in ("evil.example", "evil.example:8321", "127.0.0.1.evil.example")
            ),
            *(
                (host, 403)
                for host in ("localhost.evil.example", "", "[evil]:80", "evil@localhost")
            ),
        ],
    )
    def test_of_strangers(self, service: Service, host: str, status: int) -> None:
        """A name that is not this machine's own may be a page's that had it changed."""
        head = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        assert service.raw(head.encode()).split(b" ", 2)[1] == str(status).encode()

    def test_without_one(self, service: Service) -> None:
        """A request for no host is for none of ours."""
        answer = service.raw(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert answer.split(b" ", 2)[1] == b"403"

    @pytest.mark.parametrize("operation", [each for each in NEEDS if each[:3] != "GET"])
    def test_of_other_pages(self, service: Service, operation: str) -> None:
        """A page of another origin changes nothing, whatever it sends as its origin."""
        host = f"127.0.0.1:{service.port}"
        for origin in (
            *("null", "http://evil.example", "http://[", "http://", "x", "http://127.0.0.1"),
            *(f"http://{host}.evil.example", f"http://evil.example/{host}", f"http://{host}@evil"),
            *(f"http://localhost:{service.port}", f"http://{host}, http://evil.example"),
        ):
            answer = ask(service, operation, WRITE, origin=origin)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "P852"), origin
        assert ask(service, operation, WRITE, origin=f"http://{host}").status_code != 403


class TestHeaders:
    @pytest.mark.parametrize(
        ("request_line", "headers", "status"),
        [
            ("GET /", {}, 200),
            ("GET /healthz", {"origin": "http://evil.example"}, 200),
            ("GET /openapi.json", {}, 200),
            ("GET /v1/agents", {}, 401),
            ("GET /v1/agents", {"authorization": f"Bearer {WRITE}"}, 200),
            ("GET /metrics", {"authorization": f"Bearer {WRITE}"}, 200),
            ("GET /nothing", {}, 404),
            ("PATCH /v1/agents", {}, 405),
            ("OPTIONS /v1/render", {"access-control-request-method": "POST"}, 405),
            ("POST /v1/render", {"authorization": f"Bearer {WRITE}"}, 415),
            ("POST /v1/render", {"host": "evil.example"}, 403),
            ("POST /v1/render", {"origin": "http://evil.example"}, 403),
            ("POST /v1/render", {"content-length": "99999999"}, 413),
            ("HEAD /v1/agents", {}, 405),
        ],
    )
    def test_of_every_answer(
        self, service: Service, request_line: str, headers: dict[str, str], status: int
    ) -> None:
        """Each answer keeps browsers from doing more with it than the page needs."""
        method, path = request_line.split(" ")
        own = {"host": "localhost", "connection": "close", **headers}
        lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in own.items()), "", ""]
        head = service.raw("\r\n".join(lines).encode()).partition(b"\r\n\r\n")[0].decode()
        first, *rest = head.split("\r\n")
        found = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in rest}
        assert first.split(" ")[1] == str(status)
        assert {name: found.get(name) for name in HEADERS} == HEADERS
        assert not [name for name in found if name.startswith("access-control-")]
        assert not {"server", "x-powered-by", "set-cookie"} & found.keys()

"""What is asked directly and what goes through the framework is answered alike."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .service_process import READ, RENDER, TOKENS, Service, running

AGENT = "---\nname: reviewer\n---\n{{ directive }}"
PLAIN, WITH_CHARSET = "application/json", "application/json; charset=utf-8"
RENDER_AGENT = "/v1/agents/reviewer/render"
REQUESTS = {
    "a prompt": (RENDER, RENDER_AGENT, b'{"slots": {"directive": "x"}}'),
    "a slot that is not read": (RENDER, RENDER_AGENT, b'{"slots": {"other": "x"}}'),
    "an unknown key": (RENDER, RENDER_AGENT, b'{"slot": {}}'),
    "a value of another type": (RENDER, RENDER_AGENT, b'{"include": ["everything"]}'),
    "a list": (RENDER, RENDER_AGENT, b"[]"),
    "no JSON": (RENDER, RENDER_AGENT, b"{"),
    "no number": (RENDER, RENDER_AGENT, b'{"slots": {"directive": NaN}}'),
    "nothing": (RENDER, RENDER_AGENT, b""),
    "an unknown agent": (RENDER, "/v1/agents/nobody/render", b"{}"),
    "a name that is escaped": (RENDER, "/v1/agents/r%65viewer/render", b"{}"),
    "an unknown path": (RENDER, "/v1/agents/reviewer/renders", b"{}"),
    "another role": (READ, RENDER_AGENT, b"{}"),
    "an unknown token": ("x" * 20, RENDER_AGENT, b"{}"),
    "no token": (None, RENDER_AGENT, b"{}"),
    "no token, and no JSON": (None, RENDER_AGENT, b"{"),
    "a template": (RENDER, "/v1/render", b'{"template": "{{ a }}", "context": {"a": 1}}'),
    "a template that fails": (RENDER, "/v1/render", b'{"template": "{{ a }}"}'),
    "a template that is missing": (RENDER, "/v1/render", b"{}"),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with one agent and tokens."""
    folder: Path = tmp_path_factory.mktemp("service")
    (folder / "agents").mkdir()
    (folder / "agents" / "reviewer.md").write_text(AGENT, "utf-8")
    (folder / "tokens").write_text(TOKENS, "utf-8")
    with running(folder / "agents", options=("--token-file", str(folder / "tokens"))) as started:
        yield started


@pytest.mark.parametrize("what", REQUESTS)
def test_both_ways_answer_alike(what: str, service: Service) -> None:
    """A header that only the framework understands changes neither status, headers nor body."""
    token, path, body = REQUESTS[what]
    given = {} if token is None else {"Authorization": f"Bearer {token}"}
    direct, framed = (
        service.http.post(path, content=body, headers={**given, "Content-Type": kind})
        for kind in (PLAIN, WITH_CHARSET)
    )
    assert direct.status_code == framed.status_code
    assert direct.json() == framed.json()
    assert sorted(direct.headers.items()) == sorted(framed.headers.items())

"""The service's routes, asked from outside: `cases/server.jsonl`, and what changes meanwhile."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from .case_files import Case, parameters
from .service_files import FILES, write_files
from .service_process import Service, running, until

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Service]]:
    """Services over files of their own, by the store that they have."""
    folder = tmp_path_factory.mktemp("routes")
    addresses = {"none": None, "file": f"file:{folder}/store", "sqlite": f"sqlite:{folder}/s.db"}
    found = {}
    with running_all(folder, addresses) as services:
        found.update(services)
        yield found
        for service in services.values():
            assert "Traceback" not in service.log()


def running_all(folder: Path, addresses: dict[str, str | None]) -> Any:
    """A service for each address of a store."""
    from contextlib import ExitStack, contextmanager

    @contextmanager
    def all_of_them() -> Iterator[dict[str, Service]]:
        with ExitStack() as stack:
            yield {
                name: stack.enter_context(
                    running(
                        write_files(folder / name),
                        options=() if address is None else ("--store", address),
                    )
                )
                for name, address in addresses.items()
            }

    return all_of_them()


def holds(part: Any, whole: Any) -> bool:
    """Whether data has the keys and items of a part of it."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and holds(value, whole[key]) for key, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(holds, part, whole))
    return bool(part == whole)


@pytest.mark.parametrize("case", parameters("server.jsonl"))
def test_request(stores: dict[str, Service], case: Case) -> None:
    """Status, code and body of an answer; `has` is a part of it, `lacks` are keys it has not."""
    service = stores[case.get("store", "none")]
    method, path = case["request"].split(" ", 1)
    more = {"content": case["raw"].encode(), "headers": JSON} if "raw" in case else {}
    answer = service.request(method, path, case.get("body"), **more)
    found = answer.json()
    assert answer.status_code == case["status"], found
    if "code" in case:
        assert found["error"]["code"] == case["code"], found
        assert set(found["error"]) >= {"code", "message", "hint", "template", "span"}
    assert holds(case.get("has", {}), found), found
    for words in case.get("says", ()):
        assert words in found["error"]["message"]
    assert not any(key in found for key in case.get("lacks", ())), found


class TestAgents:
    def test_are_listed_under_ids_of_their_own(self, stores: dict[str, Service]) -> None:
        """Every id leads to its agent; a link out of the folder is none, and said to be that."""
        service = stores["none"]
        listed = service.get("/v1/agents").json()
        ids = [agent["id"] for agent in listed["agents"]]
        assert ids == [
            *("greeter", "noter", "reviewer", "says", "sums", "team.lead"),
            *("reviewer@worn.reviewer", "wrong"),
        ]
        for agent in listed["agents"]:
            shown = service.get(f"/v1/agents/{quote(agent['id'], safe='')}").json()
            assert {key: shown[key] for key in ("id", "name", "path", "profile")} == {
                key: agent[key] for key in ("id", "name", "path", "profile")
            }
            assert shown["plan"] is not None
        codes = {d["code"] for d in listed["diagnostics"] if d["severity"] != "info"}
        assert codes == {"P101", "P415", "P416"}

    def test_text_is_all_of_a_file(self, stores: dict[str, Service]) -> None:
        """The text of a file is what is on the disk."""
        shown = stores["none"].get("/v1/agents/reviewer/file").json()
        assert shown["text"] == FILES["reviewer.md"]


class TestExplain:
    def test_names_the_providers_of_segments(self, stores: dict[str, Service]) -> None:
        """Segments tile the text, and know which provider their values are from."""
        found = (
            stores["sqlite"]
            .post(
                "/v1/agents/reviewer/explain",
                {"slots": {"workspace": "/a"}, "session": "s", "auth": "ann", "tokens": "estimate"},
            )
            .json()
        )
        assert found["text"] == "You review /a.\nUser ann in session s.\n"
        parts = [found["text"][s["start"] : s["end"]] for s in found["segments"]]
        assert "".join(parts) == found["text"]
        named = {v: s["providers"] for s in found["segments"] for v in s["variables"]}
        assert named["user_id"] == named["session_id"] == ["agent_metadata"]
        assert named["workspace"] == []
        assert FILES["reviewer.md"][found["body_start"] :].startswith("You review")
        assert found["counter"] == {"name": "estimate", "exact": False}
        assert "agent_metadata" in [run["provider"] for run in found["timings"]["providers"]]

    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_an_edited_text(self, stores: dict[str, Service], mark: str, end: str) -> None:
        """An edited text is rendered with what the agent's providers give, places included."""
        text = mark + "---\nname: reviewer\n---\nFor {{ user_id }}: {{ user_notes }}".replace(
            "\n", end
        )
        found = (
            stores["sqlite"]
            .post("/v1/agents/reviewer/explain", {"text": text, "auth": "ann"})
            .json()
        )
        assert found["text"] == "For ann: "
        assert text[found["body_start"] :] == "For {{ user_id }}: {{ user_notes }}"
        spans = [s["span"] for s in found["segments"] if s["variables"] == ["user_id"]]
        assert [(s["start"], s["line"], s["column"]) for s in spans] == [(4, 4, 5)]


class TestCheck:
    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_places_are_those_of_the_text(
        self, stores: dict[str, Service], mark: str, end: str
    ) -> None:
        """Offsets are of the text that was sent, whatever its line ends and its mark."""
        text = mark + f"---{end}name: a{end}---{end}x{end}é𝄞 {{{{ a | nofilter }}}}{end}"
        found = stores["none"].post("/v1/check", {"text": text, "name": "a.md"}).json()
        (finding,) = [f for f in found["diagnostics"] if f["code"] == "P103"]
        assert text[finding["start"] : finding["end"]] == "nofilter"
        assert (finding["line"], finding["column"], finding["end_line"]) == (5, 11, 5)

    def test_a_mark_before_a_mistake_on_the_first_line(self, stores: dict[str, Service]) -> None:
        """On the first line a byte order mark is no column, but a character of the text."""
        text = "\ufeff{{ a | nofilter }}"
        found = stores["none"].post("/v1/check", {"text": text, "name": "a.j2"}).json()
        (finding,) = [f for f in found["diagnostics"] if f["code"] == "P103"]
        assert text[finding["start"] : finding["end"]] == "nofilter"


class TestFiles:
    @pytest.mark.parametrize(
        "data",
        [
            b"---\nname: kept\n---\nplain\n",
            b"---\r\nname: kept\r\n---\r\none\r\ntwo\rthree\n\n",
            b"\xef\xbb\xbf---\nname: kept\n---\nwith a mark",
            b"\xef\xbb\xbf---\r\nname: kept\r\n---\r\n\xef\xbb\xbfmarks\r\n",
            "---\nname: kept\n---\né 𝄞 e\u0301 \u2028 \u200b \t".encode(),
            b"---\nname: kept\n---\nnul \x00 and \x1b escapes\x7f",
        ],
        ids=["plain", "crlf", "mark", "marks", "unicode", "control"],
    )
    def test_bytes_are_kept(self, tmp_path: Path, stores: dict[str, Service], data: bytes) -> None:
        """What is read and written back is the same to the byte, and one change one change."""
        service = stores["file"]
        folder = Path(service.get("/v1/agents/reviewer").json()["path"]).parent
        path = folder / "kept.md"
        path.write_bytes(data)
        until(lambda: service.get("/v1/agents/kept/file").status_code == 200)
        try:
            shown = service.get("/v1/agents/kept/file").json()
            assert shown["text"].encode() == data
            assert service.get("/v1/agents/kept").json()["revision"] == shown["revision"]
            saved = service.put("/v1/agents/kept/file", {k: shown[k] for k in ("text", "revision")})
            assert saved.status_code == 200
            assert path.read_bytes() == data
            assert saved.json()["revision"] == shown["revision"]
            changed = {"text": shown["text"] + "more", "revision": shown["revision"]}
            assert service.put("/v1/agents/kept/file", changed).status_code == 200
            assert path.read_bytes() == data + b"more"
        finally:
            path.unlink()
            until(lambda: service.get("/v1/agents/kept").status_code == 404)

    def test_nothing_is_lost_when_two_change_it(self, stores: dict[str, Service]) -> None:
        """Who changes an older text is refused, and what is there stays."""
        service = stores["file"]
        path = Path(service.get("/v1/agents/says").json()["path"])
        before = service.get("/v1/agents/says/file").json()
        mine, theirs = before["text"] + "mine", before["text"] + "theirs"
        path.write_text(theirs)
        refused = service.put(
            "/v1/agents/says/file", {"text": mine, "revision": before["revision"]}
        )
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "P854")
        assert path.read_text() == theirs
        now = service.get("/v1/agents/says/file").json()
        assert now["text"] == theirs
        saved = service.put("/v1/agents/says/file", {"text": mine, "revision": now["revision"]})
        assert saved.json() == {
            "revision": service.get("/v1/agents/says").json()["revision"],
            "problems": [],
        }
        assert path.read_text() == mine
        assert not list(path.parent.glob(".cuecard-*"))

    def test_says_what_is_wrong_with_what_was_saved(self, stores: dict[str, Service]) -> None:
        """Problems are those of the file, also when its agent has another name by then."""
        service = stores["sqlite"]
        path = Path(service.get("/v1/agents/sums").json()["path"])
        before = path.read_text()
        texts = ["---\nname: sums\n---\n{% if", "no header", "---\nname: other\n---\n{% for"]
        codes, revision = [], service.get("/v1/agents/sums/file").json()["revision"]
        for text in [*texts, before]:
            saved = service.put("/v1/agents/sums/file", {"text": text, "revision": revision}).json()
            codes.append([problem["code"] for problem in saved["problems"]])
            revision = saved["revision"]
        assert codes == [["P101"], ["P404"], ["P101"], []]
        assert path.read_text() == before

    def test_read_only(self, tmp_path: Path) -> None:
        """A service that is read-only changes neither files nor its store."""
        agents = write_files(tmp_path)
        options = ("--read-only", "--store", f"file:{tmp_path}/store", "--quiet")
        with running(agents, options=options) as service:
            shown = service.get("/v1/agents/says/file").json()
            bodies: dict[str, Any] = {
                "/v1/agents/says/file": {"text": "x", "revision": shown["revision"]},
                "/v1/notes/a/u": {"text": "x"},
                "/v1/profiles/u": {"text": "x"},
                "/v1/todos/s": {"todos": []},
            }
            for path, body in bodies.items():
                answer = service.put(path, body)
                assert (answer.status_code, answer.json()["error"]["code"]) == (403, "P852")
            assert service.get("/v1/notes/a/u").json() == {"text": None}
            assert service.get("/v1/agents/says").json()["writable"] is False
            assert service.get("/v1/me").json()["read_only"] is True
            assert "GET" not in service.log()
        assert (agents / "says.md").read_text() == FILES["says.md"]
        assert not (tmp_path / "store").exists()


class TestChanges:
    def test_of_files(self, tmp_path: Path) -> None:
        """New files, broken ones, mended ones and deleted ones, in one life of a service."""
        agents = write_files(tmp_path)
        with running(agents) as service:

            def render(name: str) -> dict[str, Any]:
                found: dict[str, Any] = service.post(f"/v1/agents/{name}/render", {}).json()
                return found

            good = "---\nname: fresh\n---\n{% if true %}first{% endif %}"
            path = agents / "fresh.md"
            path.write_text(good)
            until(lambda: render("fresh").get("text") == "first")
            # Broken in its template, in its header, without a header, empty, and no text.
            broken = [good[:-5], good[:9], "no header", "", "---\nname: fresh\n---\n\udcff"]
            for text in broken:
                path.write_bytes(text.encode(errors="surrogateescape"))
                until(lambda: render("fresh").get("stale"))
                assert render("fresh") == {"text": "first", "fallback": False, "stale": True}
                assert service.get("/v1/agents/fresh").json()["stale"] is True
                assert service.get("/v1/agents/fresh").json()["problems"]
                path.write_text(good.replace("first", "second"))
                until(lambda: render("fresh") == {"text": "second", "fallback": False})
                path.write_text(good)
                until(lambda: render("fresh") == {"text": "first", "fallback": False})
            path.unlink()
            until(lambda: render("fresh").get("error", {}).get("code") == "P853")
            # While a file is broken, no other agent answers under its id.
            (agents / "reviewer.md").write_text("---\nname: reviewer\n---\n{% if")
            until(lambda: render("reviewer").get("stale"))
            assert render("reviewer")["text"].startswith("You review")
            assert render("reviewer@worn.reviewer")["text"] == "The old one."
            assert "Traceback" not in service.log()

    def test_to_a_link_out_of_the_folder(self, tmp_path: Path) -> None:
        """A file that becomes a link to another place is neither read nor written."""
        agents, secret = write_files(tmp_path), tmp_path / "secret.md"
        before = secret.read_text()
        with running(agents) as service:
            revision = service.get("/v1/agents/says/file").json()["revision"]
            (agents / "says.md").unlink()
            (agents / "says.md").symlink_to(secret)
            for _ in range(20):
                assert service.get("/v1/agents/says/file").status_code == 404
                body = {"text": "x", "revision": revision}
                assert service.put("/v1/agents/says/file", body).status_code == 404
            until(lambda: service.get("/v1/agents/says").status_code == 404)
        assert secret.read_text() == before


class TestHealth:
    def test_metrics_count_by_route(self, stores: dict[str, Service]) -> None:
        """Requests are counted under the pattern of their route."""
        service = stores["none"]
        path = "/v1/agents/greeter/render"
        counted = 'route="/v1/agents/{name}/render",status="422"} '

        def count() -> float:
            lines = service.get("/metrics").text.split("\n")
            return sum(float(line.rpartition(" ")[2]) for line in lines if counted in line)

        before = count()
        assert service.post(path, {}).status_code == 422
        assert count() == before + 1
        kind = service.get("/metrics").headers["content-type"]
        assert kind.startswith("text/plain; version=0.0.4")

    def test_is_not_ready_without_its_store(self, tmp_path: Path) -> None:
        """A store that cannot be read makes it unready, and it lives on."""
        agents = write_files(tmp_path)
        with running(agents, options=("--store", f"sqlite:{tmp_path}/no/folder.db")) as service:
            answer = service.get("/readyz")
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "P601")
            assert answer.headers["retry-after"] == "1"
            assert str(tmp_path) not in answer.text
            assert service.get("/healthz").json() == {"status": "ok"}
            assert service.get("/v1/notes/a/u").status_code == 503
            assert service.post("/v1/agents/says/render", {"slots": "x"}).json()["text"] == "x"

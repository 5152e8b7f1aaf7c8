"""The language server, over its real protocol: `python -m cuecard lsp` and messages.

A case of `cases/lsp.jsonl` is a file (`file`, by default `a.md`; more of them in `files`), its
`text` with the cursor at `‸`, and what is asked: `ask`. What is expected depends on that:

completion   `labels` are all choices, `has` and `lacks` some; `details` by label; `replaces`
             is the text that a choice replaces
hover        `on` is the word, null for nothing; `says` and `lacks` are parts of the text
definition   `at` is file, line and word, null for nothing
references   `places` are lines and columns, from 0
rename       `name` is the new name; `renamed` the text then, or `refused` a part of the reason
actions      `title` of one of them, and what the text `becomes`
"""

import contextlib
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cuecard
from cuecard.errors import PromptError
from cuecard.language import parse
from cuecard.language.expressions import UnreadableError
from cuecard.language.vocabulary import FILTERS, FUNCTIONS, TAGS, TESTS
from cuecard.lint import Checker, Settings, Target
from cuecard.lint.collecting import kind_of
from cuecard.lint.known import BUILT_IN, OPERATOR_SLOTS, SECTIONS
from cuecard.lsp import words
from cuecard.lsp.analysis import Analysis
from cuecard.lsp.completing import choices_at
from cuecard.lsp.defining import origin_at
from cuecard.lsp.hovering import hover_at
from cuecard.lsp.laying_out import laid_out
from cuecard.lsp.mending import mendings_of
from cuecard.lsp.positions import Place, Positions
from cuecard.lsp.renaming import RefusedError, places_at, rename
from cuecard.lsp.tags import read_tags
from cuecard.profile import Limits
from cuecard.scanner import scan
from cuecard.source import Source

from .case_files import Case, parameters
from .generated_templates import templates
from .lsp_client import Client, RequestError, applied, offset, place

MARK = "‸"
MARKDOWN = {"textDocument": {"hover": {"contentFormat": ["markdown"]}}}
AGENT = "---\nname: a\ndescription: An agent.\ninputs:\n  tone: string\n---\n"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(tmp_path_factory.mktemp("editor"), MARKDOWN) as running:
        yield running


@pytest.fixture(scope="module")
def eager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An editor that can do whatever it may, and counts in UTF-8."""
    asks = {
        "general": {"positionEncodings": ["utf-8", "utf-16"]},
        "textDocument": {
            "codeAction": {"resolveSupport": {"properties": ["edit"]}},
            "diagnostic": {},
        },
        "workspace": {
            "diagnostics": {"refreshSupport": True},
            "didChangeWatchedFiles": {"dynamicRegistration": True},
        },
    }
    with Client(tmp_path_factory.mktemp("eager"), asks) as running:
        yield running


@pytest.fixture
def asked(client: Client, tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    """A case's file, opened: the case, its URI, its text and the cursor's place."""
    case: Case = request.param
    for name, text in case.get("files", {}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    text = case["text"].replace(MARK, "")
    uri = client.open(tmp_path / case.get("file", "a.md"), text)
    yield case, uri, text, place(text, case["text"].index(MARK))
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def cases(ask: str) -> pytest.MarkDecorator:
    chosen = parameters("lsp.jsonl", lambda case: case["ask"] == ask)
    return pytest.mark.parametrize("asked", chosen, indirect=True)


def within(text: str, where: Any) -> str:
    """The text in a range."""
    return text[offset(text, where["start"]) : offset(text, where["end"])]


@cases("completion")
def test_completion(client: Client, asked: Any) -> None:
    """What can be written at the cursor is offered, and nothing else."""
    case, uri, text, where = asked
    items = client.at("completion", uri, where)["items"]
    labels = [item["label"] for item in items]
    assert len(set(labels)) == len(labels)
    if "labels" in case:
        assert sorted(labels) == sorted(case["labels"])
    assert set(case.get("has", ())) <= set(labels)
    assert not set(case.get("lacks", ())) & set(labels)
    details = {item["label"]: item.get("detail") for item in items}
    assert case.get("details", {}).items() <= details.items()
    replaced = {within(text, item["textEdit"]["range"]) for item in items}
    assert replaced <= {case.get("replaces", "")}


@cases("hover")
def test_hover(client: Client, asked: Any) -> None:
    """The word under the cursor is explained."""
    case, uri, text, where = asked
    found = client.at("hover", uri, where)
    if case["on"] is None:
        assert found is None
        return
    assert within(text, found["range"]) == case["on"]
    for part in case["says"]:
        assert part in found["contents"]["value"]
    for part in case.get("lacks", ()):
        assert part not in found["contents"]["value"]


@cases("definition")
def test_definition(client: Client, tmp_path: Path, asked: Any) -> None:
    """The place that a word comes from is found."""
    case, uri, text, where = asked
    found = client.at("definition", uri, where)
    if case["at"] is None:
        assert found is None
        return
    name, line, word = case["at"]
    assert found["uri"] == (tmp_path / name).as_uri()
    assert found["range"]["start"]["line"] == line
    if word is not None:
        assert within(text, found["range"]) == word


@cases("references")
def test_references(client: Client, asked: Any) -> None:
    """Every use of a variable is found, and its declaration when that is asked for."""
    case, uri, _, where = asked
    found = client.at("references", uri, where, context={"includeDeclaration": True})
    starts = [each["range"]["start"] for each in found]
    assert [[each["line"], each["character"]] for each in starts] == case["places"]
    bare = client.at("references", uri, where, context={"includeDeclaration": False})
    assert len(bare) == max(0, len(found) - 1)


@cases("rename")
def test_rename(client: Client, asked: Any) -> None:
    """A variable gets another name everywhere, or the reason is told why not."""
    case, uri, text, where = asked
    if "refused" in case:
        with pytest.raises(RequestError) as refusal:
            client.at("rename", uri, where, newName=case["name"])
        assert case["refused"] in str(refusal.value)
        assert refusal.value.code == -32803
        return
    prepared = client.at("prepareRename", uri, where)
    assert within(text, prepared["range"]) == prepared["placeholder"]
    edit = client.at("rename", uri, where, newName=case["name"])
    assert applied(text, edit["changes"][uri]) == case["renamed"]


def actions(client: Client, uri: str, where: tuple[int, int], **context: Any) -> Any:
    position = {"line": where[0], "character": where[1]}
    return client.request(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": uri},
            "range": {"start": position, "end": position},
            "context": {"diagnostics": [], **context},
        },
    )


@cases("actions")
def test_actions(client: Client, asked: Any) -> None:
    """A change that is offered gives the text that it promises, and does away with its finding."""
    case, uri, text, where = asked
    offered = {each["title"]: each for each in actions(client, uri, where)}
    chosen = offered[case["title"]]
    changed = applied(text, chosen["edit"]["changes"][uri])
    assert changed == case["becomes"]
    (mended,) = chosen["diagnostics"]
    client.change(uri, 2, {"text": changed})
    left = client.until(uri, 2)
    assert (mended["code"], mended["message"]) not in [(e["code"], e["message"]) for e in left]


def test_a_comment_changes_no_prompt(client: Client, tmp_path: Path) -> None:
    """A comment that switches a finding off leaves what is rendered, wherever the line ends."""
    ends = [
        "{{ a }} ",
        "x",
        "{% if true %}",
        "{% if true -%} ",
        "{% if true +%}",
        "{{ a -}} ",
        "é ",
    ]
    for number, line_end in enumerate(ends):
        close = "{% endif %}" if "if true" in line_end else ""
        text = f"{{{{ toone }}}} {line_end}\n  end {close}\n"
        body = AGENT.replace("---\nname", "---\nprofile: strict\nname") + text
        uri = client.open(tmp_path / f"{number}.md", body)
        (ignoring,) = [
            each
            for each in actions(client, uri, (7, 4))
            if each["title"] == "Ignore P201 on this line"
        ]
        changed = applied(body, ignoring["edit"]["changes"][uri]).partition("---\n{")[2]
        values = {"toone": "T", "a": "A"}
        assert cuecard.render("{" + changed, values) == cuecard.render(text, values)


def test_fix_all(client: Client, eager: Client, tmp_path: Path) -> None:
    """All that is safe to fix is mended in one edit, made when it is chosen if the editor can."""
    text = "\ufeff{{ tone | upper | safe }}\n{{ toone | safe }} 😀\n"
    for running in (client, eager):
        uri = running.open(tmp_path / "fix.j2", text)
        (chosen,) = actions(running, uri, (0, 0), only=["source.fixAll"])
        assert chosen["kind"] == "source.fixAll.cuecard"
        assert ("edit" in chosen) == (running is client)
        edit = running.request("codeAction/resolve", chosen)["edit"]["changes"][uri]
        encoding = running.answer["capabilities"]["positionEncoding"]
        assert applied(text, edit, encoding) == text.replace(" | safe", "")


def test_formatting(client: Client, tmp_path: Path) -> None:
    """A file is formatted as `cuecard fmt` does it; one that does not parse is left alone."""
    text = AGENT + "😀 {{tone|upper}}\r\n{%if tone%}x{%endif%}\r\n"
    uri = client.open(tmp_path / "a.md", text)
    options = {"options": {"tabSize": 2, "insertSpaces": True}}
    edits = client.at("formatting", uri, (0, 0), **options)
    expected = AGENT + "😀 {{ tone | upper }}\r\n{% if tone %}x{% endif %}\r\n"
    assert applied(text, edits) == expected
    client.change(uri, 2, {"text": text + "{%if"})
    assert client.at("formatting", uri, (0, 0), **options) == []


# diagnostics -------------------------------------------------------------------------------------


def test_diagnostics_as_one_types(client: Client, tmp_path: Path) -> None:
    """What is wrong is told at every change, at its place in UTF-16, and gone when it is mended."""
    text = AGENT + "😀 {{ tone }} 😀 {{ toone }}\r\n"
    uri = client.open(tmp_path / "agent.md", text)
    (found,) = client.until(uri, 1)
    assert (found["code"], found["severity"], found["source"]) == ("P201", 1, "cuecard")
    assert within(text, found["range"]) == "toone"
    assert found["range"]["start"] == {"line": 6, "character": 20}
    assert "Did you mean `tone`?" in found["message"]
    start, end = {"line": 6, "character": 21}, {"line": 6, "character": 22}
    client.change(uri, 2, {"range": {"start": start, "end": end}, "text": ""})
    assert client.until(uri, 2) == []
    behind = {"line": 9, "character": 9}
    client.change(
        uri,
        3,
        {"range": {"start": {"line": 6, "character": 0}, "end": start}, "text": "{{ "},
        {"range": {"start": {"line": 7, "character": 0}, "end": behind}, "text": "{% if"},
    )
    assert [each["code"] for each in client.until(uri, 3)] == ["P101"]


def test_faded_findings(client: Client, tmp_path: Path) -> None:
    """What could be left out is tagged, so that an editor shows it faded."""
    uri = client.open(tmp_path / "agent.md", AGENT + "No variable is read here, {{ 1 }}.\n")
    found = {each["code"]: each for each in client.until(uri, 1)}
    assert found["P211"]["tags"] == [1]


def test_files_that_are_no_prompts(client: Client, tmp_path: Path) -> None:
    """A file that a check of its folder would pass over has no diagnostics."""
    (tmp_path / "cuecard.toml").write_text('exclude = ["old"]\n')
    (tmp_path / "old").mkdir()
    for name in ("README.md", "notes.md", "old/a.j2"):
        uri = client.open(tmp_path / name, "{{ }} {% if %}")
        assert client.until(uri, 1) == [], name
    uri = client.open(tmp_path / "a.j2", "{{ }} {% if %}")
    assert client.until(uri, 1) != []


def test_diagnostics_that_are_asked_for(eager: Client, tmp_path: Path) -> None:
    """An editor that asks for diagnostics gets them as an answer, and nothing is pushed."""
    assert eager.answer["capabilities"]["diagnosticProvider"]["identifier"] == "cuecard"
    uri = eager.open(tmp_path / "a.md", AGENT + "{{ tone }}{{ toone }}")
    report = eager.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert report["kind"] == "full"
    assert [each["code"] for each in report["items"]] == ["P201"]
    eager.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    eager.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert eager.asked[-1]["method"] == "workspace/diagnostic/refresh"
    eager.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    with pytest.raises(RequestError, match="not open"):
        eager.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert eager.pushed == {}


def test_settings_are_read_again(client: Client, tmp_path: Path) -> None:
    """A change of the settings counts from the next look, and faulty ones are told of."""
    file = tmp_path / "cuecard.toml"
    uri = client.open(tmp_path / "a.j2", "{{ plan }}")
    assert client.until(uri, 1) == []
    file.write_text("only-declared = true\n")
    saved = {"textDocument": {"uri": uri}}
    client.notify("textDocument/didSave", saved)
    assert [each["code"] for each in client.until(uri, 1)] == ["P201"]
    file.write_text("only-declared = 3\n")
    client.notify("textDocument/didSave", saved)
    (fault,) = client.until(file.as_uri())
    assert fault["code"] == "P810"
    assert [each["code"] for each in client.until(uri, 1)] == ["P201"], "the last good ones hold"
    file.write_text('only-declared = true\n[variables]\nplan = "day"\n')
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 2}]})
    assert client.until(file.as_uri()) == []
    assert client.until(uri, 1) == []


def test_watching(eager: Client) -> None:
    """An editor that can watch files is asked to watch settings and prompts."""
    eager.at("hover", eager.open(eager.folder / "a.j2", "x"), (0, 0))
    registrations = eager.asked[0]["params"]["registrations"]
    assert {"globPattern": "**/cuecard.toml"} in registrations[0]["registerOptions"]["watchers"]


# text and positions ------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_encodings(client: Client, eager: Client, tmp_path: Path, encoding: str) -> None:
    """Positions count what was agreed on, and edits arrive where they are meant."""
    running = eager if encoding == "utf-8" else client
    assert running.answer["capabilities"]["positionEncoding"] == encoding
    text = "é😀\u2028x {{ cúrrent }} 😀 {{ cúrrent }}\r\nfoo\x0c😀 {{ cúrrent }}"
    uri = running.open(tmp_path / "a.j2", text)
    where = place(text, text.index("cúrrent"), encoding)
    edit = running.at("rename", uri, where, newName="naïve")
    assert applied(text, edit["changes"][uri], encoding) == text.replace("cúrrent", "naïve")
    start, end = (place(text, at, encoding) for at in (text.rindex("😀"), len(text)))
    positions = [{"line": line, "character": column} for line, column in (start, end)]
    change = {"start": positions[0], "end": positions[1]}
    running.change(uri, 2, {"range": change, "text": "{{ last }} {{ last }}"})
    text = text[: text.rindex("😀")] + "{{ last }} {{ last }}"
    where = place(text, len(text) - 5, encoding)
    found = running.at("references", uri, where, context={"includeDeclaration": False})
    starts = [offset(text, each["range"]["start"], encoding) for each in found]
    assert starts == [text.index("last"), text.rindex("last")]


@given(st.text(st.sampled_from("a é😀\n\r\u2028\x0c"), max_size=30), st.sampled_from([8, 16, 32]))
@example("a\r\n😀b\rc", 16)
def test_positions_and_offsets(text: str, size: int) -> None:
    """Every offset comes back from its place, but for one within a line break."""
    positions = Positions(text, f"utf-{size}")
    for at in range(len(text) + 1):
        where = positions.place(at)
        inside = text[at - 1 : at + 1] == "\r\n"
        assert positions.offset(where) == (at - 1 if inside else at)
        assert tuple(where) == place(text, at - 1 if inside else at, f"utf-{size}")


@given(st.text(max_size=20), st.integers(0, 9), st.integers(0, 99))
def test_places_that_are_not_there(text: str, line: int, column: int) -> None:
    """A place behind a line's end or the text's is brought back into it."""
    assert 0 <= Positions(text).offset(Place(line, column)) <= len(text)


@settings(max_examples=60)
@given(templates())
def test_tags_are_those_of_the_scanner(text: str) -> None:
    """What parses is read as the scanner reads it."""
    try:
        parts = scan(Source(text), Limits())
        parse(parts)
    except (PromptError, UnreadableError):
        return
    expected = [(p.kind, p.start, p.end) for p in parts if p.kind != "text"]
    tags = read_tags(text)
    assert [(tag.kind, tag.start, tag.end) for tag in tags] == expected
    tokens = [p.tokens for p in parts if p.kind in ("output", "block")]
    assert [tag.tokens for tag in tags if tag.kind in ("output", "block")] == tokens


@settings(max_examples=40)
@given(templates(), st.integers(0, 200))
def test_any_beginning_is_read(text: str, size: int) -> None:
    """A template that is cut off anywhere has tags in order, each ending before the next."""
    tags = read_tags(text[:size])
    ends = [0, *(tag.end for tag in tags)]
    assert all(end <= tag.start < tag.end for end, tag in zip(ends, tags, strict=False))


# robustness --------------------------------------------------------------------------------------


def test_an_end_without_a_shutdown(tmp_path: Path) -> None:
    """The exit code is 1 when the editor did not shut the server down before it ended it."""
    with Client(tmp_path) as client:
        client.notify("exit", None)
        assert client.end() == (1, "")


def test_an_installed_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source of a provider that a package brings is found, and what it prints does no harm.

    An editor that goes away without a word ends the server.
    """
    metadata = tmp_path / "site" / "acme-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[cuecard.providers]\ncrm = acme.crm:customer\n")
    (tmp_path / "site" / "acme").mkdir()
    (tmp_path / "site" / "acme" / "__init__.py").write_text("print('loaded')\n")
    source = tmp_path / "site" / "acme" / "crm.py"
    source.write_text(
        "import cuecard\n\n\n"
        "@cuecard.provider('customer', name='crm')\n"
        "def customer(request):\n    return {'customer': 'C'}\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    with Client(tmp_path) as client:
        found = client.at("definition", client.open(tmp_path / "a.j2", "{{ customer }}"), (0, 5))
        assert found["uri"] == source.as_uri()
        assert found["range"]["start"]["line"] == 4
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.end() == (1, "loaded\n")


def test_what_is_no_message(tmp_path: Path) -> None:
    """Whatever is sent, the next request is answered, and no text of a document is logged."""
    with Client(tmp_path) as client:
        uri = client.open(tmp_path / "a.j2", "{{ SECRET }}")
        client.send(b"{ no json SECRET")
        client.send(b"[]")
        client.send(b'{"jsonrpc": "2.0", "method": "no/such", "params": {"a": "SECRET"}}')
        client.send(b'{"jsonrpc": "1.0", "id": 7, "method": "x"}')
        client.notify("textDocument/didChange", {"textDocument": "SECRET"})
        client.change((tmp_path / "never-opened").as_uri(), 2, {"text": "SECRET"})
        for method in ("textDocument/hover", "no/such"):
            with pytest.raises(RequestError):
                client.request(method, {"position": "SECRET"})
        with pytest.raises(RequestError, match="not open"):
            client.at("hover", "file:///nowhere.j2", (0, 0))
        assert client.at("hover", uri, (99, 99)) is None
        assert client.request("shutdown", None) is None
        client.notify("exit", None)
        status, logged = client.end()
        assert status == 0
        assert "SECRET" not in logged
        assert "cuecard lsp:" in logged


def test_a_fault_in_a_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that raises is told of as a finding; the server goes on, and logs no text."""
    (tmp_path / "sitecustomize.py").write_text(
        "import cuecard.lint.checking as c\n"
        "def check(self, document): raise ValueError(document.text)\n"
        "c.Checker.check_document = check\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Client(tmp_path) as client:
        uri = client.open(tmp_path / "a.j2", "{{ SECRET }}")
        (found,) = client.until(uri, 1)
        assert found["code"] == "P206"
        assert client.at("completion", uri, (0, 3))["items"]
        client.notify("exit", None)
        _, logged = client.end()
        assert "ValueError" in logged
        assert "SECRET" not in logged


def test_a_terminal_is_no_editor() -> None:
    """Somebody who starts the server by hand is told that an editor does."""
    mine, its = pty.openpty()
    command = [sys.executable, "-m", "cuecard", "lsp"]
    ended = subprocess.run(command, stdin=its, capture_output=True, text=True, timeout=60)
    os.close(mine)
    os.close(its)
    assert ended.returncode == 2
    assert "started by an editor" in ended.stderr


def test_a_missing_extra() -> None:
    """Without its package the command says what to install."""
    code = "import sys; sys.modules['pygls'] = None; from cuecard.cli import main; main(['lsp'])"
    command = [sys.executable, "-c", code]
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    assert "P807" in ended.stderr
    assert "pip install 'cuecard[lsp]'" in ended.stderr


# words -------------------------------------------------------------------------------------------

TABLES = {"FILTERS": FILTERS, "TESTS": TESTS, "FUNCTIONS": FUNCTIONS, "TAGS": TAGS}


@pytest.mark.parametrize("name", TABLES)
def test_every_word_is_explained(name: str) -> None:
    """Each word of the language is explained, and no other."""
    assert set(getattr(words, name)) == set(TABLES[name])


def test_every_variable_is_explained() -> None:
    """Each variable that comes with the library is explained, and `loop`."""
    assert set(words.VARIABLES) == {*BUILT_IN, *SECTIONS, *OPERATOR_SLOTS, "loop"}


@pytest.mark.parametrize("name", TABLES)
def test_examples_are_right(name: str, tmp_path: Path) -> None:
    """Every example renders to what is said."""
    for file in ("layout.j2", "rules.j2", "macros.j2"):
        (tmp_path / file).write_text("{% macro greet() %}{% endmacro %}")
    for word, entry in getattr(words, name).items():
        template = cuecard.Template(entry.example, partials=cuecard.Folder(tmp_path))
        assert template.render() == entry.result, word


# speed -------------------------------------------------------------------------------------------


def test_a_keystroke_in_a_long_prompt(client: Client, tmp_path: Path) -> None:
    """A keystroke in a prompt of 50 kB, its completion and its diagnostics are there at once."""
    section = "## Rules\n" + "What to do, and what not to do, is told at length here.\n" * 20
    section += "{% for tool in tools %}\n- {{ tool.name }}: {{ tool.description }}\n{% endfor %}\n"
    text = AGENT + "{{ tone }}\n" + section * 42
    assert len(text) > 50_000
    uri = client.open(tmp_path / "long.md", text)
    client.until(uri, 1)
    seconds = []
    for version in range(2, 9):
        start = time.perf_counter()
        where = {"line": 6, "character": 3}
        client.change(uri, version, {"range": {"start": where, "end": where}, "text": "t"})
        client.until(uri, version)
        assert client.at("completion", uri, (6, 4))["items"]
        seconds.append(time.perf_counter() - start)
    # On a machine that does nothing else it is a fifth of this.
    assert min(seconds) < 0.25, seconds


# anything ----------------------------------------------------------------------------------------

PIECES = [
    *("---\n", "---\r\n", "name: a\n", "inputs:\n", "  tone: string\n", "  - name: x\n", "{a: b}"),
    *("{{ ", " }}", "{% ", " %}", "{#", "#}", "for ", "x ", "in ", "tools", ".", "|", "is ", "("),
    *(")", "[", "]", "'", '"', "=", ",", "set ", "endfor", "macro ", "😀", "\n", "\r", "\ufeff"),
    *("{%- raw %}", "include ", "if ", "endif", "not ", "import ", "from ", "as ", "with ", "1"),
]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join), st.data())
def test_any_question_about_any_text(text: str, data: st.DataObject) -> None:
    """Whatever is written, every question has an answer, in the bounds of the text."""
    file = data.draw(st.sampled_from(["agent.md", "SYSTEM.md", "SKILL.md", "t.j2"]))
    at = data.draw(st.integers(0, len(text)))
    checker = Checker(Settings(entry_points=False))
    analysis = Analysis(text, Target(file, kind_of(file, checker.settings)), checker)
    for finding in analysis.findings:
        start, end = analysis.range_of(finding.span)
        assert 0 <= start <= end <= len(text)
    for found in (hover_at(analysis, at), choices_at(analysis, at)):
        assert found is None or 0 <= found.start <= at <= found.end <= len(text)
    for mending in mendings_of(analysis, 0, len(text)):
        assert all(0 <= edit.start <= edit.end <= len(text) for edit in mending.edits)
    origin = origin_at(analysis, at)
    assert origin is None or origin.path is not None or origin.end <= len(text)
    places = places_at(analysis, at)
    if places is not None:
        assert {text[start:end] for start, end in places.uses} <= {places.name}
    with contextlib.suppress(RefusedError):
        for start, end in rename(analysis, at, "other"):
            assert text[start:end] == places.name if places else False
    laid_out(analysis)

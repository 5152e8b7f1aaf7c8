"""`cuecard explain`, from the outside: the table, the colours, the data, the turns, the plot."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

import cuecard

from .case_files import Case, parameters
from .running import Run, check_run, run_at_terminal, write

TEMPLATE = "Hi {{ name }}!\n{% for t in tools %}\n- {{ t }}\n{% endfor %}\n"
VALUES = '{"name": "Ann", "tools": ["x", "yy"]}'


@pytest.mark.parametrize("case", parameters("explain.jsonl"))
def test_each_case(case: Case, run: Run) -> None:
    """The command prints what the case says, and exits as it says."""
    check_run(run, "explain", case)


# one prompt ------------------------------------------------------------------------------------


def test_colours_at_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal the prompt has the colours of its scopes, inner outputs are underlined."""
    monkeypatch.chdir(tmp_path)
    write("t.md", TEMPLATE)
    write("v.json", VALUES)
    arguments = ("explain", "t.md", "--vars", "v.json", "--scope", "tools=session")
    status, printed = run_at_terminal(*arguments)
    assert status == 0
    lines = printed.splitlines()
    assert lines[:3] == [
        "\x1b[32mHi \x1b[0m\x1b[35mAnn\x1b[0m\x1b[32m!\x1b[0m",
        "\x1b[36m- \x1b[0m\x1b[36;4mx\x1b[0m",
        "\x1b[36m- \x1b[0m\x1b[36;4myy\x1b[0m",
    ]
    assert "\x1b[33mday\x1b[0m until midnight" in lines[4]
    assert "\x1b[36msession\x1b[0m" in next(line for line in lines if "block     2-4" in line)


def test_no_colours_without_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR, a pipe and --output get the table alone, without an escape sequence."""
    monkeypatch.chdir(tmp_path)
    write("t.md", TEMPLATE)
    write("v.json", VALUES)
    arguments = ("explain", "t.md", "--vars", "v.json")
    status, bare = run_at_terminal(*arguments, environment={"NO_COLOR": "1"})
    assert (status, "\x1b" in bare) == (0, False)
    assert bare.startswith("#  kind ")
    assert run_at_terminal(*arguments, "--output", "report.txt") == (0, "")
    assert Path("report.txt").read_text("utf-8") == bare


@pytest.mark.parametrize("columns", [70, 120])
def test_table_fits_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """Excerpts are cut so that a line of the table fits the terminal, or left out."""
    monkeypatch.chdir(tmp_path)
    write("t.md", "{{ a }} " + "long text " * 30)
    printed = run_at_terminal("explain", "t.md", "--var", "a=1", columns=columns)[1]
    bare = re.sub(r"\x1b\[[\d;]*m", "", printed)
    table = bare[bare.index("#  kind") :]
    assert max(map(len, table.split("\n\n")[0].splitlines())) <= columns


def test_terminal_is_not_steered_by_a_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control characters of template and values are shown, not sent to the terminal."""
    monkeypatch.chdir(tmp_path)
    write("t.md", "a\x1b]0;title\x07 {{ x }}\r\n")
    write("v.json", json.dumps({"x": "\x9b2J\u202e\x00\x1b[2J"}))
    status, printed = run_at_terminal("explain", "t.md", "--vars", "v.json")
    assert status == 0
    assert set(re.findall(r"\x1b(?!\[[\d;]*m).{0,3}", printed)) == set()
    assert not set(printed) & set("\x07\x9b\u202e\x00\r")
    assert "\N{SYMBOL FOR ESCAPE}]0;title\N{SYMBOL FOR BELL}" in printed


def test_json_holds_everything(run: Run) -> None:
    """--json gives text, segments with places and children, blocks, prefix and findings."""
    write("t.md", "---\nname: a\n---\n" + TEMPLATE)
    write("v.json", VALUES)
    result = run(
        *("explain", "t.md", "--vars", "v.json", "--json"),
        *("--scope", "name=session", "--scope", "nme=day", "--tokens", "estimate"),
    )
    assert result.status == 0
    data = json.loads(result.out)
    text = data["text"]
    assert text == "Hi Ann!\n- x\n- yy\n"
    assert [text[s["start"] : s["end"]] for s in data["segments"]] == [
        "Hi ",
        "Ann",
        "!\n",
        "- x\n- yy\n",
        *([""] * (len(data["segments"]) - 4)),
    ]
    block = data["segments"][3]
    children = block.pop("children")
    assert block == {
        "number": 4,
        "start": 8,
        "end": 17,
        "characters": 9,
        "tokens": 3,
        "kind": "block",
        "template": "t.md",
        "span": {
            "start": 15,
            "end": 58,
            "line": 5,
            "column": 1,
            "end_line": 7,
            "end_column": 13,
        },
        "variables": ["tools"],
        "providers": [],
        "scope": "turn",
    }
    assert [(text[c["start"] : c["end"]], c["span"]["line"]) for c in children] == [
        ("x", 6),
        ("yy", 6),
    ]
    assert data["blocks"] == [
        {"start": 0, "end": 3, "scope": "static", "characters": 3, "tokens": 1},
        {"start": 3, "end": 8, "scope": "session", "characters": 5, "tokens": 2},
        {"start": 8, "end": 17, "scope": "turn", "characters": 9, "tokens": 3},
    ]
    assert data["cacheable_prefix"] == {"characters": 8, "tokens": 2}
    assert (data["tokens"], data["counter"]) == (5, {"name": "estimate", "exact": False})
    assert [finding["code"] for finding in data["diagnostics"]] == ["P501"]
    assert "`nme`" in result.err


@pytest.mark.parametrize(
    ("template", "variables"),
    [
        ("{% for t in ts %}{{ t }}{% endfor %}", ["ts"]),
        ("{% for t in ts %}{{ t.a }}{{ x }}{% endfor %}", ["ts", "x"]),
        ("{% for k, v in d.items() %}{{ v }}{% endfor %}", ["d"]),
        (
            "{% for t in ts %}{% for k, v in d.items() %}{{ v ~ t }}{% endfor %}{% endfor %}",
            ["d", "ts"],
        ),
        ("{% set q = x %}{% for t in ts %}{{ q }}{% endfor %}", ["x"]),
        ("{% for t in ts %}{% set q = x %}{{ q }}{% endfor %}", ["x"]),
        ("{% with q = x %}{{ q }}{% endwith %}", ["x"]),
    ],
)
def test_inner_outputs_know_their_variables(run: Run, template: str, variables: list[str]) -> None:
    """What a block prints names the variables behind it, through whatever names they went."""
    write("t.md", template)
    write("v.json", '{"ts": [{"a": 1}], "x": 2, "d": {"k": 3}}')
    data = json.loads(run("explain", "t.md", "--vars", "v.json", "--json").out)
    children = [child for segment in data["segments"] for child in segment["children"]]
    assert sorted({name for child in children for name in child["variables"]}) == variables
    assert {child["scope"] for child in children} == {"turn"}


def test_segments_cover_the_render(run: Run) -> None:
    """The segments of the reviewer's prompt, joined, are the text that a render gives."""
    examples = Path(__file__).parent.parent / "examples" / "reviewer"
    files = (str(examples / "agent.md"), "--vars", str(examples / "context.json"))
    data = json.loads(run("explain", *files, "--json").out)
    joined = "".join(data["text"][s["start"] : s["end"]] for s in data["segments"])
    assert joined == run("render", *files).out


def test_ten_thousand_segments(run: Run) -> None:
    """A template of 10,000 segments is explained, as a table and as a page."""
    write("t.md", "{{ a }}x" * 5_000)
    result = run("explain", "t.md", "--var", "a=1", "--tokens", "estimate")
    assert "prompt: 10,000 characters, 2,500 tokens, 10,000 segments" in result.out
    assert run("explain", "t.md", "--var", "a=1", "--html", "o.html").status == 0
    assert Path("o.html").read_text("utf-8").count('data-range="o') == 10_000


def test_page_is_written_whole_or_not_at_all(run: Run) -> None:
    """A failing render leaves the old page; a good one prints nothing and replaces it."""
    write("t.md", "{{ a }}")
    write("o.html", "old")
    failed = run("explain", "t.md", "--html", "o.html")
    assert (failed.status, failed.out) == (1, "")
    assert Path("o.html").read_text() == "old"
    assert run("explain", "t.md", "--html", "o.html", "--var", "a=1") == (0, "", "")
    assert Path("o.html").read_text("utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in Path().iterdir()) == ["o.html", "t.md"]


# a series of turns -------------------------------------------------------------------------------


def series(run: Run, template: str, turns: list[dict[str, Any]], *arguments: str) -> Any:
    """The report on a series as data."""
    write("t.md", template)
    write("s.jsonl", "".join(json.dumps(turn) + "\n" for turn in turns))
    result = run("explain", "t.md", "--turns", "s.jsonl", "--json", "--tokens", "estimate")
    assert result.status == 0, result.err
    return json.loads(result.out)


def test_turns_as_data(run: Run) -> None:
    """Each turn has its size, common front, loss and blame; moving is measured on real texts."""
    stable = "stable text, " * 10
    template = f"It is {{{{ now }}}}. {stable}{{% for n in notes %}}{{{{ n }}}};{{% endfor %}}"
    turns = [
        {"now": "1", "notes": ["a"]},
        {"now": "2", "notes": ["a"]},
        {"now": "2", "notes": ["b", "c"]},
        {"now": "2", "notes": ["b", "c"]},
    ]
    data = series(run, template, turns)
    renders = [cuecard.render(template, turn) for turn in turns]
    assert [turn["characters"] for turn in data["turns"]] == [len(text) for text in renders]
    front = len(f"It is 2. {stable}")
    assert [turn["common"]["characters"] for turn in data["turns"]] == [
        0,
        6,
        front,
        len(renders[3]),
    ]
    assert [turn["lost"]["characters"] for turn in data["turns"]] == [
        0,
        len(renders[0]) - 6,
        len(renders[1]) - front,
        0,
    ]
    assert [turn["variables"] for turn in data["turns"]] == [[], ["now"], ["notes"], []]
    # With the clock at the end: all but the clock, all before the notes, everything.
    assert [turn["moved"]["characters"] for turn in data["turns"]] == [
        0,
        len(renders[1]) - 1,
        front - 1,
        len(renders[3]),
    ]
    assert [(c["variables"], c["breaks"]) for c in data["culprits"]] == [
        (["now"], 1),
        (["notes"], 1),
    ]
    assert data["moved"]["span"] == data["culprits"][0]["span"]
    assert data["compared"] == 3


def test_savings_follow_the_rules_of_the_providers(run: Run) -> None:
    """A stable long prompt saves at most 1 - the price of a read, a broken one costs writes."""
    stable = "stable text, " * 1_000
    turns = [{"now": str(number)} for number in range(10, 40)]
    first = series(run, f"{{{{ now }}}} {stable}", turns)["savings"]
    last = series(run, f"{stable}{{{{ now }}}}", turns)["savings"]
    assert {rule["provider"] for rule in first} == {"Anthropic", "OpenAI", "Gemini"}
    for broken, whole in zip(first, last, strict=True):
        assert broken["now"] == pytest.approx(1 - broken["write"])
        assert 0.7 < whole["now"] < 1 - whole["read"]
        assert broken["moved"] == pytest.approx(whole["now"], abs=0.01)


def test_plot_is_a_picture_of_the_turns(run: Run) -> None:
    """--svg draws both axes, the legend with the culprit, and steps for every turn."""
    write("t.md", "{{ now }} a stable text of some length {{ plan }}")
    turns = [{"now": f"{number}", "plan": "<p>&"} for number in range(30)]
    write("s.jsonl", "".join(json.dumps(turn) + "\n" for turn in turns))
    result = run("explain", "t.md", "--turns", "s.jsonl", "--svg", "o.svg", "--tokens", "estimate")
    assert result.status == 0
    root = ElementTree.fromstring(Path("o.svg").read_text("utf-8"))
    space = {"svg": "http://www.w3.org/2000/svg"}
    texts = [element.text for element in root.iterfind("svg:text", space)]
    assert {"turn", "characters of the prompt", "same, with now at the end", "0"} <= set(texts)
    paths = {
        element.get("class"): element.get("d") or ""
        for element in root.iterfind("svg:path", space)
        if element.get("class") in {"same", "lost", "moved"}
        and (element.get("d") or "").count("H") > 5
    }
    assert {name: path.count("H") for name, path in paths.items()} == {
        "lost": 30,
        "same": 30,
        "moved": 29,
    }
    assert "prefers-color-scheme: dark" in Path("o.svg").read_text("utf-8")


def test_plot_of_a_hostile_name_is_well_formed(run: Run) -> None:
    """A file's name that holds markup is text in the picture."""
    name = "a<b&\"c'.md"
    write(name, "{{ x }} and more text")
    write("s.jsonl", '{"x": 1}\n{"x": 2}\n')
    assert run("explain", name, "--turns", "s.jsonl", "--svg", "o.svg").status == 0
    root = ElementTree.fromstring(Path("o.svg").read_text("utf-8"))
    assert any(name in (element.text or "") for element in root.iter())

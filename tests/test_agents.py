"""Agent files: what is read from them, what is refused, and what is written again."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cuecard
from cuecard.agents import (
    AgentDefinition,
    Input,
    load_agent,
    load_agents,
    parse_agent,
    render_agent,
    summarize,
)

from .case_files import Case, check_error, parameters
from .running import Run, write

READABLE = parameters("agents.jsonl", lambda case: "error" not in case)
BROKEN = parameters("agents.jsonl", lambda case: "error" in case)


def parsed(case: Case) -> AgentDefinition:
    return parse_agent(case["text"], recover=case.get("recover", False), name="agent.md")


@pytest.mark.parametrize("case", READABLE)
def test_a_readable_file(case: Case) -> None:
    """Each key means what the case says, and what is noticed is a diagnostic."""
    agent = parsed(case)
    for name, value in case.get("is", {}).items():
        found = getattr(agent, name)
        assert (list(found) if isinstance(found, tuple) else found) == value, name
    if "inputs" in case:
        assert [
            [i.name, i.type, i.required, i.default, i.description] for i in agent.inputs
        ] == case["inputs"]
    assert [d.code for d in agent.diagnostics] == case.get("warns", [])
    for finding in agent.diagnostics:
        assert finding.template == "agent.md"
        assert case.get("hint", "") in (finding.hint or "")


@pytest.mark.parametrize("case", READABLE)
def test_a_readable_file_is_written_again(case: Case) -> None:
    """Writing and reading gives the same definition."""
    agent = parsed(case)
    assert parse_agent(render_agent(agent)) == agent


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file(case: Case) -> None:
    """The error has the code, the place in the file, and the cure."""
    with pytest.raises(cuecard.SpecError) as caught:
        parsed(case)
    check_error(caught.value, {**case, "code": case["error"]})
    assert caught.value.template == "agent.md"
    assert caught.value.hint


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
values = st.recursive(
    st.none() | texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner)
)
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
KNOWN = {"name", "description", "id", "namespace", "model", "profile", "tools", "inputs"}


@st.composite
def declared_inputs(draw: st.DrawFn) -> Input:
    kind, values_of = draw(
        st.sampled_from(
            [
                ("string", texts),
                ("integer", st.integers()),
                ("number", st.floats(allow_nan=False, allow_infinity=False)),
                ("boolean", st.booleans()),
                ("array", st.lists(texts, max_size=3)),
                ("object", st.dictionaries(texts, texts, max_size=3)),
                ("any", texts),
            ]
        )
    )
    default = draw(st.none() | values_of)
    required = default is None and draw(st.booleans())
    return Input(draw(names), kind, required, default, draw(st.none() | texts))


agents = st.builds(
    AgentDefinition,
    name=st.none() | texts,
    description=st.none() | texts,
    system_prompt=texts,
    model=st.none() | texts,
    tools=st.none() | st.lists(names, max_size=4).map(tuple),
    profile=st.none() | st.sampled_from(["strict", "operator", "markdown", "live"]),
    inputs=st.lists(declared_inputs(), max_size=3, unique_by=lambda i: i.name).map(tuple),
    id=st.none() | texts,
    namespace=st.none() | texts,
    extras=st.dictionaries(texts.filter(lambda key: key not in KNOWN), values, max_size=4),
)


@given(agents)
def test_round_trip(agent: AgentDefinition) -> None:
    """Whatever an agent is, writing and reading it gives the same."""
    assert parse_agent(render_agent(agent)) == agent


def test_a_value_that_no_header_holds() -> None:
    """An object among the extras is an error, and nothing is written."""
    with pytest.raises(cuecard.SpecError, match="no text, list or mapping"):
        render_agent(AgentDefinition(extras={"a": object()}))


def test_the_version_is_that_of_the_template() -> None:
    """Only the body counts: a new description is no new version."""
    one = parse_agent("---\nname: a\n---\nHi")
    other = parse_agent("---\nname: b\n---\nHi")
    assert one.version == other.version
    assert one.version != parse_agent("Hi\n").version
    assert len(one.version) == 16


def test_definitions_are_values() -> None:
    """They can be hashed, compared and pickled."""
    import pickle

    agent = parse_agent("---\nname: a\nmetadata: {x: y}\n---\nHi")
    assert pickle.loads(pickle.dumps(agent)) == agent
    assert len({agent, parse_agent("---\nname: a\nmetadata: {x: y}\n---\nHi")}) == 1


# inputs ------------------------------------------------------------------------------------

AGENT = parse_agent(
    """\
---
name: triage
inputs:
  directive: string
  count: {type: integer, default: 3}
  tone: {required: false}
---
{{ directive }} {{ count }} {% if tone %}{{ tone }}{% endif %}""",
)


def test_defaults_are_applied() -> None:
    """Absent and null inputs get their default; optional ones without become null."""
    assert AGENT.fill({"directive": "go"}).context == {
        "directive": "go",
        "count": 3,
        "tone": None,
    }
    assert AGENT.fill({"directive": "go", "count": None}).context["count"] == 3


def test_the_template_may_provide_for_absence() -> None:
    """An optional input that the template guards stays absent, so that its default holds."""
    agent = parse_agent("---\ninputs: {tone: {required: false}}\n---\n{{ tone | default('x') }}")
    template = cuecard.Template(agent.source)
    filled = agent.fill({}, guarded=template.optional)
    assert filled.context == {}
    assert template.render(filled.context) == "x"


def test_missing_inputs_are_named_at_once() -> None:
    """All missing names are in one error, with the misspelt name as a hint."""
    agent = parse_agent("---\ninputs: {directive: string, topic: string}\n---\n")
    with pytest.raises(cuecard.ContextError) as caught:
        agent.fill({"directve": "x"})
    assert caught.value.code == "P710"
    assert "`directive`, `topic`" in caught.value.message
    assert caught.value.hint == (
        "`directve` is given, which no input declares. Did you mean `directive`?"
    )


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("string", ["", Path("x")], [1, True, ["a"], {}]),
        ("integer", [0, -5], [1.5, True, "1"]),
        ("number", [0, 1.5], [True, "1.5", [1]]),
        ("boolean", [True], [1, "true"]),
        ("array", [[], (1, 2), {"a"}], ["ab", {}, 1]),
        ("object", [{}, {"a": 1}, Input("n")], ["a", [1], 1]),
        ("any", [1, "a", [1], {}], []),
    ],
)
def test_types(kind: str, good: list[Any], bad: list[Any]) -> None:
    """Values are held against the declared type; an error names types, never the value."""
    agent = AgentDefinition(name="a", inputs=(Input("n", kind),))
    for value in good:
        assert agent.fill({"n": value}).context == {"n": value}
    for value in bad:
        with pytest.raises(cuecard.ContextError) as caught:
            agent.fill({"n": value})
        assert caught.value.code == "P711"
        assert f"`{type(value).__name__}`" in caught.value.message
        assert caught.value.path == "$.n"


def test_an_undeclared_slot_is_a_warning() -> None:
    """It is kept, with a warning and the nearest declared name; an agent may declare nothing."""
    filled = AGENT.fill({"directive": "go", "tome": 1})
    assert filled.context["tome"] == 1
    (finding,) = filled.diagnostics
    assert (finding.code, finding.severity) == ("P712", "warning")
    assert finding.hint == "Did you mean `tone`?"
    assert parse_agent("Hi").fill({"x": 1}) == ({"x": 1}, ())


# files ---------------------------------------------------------------------------------------


def test_names_from_files(tmp_path: Path) -> None:
    """Without a name in the header the file's gives it, or its folder's."""
    folder = tmp_path / "reviewer"
    folder.mkdir()
    for file, name in {
        "agent.md": "reviewer",
        "writer.md": "writer",
        "planner.agent.md": "planner",
        "SYSTEM.md": "reviewer",
    }.items():
        (folder / file).write_text("---\ndescription: d\n---\nHi")
        assert load_agent(folder / file).name == name


def test_errors_count_the_lines_of_the_file(tmp_path: Path) -> None:
    """A mistake in the template has its line in the file, header included."""
    (tmp_path / "a.md").write_text("---\nname: a\n---\nHi\n{{ who }}\n")
    agent = load_agent(tmp_path / "a.md")
    with pytest.raises(cuecard.UndefinedVariableError) as caught:
        cuecard.Template(agent.source).render()
    assert caught.value.place == f"{tmp_path / 'a.md'}:5:4"


def test_a_folder_loses_nothing(tmp_path: Path) -> None:
    """Each file is an agent, a diagnostic, or known for something else."""
    outside = tmp_path / "outside.md"
    outside.write_text("---\nname: outside\n---\n")
    folder = tmp_path / "agents"
    (folder / "team").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / "b.md").write_text("---\nname: b\n---\nHi")
    (folder / "a.md").write_text("---\nname: b\n---\nHi")
    (folder / "team" / "c.md").write_text("---\nname: c\n---\nHi")
    (folder / "notes.md").write_text("Just notes.")
    (folder / "late.md").write_text("x\n---\nname: late\n---\n")
    (folder / "bad.md").write_text("---\nname: a: b\n---\n")
    (folder / "latin.md").write_bytes(b"---\nname: caf\xe9\n---\n")
    (folder / "README.md").write_text("About.")
    (folder / "AGENTS.md").write_text("---\nname: no\n---\n")
    (folder / ".hidden" / "d.md").write_text("---\nname: d\n---\n")
    (folder / "link.md").symlink_to(outside)
    (folder / "gone.md").symlink_to(tmp_path / "nowhere.md")
    found = load_agents(folder)
    assert [agent.path for agent in found] == [
        folder / "a.md",
        folder / "b.md",
        folder / "team" / "c.md",
    ]
    assert sorted((d.code, Path(str(d.template)).name, d.severity) for d in found.diagnostics) == [
        ("P401", "bad.md", "error"),
        ("P403", "late.md", "warning"),
        ("P404", "notes.md", "info"),
        ("P415", "b.md", "warning"),
        ("P416", "gone.md", "error"),
        ("P416", "link.md", "error"),
        ("P802", "latin.md", "error"),
    ]


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    """No such folder is an error."""
    with pytest.raises(cuecard.TemplateNotFoundError):
        load_agents(tmp_path / "nowhere")


def test_a_summary() -> None:
    """Declared and read names are told apart by whether a render needs them."""
    agent = parse_agent(
        "---\nname: a\ninputs: {n: {type: int, default: 1}, spare: string}\n---\n"
        "{{ n }} {{ who }} {{ tone | default('x') }}"
    )
    summary = summarize(agent)
    assert summary.required == ("spare", "who")
    assert summary.optional == ("n", "tone")
    assert summary.problems == ()
    broken = summarize(parse_agent("Hi {{ }}", name="x"))
    assert [problem.code for problem in broken.problems] == ["P101"]
    assert json.dumps(broken.data())


# the commands --------------------------------------------------------------------------------


def test_agents_lists_a_folder(run: Run) -> None:
    """A table on standard output; problems, and what was left out, on standard error."""
    Path("agents").mkdir()
    write("agents/a.md", "---\nname: a\ndescription: Does\n---\n{{ x }}{{ y | default(1) }}")
    write("agents/b.md", "---\nname: b\n---\n{{ x")
    write("agents/c.md", "text")
    result = run("agents", "agents")
    lines = result.out.splitlines()
    assert lines[0].split() == [
        "name",
        "required",
        "optional",
        "characters",
        "version",
        "problems",
        "description",
    ]
    assert lines[1].split()[:4] == ["a", "x", "y", "27"]
    assert lines[2].split()[:4] == ["b", "-", "-", "4"]
    assert result.status == 1
    assert "agents/b.md:4:" in result.err
    assert "1 file without front matter" in result.err


def test_agents_as_json(run: Run) -> None:
    """Programs get every agent and every diagnostic."""
    Path("agents").mkdir()
    write("agents/a.md", "---\nname: a\ntools: x\n---\n{{ x }}")
    write("agents/c.md", "text")
    result = run("agents", "agents", "--json", "--strict")
    data = json.loads(result.out)
    assert result.status == 0
    assert data["agents"][0]["required"] == ["x"]
    assert data["agents"][0]["tools"] == ["x"]
    assert [d["code"] for d in data["diagnostics"]] == ["P404"]


def test_strict_makes_any_problem_fail(run: Run) -> None:
    """A warning is enough for --strict."""
    Path("agents").mkdir()
    write("agents/a.md", "---\nname: a\nprofile: other\n---\n")
    assert run("agents", "agents").status == 0
    assert run("agents", "agents", "--strict").status == 1
    assert run("agents", "nowhere").status == 1


def test_init_writes_an_agent_that_renders(run: Run) -> None:
    """The file says what each part is for, renders at once, and is never overwritten."""
    assert run("init", "helper").status == 0
    result = run("render", "helper.md", "--var", "directive=Say hello.")
    assert result.status == 0
    assert result.err == ""
    assert result.out == (
        "You are helper. Your tone is friendly.\n\n## Task\nSay hello.\n\n"
        "Write places as `{{ city }}`.\n"
    )
    write("helper.md", "mine")
    again = run("init", "helper")
    assert again.status == 1
    assert again.err.startswith("helper.md: P808 ")
    assert Path("helper.md").read_text() == "mine"
    assert run("init", "../x").status == 2


def test_render_uses_profile_and_inputs(run: Run) -> None:
    """The header's profile and inputs count; text of the command line is read by its type."""
    write(
        "a.md",
        "---\nprofile: markdown\ninputs: {n: int, words: {type: list, default: [a]}}\n---\n"
        "{{ n + 1 }}{{ words | length }}{{ absent }}\n\n",
    )
    assert run("render", "a.md", "--var", "n=2") == (0, "31\n", "")
    assert run("render", "a.md", "--var", "n=2", "--var", 'words=["x", "y"]').out == "32\n"
    assert "P711" in run("render", "a.md", "--var", "n=two").err
    assert "P710" in run("render", "a.md").err
    assert "P712" in run("render", "a.md", "--var", "n=2", "--var", "m=3").err
    assert "P201" in run("render", "a.md", "--var", "n=2", "--profile", "strict").err


SECTIONS = "{{ skills | length }}{% for t in tools %} {{ t.name }}{% endfor %} {{ mcp | length }}"


@pytest.mark.parametrize(
    ("options", "out"),
    [
        (["--workspace", "w"], "1 0"),
        (["--skills", "one", "--skills", "w/.agents/skills"], "2 0"),
        (["--workspace", "w", "--skills", "one"], "1 0"),
        (["--tools", "tools.json"], "0 b a 0"),
        (["--mcp", "mcp.json", "--tools", "tools.json"], "0 b a 1"),
        (["--workspace", "w", "--vars", "vars.json"], "0 0"),
        (["--tools", "tools.json", "--directive", '{"tools": [{"name": "mine"}]}'], "0 mine 0"),
    ],
)
def test_sections_of_a_render(
    options: list[str], out: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each option gives its section, null or empty where nothing is; values win over them."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for place in ("one/notes", "w/.agents/skills/maps"):
        Path(place).mkdir(parents=True)
        header = f"---\nname: {Path(place).name}\ndescription: d\n---\n"
        write(f"{place}/SKILL.md", header)
    write("tools.json", '[{"name": "b"}, {"name": "a"}]')
    write("mcp.json", '{"mcpServers": {"x": {"command": "x"}}}')
    write("vars.json", '{"skills": []}')
    write("a.md", SECTIONS)
    assert run("render", "a.md", *options) == (0, out, "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--workspace", "nowhere"], "nowhere: P803 no such folder"),
        (["--skills", "nowhere"], "nowhere: P803 no such folder"),
        (["--tools", "nowhere.json"], "nowhere.json: P801"),
        (["--tools", "a.md"], "a.md: P806"),
        (["--mcp", "list.json"], "list.json: P420"),
    ],
)
def test_sections_that_are_not_there(options: list[str], said: str, run: Run) -> None:
    """A place that is named and cannot be read is an error, and nothing is printed."""
    write("a.md", SECTIONS)
    write("list.json", "[1]")
    result = run("render", "a.md", *options)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(said)


def test_memory_stays_flat(tmp_path: Path) -> None:
    """Loading again and again keeps nothing of what was loaded."""
    for number in range(50):
        (tmp_path / f"{number}.md").write_text(f"---\nname: a{number}\n---\n" + "x" * 10_000)
    load_agents(tmp_path)
    tracemalloc.start()
    for _ in range(3):
        load_agents(tmp_path)
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert left < 100_000

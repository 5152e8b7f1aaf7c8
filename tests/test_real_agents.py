"""Agents and skills that other projects ship: none is lost, and each is what its file says.

The files are read from where the packages are installed; no package is imported. They were
written for other tools. Most are no templates at all, some look like one and do not parse,
two have headers that YAML refuses, and those of agensuite are templates with one variable.
"""

import importlib.util
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

import cuecard
from cuecard.agents import AgentDefinition, load_agents, parse_agent, render_agent, summarize
from cuecard.skills import discover_skills


class Folder(NamedTuple):
    """A folder of a package, and how much was in it when this test was written."""

    package: str
    path: str
    files: int
    loaded: int

    @property
    def root(self) -> Path:
        spec = importlib.util.find_spec(self.package)
        assert spec is not None
        assert spec.submodule_search_locations is not None
        return Path(spec.submodule_search_locations[0], self.path)


# Of acolytes 15 Markdown files have no header (they are no agents), and two a broken one.
AGENTS = [
    Folder("acolytes", "", 85, 68),
    Folder("agensuite", "templates/.claude/agents", 5, 5),
    Folder("agent_guild", "_assets", 12, 4),
]
SKILLS = [
    Folder("agent_skills_bundle", "skills", 22, 22),
    Folder("playwright", "driver/package/lib/tools/skills", 3, 3),
]


def of_each(folders: list[Folder]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("folder", folders, ids=lambda folder: folder.package)


def header_of(path: Path) -> list[str]:
    """The lines of a file's header, found without the reader that is tested."""
    first, *lines = path.read_text(encoding="utf-8-sig").splitlines()
    return lines[: lines.index("---")] if first.rstrip() == "---" else []


@of_each(AGENTS)
def test_no_agent_is_lost(folder: Folder) -> None:
    """Each file is an agent, has a diagnostic, or is known for something else."""
    files = set(folder.root.rglob("*.md"))
    found = load_agents(folder.root)
    loaded = {agent.path for agent in found}
    reported = {Path(str(d.template)) for d in found.diagnostics}
    assert {file.name for file in files - loaded - reported} <= {"README.md", "AGENTS.md"}
    assert len(files) >= folder.files
    assert len(found) == len(loaded) >= folder.loaded
    for finding in found.diagnostics:
        assert finding.hint
        if finding.code == "P404":
            assert header_of(Path(str(finding.template))) == []


@of_each(AGENTS)
def test_agents_say_what_their_files_say(folder: Folder) -> None:
    """Every key of a header is an attribute or an extra, and the body is the rest of the file."""
    for agent in load_agents(folder.root, recover=True):
        assert agent.path is not None
        text = agent.path.read_text(encoding="utf-8-sig")
        assert text.endswith(agent.system_prompt)
        assert text.count("\n") - agent.system_prompt.count("\n") == agent.first_line - 1
        keys = {line.partition(":")[0] for line in header_of(agent.path) if line[:1].isalpha()}
        known = {key for key in keys - agent.extras.keys() if getattr(agent, key) is not None}
        assert keys == known | agent.extras.keys(), agent.path
        assert agent.name


@of_each(AGENTS)
def test_agents_are_written_again(folder: Folder) -> None:
    """Writing and reading an agent gives the same, of its header and of its body."""
    for agent in load_agents(folder.root, recover=True):
        assert parse_agent(render_agent(agent)) == agent, agent.path


def test_broken_headers_are_recovered() -> None:
    """An unquoted `: ` costs a file, unless it is read kindly; each time it is told of."""
    strictly, kindly = (load_agents(AGENTS[0].root, recover=kind) for kind in (False, True))
    broken = {d.template: d for d in strictly.diagnostics if d.code == "P401"}
    assert {d.severity for d in broken.values()} == {"error"}
    assert len(broken) >= 2
    assert len(kindly) - len(strictly) == len(broken)
    for finding in kindly.diagnostics:
        if finding.code == "P401":
            assert finding.severity == "warning"
            assert finding.span == broken[finding.template].span
    for agent in kindly:
        if str(agent.path) in broken:
            assert f"description: {agent.description}" in header_of(Path(str(agent.path)))


def outcome(agent: AgentDefinition) -> str:
    """What becomes of an agent that is rendered without any values."""
    try:
        text = cuecard.Template(agent.source).render()
    except cuecard.PromptError as caught:
        error = caught
    else:
        return "as it is" if text == agent.system_prompt else "another text"
    assert error.span is not None
    assert agent.first_line <= error.span.line
    assert error.template == str(agent.path)
    return error.code


def test_bodies_that_are_no_templates() -> None:
    """They are text, or fail at their place in the file: none is changed without a word.

    One that does not parse is told of `raw`, and between these tags it is what it was.
    """
    outcomes: Counter[str] = Counter()
    for folder in AGENTS:
        for agent in load_agents(folder.root):
            outcomes[outcome(agent)] += 1
            (problem,) = summarize(agent).problems or (None,)
            if problem is not None:
                assert problem.code == "P101"
                assert "`{% raw %}` and `{% endraw %}`" in str(problem.hint)
            # The tag stands on its own line, which vanishes.
            raw = f"{{% raw %}}\n{agent.system_prompt}{{% endraw %}}"
            assert cuecard.render(raw) == agent.system_prompt
    assert outcomes.keys() == {"as it is", "P101", "P201"}
    assert outcomes["as it is"] >= 23
    assert outcomes["P101"] >= 9
    assert outcomes["P201"] >= 45


def test_bodies_that_are_templates() -> None:
    """The agents of agensuite take one variable; it replaces its tag, and nothing else changes."""
    mission = "Sell {{ umbrellas }} & <sunshine>."
    for agent in load_agents(AGENTS[1].root):
        assert summarize(agent).required == ("COMPANY_MISSION",)
        text = cuecard.Template(agent.source).render(COMPANY_MISSION=mission)
        assert text == agent.system_prompt.replace("{{COMPANY_MISSION}}", mission)


@of_each(SKILLS)
def test_no_skill_is_lost(folder: Folder) -> None:
    """Each `SKILL.md` is a skill that keeps all rules, with the body that its file has."""
    files = set(folder.root.rglob("SKILL.md"))
    found = discover_skills(folder.root, strict=True)
    assert found.diagnostics == ()
    assert {skill.path for skill in found} == files
    assert len(found) >= folder.loaded
    for skill in found:
        assert skill.name == skill.path.parent.name
        assert skill.path.read_text(encoding="utf-8").endswith(skill.body)
        header = "\n".join(header_of(skill.path))
        assert (skill.allowed_tools is not None) == ("allowed-tools:" in header)
        for tool in skill.allowed_tools or ():
            assert tool in header


@of_each(SKILLS)
def test_catalog_of_real_skills(folder: Folder) -> None:
    """The catalog names each skill once, and no description leaves its element."""
    skills = discover_skills(folder.root)
    catalog = cuecard.skills_catalog(skills)
    assert catalog.count("<skill>") == catalog.count("</skill>") == len(skills)
    for skill in skills:
        assert f"<name>{skill.name}</name>" in catalog
    assert catalog.splitlines() == [line for line in catalog.splitlines() if line[:1] == "<"]

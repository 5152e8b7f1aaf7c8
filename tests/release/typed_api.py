"""A program with types, as a user writes it: mypy and pyright check it, in their strict modes."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cuecard
from cuecard import LIVE, STRICT, Diagnostic, Prompt, PromptRenderer, Scope, Template
from cuecard.operator import OperatorSpawner, TaskSpec
from cuecard.stores import Store, TodoItem, open_store
from cuecard.testing import FixedClock, MemoryStore, assert_cache_prefix
from cuecard.tokens import TokenCounter, find_counter

if TYPE_CHECKING:
    from cuecard.batch import BatchResult


def render_once(guest: str) -> str:
    """A text, and what its template reads."""
    template = Template("You help {{ guest }}.", profile=STRICT, name="porter.md")
    names: frozenset[str] = template.required | template.optional
    text: str = template.render({"guest": guest})
    assert text == template.render(guest=guest) == cuecard.render(f"You help {guest}.")
    assert names == template.variables
    return text


def look_inside(template: Template) -> list[str]:
    """What each part of a prompt came from, and what it would cost."""
    prompt: Prompt = template.bind({"guest": "Ann"}, {"guest": Scope.SESSION}).trace(now="13:05")
    parts = [
        f"{segment.span.line}:{segment.span.column} {segment.scope.name} {segment.variables}"
        for segment in prompt.segments
    ]
    for block in prompt.blocks(max_blocks=2):
        parts.append(block.text + block.scope.name)
    counter: TokenCounter = find_counter("estimate")
    tokens: int | None = prompt.with_counter(counter).cacheable_prefix.tokens
    assert tokens is not None
    diff = prompt.diff(template.trace(guest="Ben", now="13:06"))
    offset: int | None = diff.offset
    return [*parts, str(offset), diff.unified]


def read_error() -> tuple[str, int, str | None]:
    """The place of a mistake, and its cure."""
    try:
        cuecard.render("{{ gest }}", {"guest": "Ann"})
    except cuecard.UndefinedVariableError as error:
        names: tuple[str, ...] = error.variables
        diagnostic: Diagnostic = error.diagnostic()
        line = 0 if error.span is None else error.span.line
        return f"{diagnostic.code} {names[0]}", line, error.hint
    except cuecard.PromptError as error:
        raise AssertionError(error.report()) from error
    raise AssertionError("it has no such name")


@cuecard.provider("weather", scope=Scope.DAY, needs=["city"])
def forecast(request: cuecard.ProviderRequest) -> Mapping[str, str]:
    """A provider, as a function."""
    return {"weather": f"snow in {request.values.get('city')}"}


@cuecard.provider("mood", scope={"mood": Scope.TURN}, timeout=2.0)
async def mood(request: cuecard.ProviderRequest) -> dict[str, Any]:
    """A provider that waits."""
    await asyncio.sleep(0)
    return {"mood": "calm" if request.user_id else None}


class City:
    """A provider, as a class."""

    name = "city"
    priority = -1
    provides: Mapping[str, Scope] = {"city": Scope.SESSION}

    def contribute(self, request: cuecard.ProviderRequest) -> dict[str, str]:
        """What it gives."""
        return {"city": "Bergen"}


@dataclass(frozen=True)
class Session:
    """What a runtime knows of a session."""

    id: str
    user_id: str


def take_turns(store: Store) -> str:
    """Turns of an agent that remembers."""
    agent = cuecard.parse_agent("---\nname: porter\n---\n{{ weather }}, {{ todo_list_md }}")
    store.set_todos("s1", [TodoItem("Show the house", status="in_progress")])
    clock = FixedClock()
    renderer = PromptRenderer(
        [forecast, City()],
        store=store,
        profile=replace(LIVE, fallback=False),
        clock=clock,
        zone=datetime.UTC,
        tools=[cuecard.ToolSpec("search", "Finds.", {"type": "object"})],
    )
    before = renderer.prompt(agent, Session("s1", "ann"))
    clock.forward(hours=1)
    assert_cache_prefix(before, renderer.prompt(agent, Session("s1", "ann")))
    for segment in before.segments:
        assert isinstance(segment.providers, tuple)
    return renderer.render(agent, Session("s1", "ann"), auth="ann", extra_vars={"a": 1})


async def take_turns_in_a_loop() -> str:
    """The same in an event loop."""
    renderer = PromptRenderer([mood], entry_points=False)
    prompt: Prompt = await renderer.aprompt("{{ mood }}", auth="ann")
    return prompt.text + await renderer.arender("{{ mood }}")


class Echo:
    """An operator."""

    def execute(self, *, system: str | None, prompt: str) -> str:
        """Says what it was given."""
        return f"{system}|{prompt}"


def spawn() -> str:
    """A task for an operator."""
    spawner = OperatorSpawner(Echo(), "Do it: {{ directive }}")
    try:
        return str(spawner.spawn(TaskSpec("echo", "dance")))
    except cuecard.SpawnError as error:
        return error.reason


def read_files(folder: Path) -> list[Diagnostic]:
    """Agents, skills and what is wrong with them."""
    folder.mkdir()
    (folder / "porter.md").write_text("---\nname: porter\ndescription: Helps.\n---\nHello.\n")
    agent: cuecard.AgentDefinition = cuecard.load_agent(folder / "porter.md")
    agents = cuecard.load_agents(folder)
    assert [each.name for each in agents] == [agent.name]
    skills: list[cuecard.Skill] = cuecard.discover_skills(folder)
    text: str = cuecard.skills_catalog(skills)
    found: list[Diagnostic] = [*agents.diagnostics, *cuecard.lint([folder])]
    text += cuecard.markdown.render_system("{{ vision }}", folder, skills, vision="far")
    assert text == "far\n"
    return found


def keep_apart() -> str:
    """The template of a stranger."""
    with cuecard.Isolation(workers=1, memory=256 << 20, seconds=5.0) as isolation:
        return isolation.render("{{ a + 1 }}", {"a": 1}, profile=STRICT)


def render_table(source: str, target: str) -> BatchResult:
    """A table of tasks: needs an extra, so that `main` leaves it out."""
    from cuecard.batch import BatchOptions, render_files

    options = BatchOptions(workers=1, context={"tone": "dry"}, scopes={"tone": Scope.STATIC})
    return render_files(Template("{{ tone }} {{ task }}"), source, target, options)


def main(folder: Path) -> None:
    """Do all that needs no extra."""
    assert render_once("Ann") == "You help Ann."
    assert look_inside(Template("{{ guest }} {{ now }}"))
    assert read_error()[:2] == ("P201 gest", 1)
    with MemoryStore() as store:
        assert take_turns(store).startswith("snow in Bergen")
    with open_store(f"file:{folder / 'memory'}") as files:
        assert take_turns(files)
    assert spawn() == "Do it: dance|dance"
    assert read_files(folder / "agents") == []
    assert keep_apart() == "2"


if __name__ == "__main__":
    main(Path.cwd())

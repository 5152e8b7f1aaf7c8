"""The prompt that the benchmarks render: an agent's rules, skills and tools, and its turns.

All text is made here, always the same. It is chosen so that the JSON filters of all engines
write the same bytes: keys are sorted, and there is nothing but ASCII without `<`, `>`, `&`
and `'`. For the same reason the template spells out white space, so that it does not matter
whether an engine trims blocks.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from typing import Any

Context = dict[str, Any]

LEXICON = """
account answer archive batch branch bucket budget cache call change check claim client cluster
commit config cost count crash customer database date day default delay deploy detail device
document draft edge email entry error event export failure feature field file filter folder form
group guess history host hour index input invoice issue item job key label language latency limit
line list log machine mail market memory message metric minute mode name network note number
object offer option order output owner page parser part path payment person plan policy price
process product project prompt proof queue question quota rate reader reason record region release
report request response result review role row rule run sample schedule schema score search
secret section server service session setting shape size source stage start state step store
string summary table task team test text ticket time token tool topic total trace track type
unit update usage user value version view volume week window word worker zone
"""
WORDS = LEXICON.split()

PARAMETERS = (
    ("cursor", "string"),
    ("dry_run", "boolean"),
    ("fields", "array"),
    ("format", "string"),
    ("limit", "integer"),
    ("path", "string"),
    ("query", "string"),
    ("timeout", "integer"),
)


def sentences(seed: str, count: int) -> str:
    """So many sentences of 8 to 16 words; always the same for one seed."""
    chance = random.Random(seed)
    made = (
        " ".join(chance.choice(WORDS) for _ in range(chance.randint(8, 16))).capitalize() + "."
        for _ in range(count)
    )
    return " ".join(made)


RULES = "\n".join(f"- {sentences(f'rule {number}', 2)}" for number in range(36))

TEMPLATE = f"""\
You are **{{{{ agent_name }}}}**, an engineer of {{{{ organisation }}}}.
You work in `{{{{ workspace }}}}`.

## Rules

{RULES}

{{% if skills -%}}
## Skills

Before you judge something that one of these skills covers, read its file and follow it.

<available_skills>
{{% for skill in skills -%}}
<skill>
<name>{{{{ skill.name }}}}</name>
<description>{{{{ skill.description }}}}</description>
<location>{{{{ skill.path }}}}</location>
</skill>
{{% endfor -%}}
</available_skills>

{{% endif -%}}
## Tools

{{% for tool in tools -%}}
### {{{{ tool.name }}}}

{{{{ tool.description }}}}

Parameters: {{{{ tool.parameters | tojson }}}}

{{% endfor -%}}
## Now

It is {{{{ current_time }}}}.

{{% if notes -%}}
## Notes

{{{{ notes }}}}

{{% endif -%}}
{{% if plan -%}}
{{{{ plan }}}}
{{% endif -%}}"""


def skill(number: int) -> Context:
    name = f"{WORDS[number % len(WORDS)]}-{WORDS[(number * 7 + 3) % len(WORDS)]}"
    return {
        "name": name,
        "description": sentences(f"skill {number}", 4),
        "path": f"/workspace/.agents/skills/{name}/SKILL.md",
    }


def tool(number: int, parameters: int = len(PARAMETERS)) -> Context:
    """A tool whose schema has so many parameters."""
    properties = {
        name: {"description": sentences(f"tool {number} {name}", 1), "type": kind}
        for name, kind in PARAMETERS[:parameters]
    }
    return {
        "name": f"{WORDS[number % len(WORDS)]}_{number}",
        "description": sentences(f"tool {number}", 3),
        "parameters": {
            "properties": properties,
            "required": sorted(properties)[:2],
            "type": "object",
        },
    }


def stable_context(skills: int = 10, tools: int = 15, parameters: int = len(PARAMETERS)) -> Context:
    """What stays the same as long as the agent does."""
    return {
        "agent_name": "Argus",
        "organisation": "Fjordkasse",
        "workspace": "/workspace",
        "skills": [skill(number) for number in range(skills)],
        "tools": [tool(number, parameters) for number in range(tools)],
    }


def turns() -> Iterator[Context]:
    """What changes: the time at every turn, the plan at one in 4, the notes at one in 20.

    No two turns are the same, so that a cache of whole prompts finds nothing. Text that did
    not change is equal and yet another object, as it comes from a store. At first there are
    neither notes nor a plan.
    """
    start = datetime(2026, 11, 29, 8, 0)
    for number in itertools.count():
        yield {
            "current_time": (start + timedelta(seconds=37 * number)).isoformat(" "),
            "notes": another(notes(number // 20 % 40)) if number >= 20 else "",
            "plan": another(plan(number // 4 % 90)) if number >= 4 else "",
        }


def another(text: str) -> str:
    return text[:1] + text[1:]


@cache
def notes(number: int) -> str:
    return sentences(f"notes {number}", 6)


@cache
def plan(number: int) -> str:
    """A plan of eight items, of which some are done."""
    done = number % 9
    marks = ["[x]"] * done + ["[~]"] * (done < 8) + ["[ ]"] * (7 - done)
    lines = [
        f"{mark} {sentences(f'item {number // 9} {index}', 1)}" for index, mark in enumerate(marks)
    ]
    head = f"## Current Todo List\n\n(8 items: {8 - done} open, {done} done)\n\n"
    return head + "\n".join(lines)


# the same prompt, written by hand ----------------------------------------------------------------


def skill_text(skill: Context) -> str:
    return (
        f"<skill>\n<name>{skill['name']}</name>\n"
        f"<description>{skill['description']}</description>\n"
        f"<location>{skill['path']}</location>\n</skill>\n"
    )


def tool_text(tool: Context, schema: str) -> str:
    return f"### {tool['name']}\n\n{tool['description']}\n\nParameters: {schema}\n\n"


def front_text(stable: Context, schemas: list[str]) -> str:
    """All that comes before the first text that changes."""
    skills = ""
    if stable["skills"]:
        skills = (
            "## Skills\n\nBefore you judge something that one of these skills covers, "
            "read its file and follow it.\n\n<available_skills>\n"
            f"{''.join([skill_text(skill) for skill in stable['skills']])}"
            "</available_skills>\n\n"
        )
    tools = "".join([tool_text(t, s) for t, s in zip(stable["tools"], schemas, strict=True)])
    return (
        f"You are **{stable['agent_name']}**, an engineer of {stable['organisation']}.\n"
        f"You work in `{stable['workspace']}`.\n\n## Rules\n\n{RULES}\n\n"
        f"{skills}## Tools\n\n{tools}## Now\n\nIt is "
    )


def json_schemas(stable: Context) -> list[str]:
    return [json.dumps(tool["parameters"]) for tool in stable["tools"]]


def notes_text(turn: Context) -> str:
    return f"## Notes\n\n{turn['notes']}\n\n" if turn["notes"] else ""


def plan_text(turn: Context) -> str:
    return f"{turn['plan']}\n" if turn["plan"] else ""


def with_turn(front: str, turn: Context) -> str:
    # One expression joins all, so that the front is copied once; no calls, which cost as much.
    notes, plan = turn["notes"], turn["plan"]
    notes_part = f"## Notes\n\n{notes}\n\n" if notes else ""
    plan_part = f"{plan}\n" if plan else ""
    return f"{front}{turn['current_time']}.\n\n{notes_part}{plan_part}"

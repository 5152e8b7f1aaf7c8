"""The files that a service under test offers, and those beside them that it must not."""

from pathlib import Path

SECRET = "canary-of-a-file-outside"
"""What stands in each file that no request may read."""

FILES = {
    "reviewer.md": """---
name: reviewer
description: Reviews changes
model: small
tools: grep, read
---
You review {{ workspace }}{% if intent %}, above all {{ intent }}{% endif %}.
User {{ user_id }} in session {{ session_id }}.
""",
    "greeter.md": """---
name: greeter
profile: strict
inputs:
  name:
    type: string
    description: Who is greeted
  times:
    type: integer
    default: 1
---
Hello {{ name }}{{ "!" * times }}""",
    "wrong.md": "---\nname: wrong\n---\nIt is {{ item }} {% if",
    "sums.md": "---\nname: sums\n---\n{{ a + 1 }}",
    "says.md": "---\nname: says\n---\n{{ directive }}",
    "team.md": "---\nname: team/lead\n---\nLead.",
    "notes.md": "---\nname: noter\n---\nNotes: {{ user_notes }} Profile: {{ user_profile }}"
    "{{ todo_list_md }}",
    "worn/reviewer.md": "---\nname: reviewer\n---\nThe old one.",
    "README.md": "no agent",
    "turns.jsonl": '{"workspace": "/a", "intent": "names"}\n\n{"workspace": "/b"}\n',
    "context.json": '{"workspace": "/a"}',
    "list.json": "[1]",
    "bad.jsonl": '{"a": NaN}\n',
    "surrogate.json": '{"a": "\\ud800"}',
    "notes.txt": SECRET,
}
"""Agents, turns and contexts, by their names."""


def write_files(folder: Path) -> Path:
    """A folder of agents; beside it lie a file and a folder that hold `SECRET`."""
    agents = folder / "agents"
    for name, text in FILES.items():
        path = agents / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "secret.md").write_text(f"---\nname: secret\n---\n{SECRET}", encoding="utf-8")
    (folder / "secret.json").write_text(f'{{"secret": "{SECRET}"}}', encoding="utf-8")
    (agents / "link.md").symlink_to(folder / "secret.md")
    (agents / "link.json").symlink_to(folder / "secret.json")
    (agents / "gone.json").symlink_to(folder / "nothing")
    return agents

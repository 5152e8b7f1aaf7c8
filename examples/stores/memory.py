"""What an agent remembers, in plain files: notes, a profile, a plan, and a person's own edit."""

import tempfile
from pathlib import Path

import cuecard
from cuecard.stores import open_store, read_todos

agent = cuecard.load_agent(Path(__file__).with_name("agent.md"))
with tempfile.TemporaryDirectory() as folder, open_store(f"file:{folder}") as store:
    store.set_profile("ann", "Speaks Danish.")
    store.append_note("porter", "ann", "Has a dog.")
    store.append_note("porter", "ann", "Walks slowly.")
    # The list as a tool call of a model brings it.
    plan = [
        {"content": "Show the garden", "status": "completed"},
        {"content": "Show the house", "status": "in_progress", "activeForm": "Showing the house"},
    ]
    store.set_todos("s1", read_todos(plan))
    renderer = cuecard.PromptRenderer(store=store, entry_points=False)
    print(renderer.render(agent, session="s1", auth="ann"))

    for path in sorted(Path(folder).rglob("*.md")):
        print(f"{path.relative_to(folder).as_posix()}: {path.read_text(encoding='utf-8')!r}")

    notes = Path(folder, "notes", "ann", "porter.md")
    notes.write_text("Has two dogs.", encoding="utf-8")  # somebody opens the file and edits it
    print("\nat the next turn:")
    print(renderer.render(agent, session="s1", auth="ann").split("\n\n")[0])

"""`stores`: notes in SQLite, read by a renderer, from an event loop too."""

import asyncio

import cuecard
from cuecard.stores import open_store, read_todos

agent = cuecard.AgentDefinition(name="porter", system_prompt="{{ user_notes }}{{ todo_list_md }}")
with open_store("sqlite:notes.db") as store:
    store.set_notes("porter", "ann", "Has a dog.")
    store.set_todos("s1", read_todos([{"content": "Show the house", "status": "pending"}]))
    renderer = cuecard.PromptRenderer(store=store)
    text = renderer.render(agent, "s1", "ann")
    assert text.startswith("Has a dog."), text
    assert "[ ] Show the house" in text, text
    assert asyncio.run(renderer.arender(agent, "s1", "ann")) == text

"""Turns of a running agent, recorded without its secrets, and replayed."""

import datetime
import json
import tempfile
from pathlib import Path

import cuecard
from cuecard.testing import record

now = datetime.datetime(2026, 11, 29, 12, 0, tzinfo=datetime.UTC)
agent = cuecard.load_agent(Path(__file__).with_name("agent.md"))
renderer = cuecard.PromptRenderer(clock=lambda: now, zone="UTC", entry_points=False)
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "turns.jsonl")
    with record(renderer, file):
        for seconds in (0, 40, 80):
            now += datetime.timedelta(seconds=seconds)
            mail = {"server": "mail.example", "token": "x91"}
            prompt = renderer.render(agent, "s1", "ann", {"mail": mail})
    print(file.read_text(encoding="utf-8"), end="")

    # Only the secret is another one when the last turn is rendered again.
    turn = json.loads(file.read_text(encoding="utf-8").splitlines()[-1])
    again = cuecard.Template(agent.source, profile=cuecard.LIVE).render(turn)
    print(again == prompt.replace("x91", "[redacted]"))

"""`batch`: a table of tasks by the command, and Arrow and Daft from Python."""

import json
import subprocess
import sys
from pathlib import Path

import daft
import pyarrow  # type: ignore[import-untyped]

from cuecard.batch import ColumnRenderer, render

if __name__ == "__main__":  # its workers read this file too
    rows = [{"guest": "Ann"}, {"guest": "Ben"}]
    Path("tasks.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    Path("agent.md").write_text("You help {{ guest }}.")
    done = subprocess.run(
        [sys.executable, "-m", "cuecard", "batch", "agent.md", "tasks.jsonl", "out.jsonl"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done
    prompts = [json.loads(line)["prompt"] for line in Path("out.jsonl").read_text().splitlines()]
    assert prompts == ["You help Ann.", "You help Ben."], prompts

    table = pyarrow.RecordBatch.from_pydict({"guest": ["Ann", "Ben"]})
    assert ColumnRenderer("{{ guest }}!").render(table).prompt.to_pylist() == ["Ann!", "Ben!"]
    frame = render(daft.from_pydict({"guest": ["Ann"]}), "{{ guest }}!")
    assert frame.to_pydict()["prompt"] == ["Ann!"]

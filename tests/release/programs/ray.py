"""`ray`: a table of tasks on a cluster, which is started on this machine."""

import json
from pathlib import Path

from cuecard.batch import BatchOptions, render_files

if __name__ == "__main__":  # its workers read this file too
    Path("guests.jsonl").write_text('{"guest": "Ann"}\n{"guest": "Ben"}\n')
    result = render_files(
        "You help {{ guest }}.",
        "guests.jsonl",
        "ray-out.jsonl",
        BatchOptions(workers=1),
        engine="ray",
    )
    assert result.ok, result
    lines = Path("ray-out.jsonl").read_text().splitlines()
    assert [json.loads(line)["prompt"] for line in lines] == ["You help Ann.", "You help Ben."]

"""Templates of strangers, rendered in worker processes that may be lost."""

import dataclasses
from pathlib import Path

import cuecard

# So lax that only the worker's own bounds are left.
LAX = dataclasses.replace(cuecard.STRICT, limits=cuecard.Limits(fuel=2**60, output=2**60))
SECONDS = {"loop.txt": 0.5}

if __name__ == "__main__":
    for guest in sorted(Path(__file__).parent.glob("*.txt")):
        if guest.name == "expected.txt":
            continue
        source, seconds = guest.read_text(encoding="utf-8"), SECONDS.get(guest.name, 30.0)
        with cuecard.Isolation(workers=1, seconds=seconds, memory=256 * 2**20) as isolation:
            try:
                text = isolation.render(source, {"name": "Ann"}, profile=LAX, name=guest.name)
                print(f"{guest.name}: {text.strip()}")
            except cuecard.PromptError as error:
                print(error)
    print("and this process still renders:", cuecard.render("{{ 1 + 1 }}"))

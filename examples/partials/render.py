"""Render a SYSTEM.md that includes partials from a folder, which no name leads out of."""

import json
from pathlib import Path

import cuecard

HERE = Path(__file__).parent
FOLDER = cuecard.Folder(HERE / "partials")


def read(source: str) -> cuecard.Template:
    return cuecard.Template(source, profile=cuecard.MARKDOWN, partials=FOLDER)


template = read((HERE / "SYSTEM.md").read_text(encoding="utf-8"))
context = json.loads((HERE / "context.json").read_text(encoding="utf-8"))

print("variables, those of the partials included:", ", ".join(sorted(template.variables)))
print()
print(template.render(context))

for name in ("../context.json", "no-such-rules.md"):
    try:
        read(f"{{% include {name!r} %}}")
    except cuecard.TemplateNotFoundError as error:
        print(error.report())

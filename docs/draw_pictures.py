"""Writes docs/images/: the house of the design, and what `cuecard explain` prints on a terminal.

`make format` runs it; a test sees that the pictures are current. The picture of the service's
page is made by the page's own test.
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
EXPLAINED = "cuecard explain examples/explain/agent.md --vars examples/explain/context.json"
SCOPES = "--scope name,tools=static --scope user=session --scope today=day"

# the house ----------------------------------------------------------------------------------------

WIDTH, FLOOR, ROOF, MARGIN = 760, 46, 30, 12
STYLE = """\
text { font: 12.5px ui-monospace, monospace; fill: #24292f }
.floor { font: 12px system-ui, sans-serif; fill: #57606a }
.page { fill: #ffffff }
.room { fill: #ddf4ff; stroke: #0969da }
.wall { fill: none; stroke: #8c959f; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .floor { fill: #9198a1 }
  .page { fill: #0d1117 }
  .room { fill: #121d2f; stroke: #4493f8 }
  .wall { stroke: #6e7681 }
}"""


def floors(design: str) -> dict[int, list[str]]:
    """The rooms of each floor, from the table of the section "The house"."""
    section = design.split("The house\n", 1)[1].split("\n## ", 1)[0]
    return {
        int(number): re.findall(r"`([^`/]+)/?`", re.sub(r"\([^()]*\)", "", cell))
        for number, cell in re.findall(r"^\| (\d+) \| (.*) \|\s*$", section, re.M)
    }


def house(design: str) -> str:
    """The house as SVG: a floor a line, the lowest at the bottom."""
    rows = sorted(floors(design).items(), reverse=True)
    top = MARGIN + ROOF
    height = top + FLOOR * len(rows) + MARGIN
    right = WIDTH - MARGIN
    roof = f"M{MARGIN} {top} L{WIDTH / 2:g} {MARGIN} L{right} {top} Z"
    body = [f'<path class="wall" d="{roof}"/>']
    for index, (number, rooms) in enumerate(rows):
        body += _floor(number, rooms, top + FLOOR * index)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img">',
            "<title>The house: imports run downward</title>",
            f"<style>\n{STYLE}\n</style>",
            f'<rect class="page" width="{WIDTH}" height="{height}" rx="6"/>',
            *body,
            "</svg>\n",
        )
    )


def _floor(number: int, rooms: list[str], top: int) -> Iterator[str]:
    left, right = MARGIN + 34, WIDTH - MARGIN - 8
    width = WIDTH - 2 * MARGIN
    yield f'<rect class="wall" x="{MARGIN}" y="{top}" width="{width}" height="{FLOOR}"/>'
    yield f'<text class="floor" x="{MARGIN + 12}" y="{top + FLOOR / 2 + 4:g}">{number}</text>'
    letters = sum(len(room) for room in rooms)
    spare = right - left - 8 * (len(rooms) - 1)
    padding = min(18.0, (spare - 7.6 * letters) / len(rooms) / 2)
    for room in rooms:
        width = 7.6 * len(room) + 2 * padding
        yield (
            f'<rect class="room" x="{left:.1f}" y="{top + 9}" width="{width:.1f}" '
            f'height="{FLOOR - 18}" rx="4"/>'
        )
        middle = left + width / 2
        yield (
            f'<text x="{middle:.1f}" y="{top + FLOOR / 2 + 4:g}" text-anchor="middle">'
            f"{escape(room)}</text>"
        )
        left += width + 8


# explain ------------------------------------------------------------------------------------------


def explained() -> str:
    """What `cuecard explain` prints on a terminal, in its colours, as SVG."""
    printed = _on_a_terminal(f"{EXPLAINED} {SCOPES}")
    text = Text.from_ansi(printed.replace("\r\n", "\n").rstrip())
    width = max(len(line) for line in text.plain.splitlines()) + 1
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    console.print(text, soft_wrap=True)
    drawn = console.export_svg(title="cuecard explain agent.md", theme=MONOKAI, unique_id="explain")
    # The fonts of the reader's machine do; a page asks no other host for anything.
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S)
    return drawn.replace("Fira Code, monospace", "ui-monospace, monospace").rstrip() + "\n"


def _on_a_terminal(command: str) -> str:
    """What a command prints when it writes to a terminal."""
    programs = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    unset = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment = {**unset, "COLUMNS": "110", "TERM": "xterm-256color", "PATH": programs}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["sh", "-c", command], cwd=ROOT, env=environment, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        parts = list(_read(ours))
    os.close(ours)
    if process.returncode:
        raise SystemExit(f"`{command}` failed:\n{b''.join(parts).decode()}")
    return b"".join(parts).decode()


def _read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            return  # Linux says so that nobody writes any more
        if not part:
            return
        yield part


def pictures() -> dict[str, str]:
    """The pictures by the names of their files."""
    design = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    return {"house.svg": house(design), "explain.svg": explained()}


def main() -> None:
    """Draw them."""
    IMAGES.mkdir(exist_ok=True)
    for name, drawn in pictures().items():
        (IMAGES / name).write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()

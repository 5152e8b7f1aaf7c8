"""What a template sees of Python's values, and what is not let in."""

import datetime
import enum
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path, PurePosixPath

import cuecard


class Priority(enum.Enum):
    HIGH = "high"


@dataclass
class Ticket:
    title: str
    priority: Priority
    due: datetime.date
    estimate: Decimal
    labels: set[str]
    owner: str | None = None


template = cuecard.Template(
    Path(__file__).with_name("ticket.j2").read_text(encoding="utf-8"), name="ticket.j2"
)
ticket = Ticket(
    "Doors stick", Priority.HIGH, datetime.date(2026, 12, 1), Decimal("1.50"), {"wood", "door"}
)
print(template.render(ticket=ticket, folder=PurePosixPath("/srv/doors")), end="")

for value in (print, (line for line in "ab"), b"bytes", {"deep": [object()]}):
    try:
        template.render(ticket=value, folder="")
    except cuecard.ContextError as error:
        print(f"{error.code} {error.message}")

"""Attacks: what the lines of `catalog/*.jsonl` say.

A file is a group, a line one attack. Adding a line is all that a new attack needs.

==========  ======================================================================================
field       meaning
==========  ======================================================================================
id          its name, within its group
template    the text, or a list of texts and `[text, times]` pairs that are joined; `@n@` in such
            a text is the number
context     the context; `{"$": name, ...}` in it is the live object that `makers.py` builds
profile     `strict` (the default), `operator`, `markdown` or `live`
surface     what is called, a name in `surfaces.py`; by default `render`, which is tried on all
            engines, and on cuecard as `render`, `trace` and `bind` too
files       files beside the template, by name: a text, a list as `template` has, `{"link":
            target}` for a symbolic link, or `{"many": n}` for so many copies of `text`
expect      what cuecard must answer: the code of an error (or several, with blanks between
            them), or `{"text": ...}`; `text` alone is any text
at          where the error must point: `line:column`, or a path of the context (`$.x`)
says        a part of the error's message, or of the text
why         what is attacked, where the id does not say
==========  ======================================================================================

In all texts `@secret@` stands for a text that nothing may show, `@value@` for a value of the
context that may be printed but stand in no error, and `@folder@`, `@outside@` and `@link@` for
the folder of the template, a folder beside it with a secret file, and that file's path.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["CATALOG", "Attack", "all_attacks", "joined"]

CATALOG = Path(__file__).parent / "catalog"
_FIELDS = frozenset(
    ("id", "template", "context", "profile", "surface", "files", "expect", "at", "says", "why")
)


class Attack(NamedTuple):
    """One line of the catalog."""

    group: str
    id: str
    template: Any
    context: Any
    profile: str
    surface: str
    files: Mapping[str, Any]
    expect: Any
    at: str | None
    says: str | None

    @property
    def name(self) -> str:
        """Its name in the whole catalog."""
        return f"{self.group}/{self.id}"

    @property
    def codes(self) -> frozenset[str]:
        """The codes of the errors that it may end with."""
        return frozenset(self.expect.split()) if isinstance(self.expect, str) else frozenset()

    @property
    def for_engines(self) -> bool:
        """Whether other template engines can be attacked in this way too."""
        return self.surface == "render"


@cache
def all_attacks() -> tuple[Attack, ...]:
    """The whole catalog, group by group."""
    return tuple(attack for file in sorted(CATALOG.glob("*.jsonl")) for attack in _read(file))


def _read(file: Path) -> Iterator[Attack]:
    for line in file.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            yield _attack(file.stem, json.loads(line))


def _attack(group: str, line: dict[str, Any]) -> Attack:
    unknown = line.keys() - _FIELDS
    if unknown:
        raise ValueError(f"{group}/{line.get('id')}: unknown fields {sorted(unknown)}")
    return Attack(
        group,
        line["id"],
        line.get("template", ""),
        line.get("context", {}),
        line.get("profile", "strict"),
        line.get("surface", "render"),
        line.get("files", {}),
        line["expect"],
        line.get("at"),
        line.get("says"),
    )


def joined(text: Any) -> str:
    """A text that may be written as a list of texts and `[text, times]` pairs."""
    if isinstance(text, str):
        return text
    return "".join(part if isinstance(part, str) else _repeated(*part) for part in text)


def _repeated(text: Any, times: int) -> str:
    """A text so many times, `@n@` in it being the number."""
    once = joined(text)
    if "@n@" in once:
        return "".join(once.replace("@n@", str(number)) for number in range(times))
    return once * times

"""Marks: what must not happen, and the observers that notice when it does.

They are the same for every engine. Nothing here is a stub: a planted function really runs, a
planted file is really read, and Python's own audit hooks say what was started or opened.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["CHANGED", "CODE", "FILE", "OUT", "REACHED", "VALUE_SHOWN", "Observers", "Planted"]

CODE = "code ran"
REACHED = "an object was reached"
CHANGED = "the caller's data changed"
FILE = "a file outside was touched"
OUT = "a secret came out"
VALUE_SHOWN = "a value stood in an error or a log"

_STARTS = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "subprocess.Popen")
_REACHES = ("socket.", "ctypes.", "os.remove", "os.rename", "os.mkdir", "os.putenv", "shutil.")


class Planted(NamedTuple):
    """What makers plant, and what becomes of it.

    Attributes:
        secret: a text that nothing may show.
        value: a value of the context: it may be printed, but no error or log may hold it.
        folder: where the template and its partials are.
        outside: a folder beside it, whose file `secret.txt` holds the secret.
        reached: what planted functions and objects note when a template gets to them.
        watched: data of the caller, with what tells whether it changed, and what it told first.
    """

    secret: str
    value: str
    folder: Path
    outside: Path
    reached: list[str]
    watched: list[tuple[Callable[[], Any], Any]]

    def watch(self, look: Callable[[], Any]) -> None:
        """Notice when what a function gives is not the same any more."""
        self.watched.append((look, look()))

    def fill(self, text: str) -> str:
        """A text with its placeholders filled."""
        if "@" not in text:
            return text
        for name, value in (
            ("@secret@", self.secret),
            ("@value@", self.value),
            ("@folder@", str(self.folder)),
            ("@outside@", str(self.outside)),
            ("@link@", str(self.outside / "secret.txt")),
        ):
            text = text.replace(name, value)
        return text


class Observers:
    """Watches one process, from when it is armed."""

    def __init__(self, planted: Planted) -> None:
        self._planted = planted
        self._armed = False
        self._starts = True
        self._events: list[str] = []
        sys.addaudithook(self._hook)

    def arm(self, *, starts: bool = True) -> None:
        """Begin to watch; without `starts`, processes may be started."""
        self._armed = True
        self._starts = starts

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._armed:
            return
        if event.startswith(_STARTS) and self._starts:
            self._events.append(CODE)
        elif event.startswith(_REACHES):
            self._events.append(REACHED)
        elif event == "open" and str(arguments[0]).startswith(str(self._planted.outside)):
            self._events.append(FILE)

    def marks(self, shown: str, failure: str) -> list[str]:
        """What happened that must not.

        Args:
            shown: everything that came out: the text, the error, warnings, logs.
            failure: the part of it that is an error, a warning or a log.
        """
        self._armed = False
        planted = self._planted
        found = {*self._events, *planted.reached}
        if (planted.folder / "code-ran").exists():
            found.add(CODE)
        if any(_look(look) != before for look, before in planted.watched):
            found.add(CHANGED)
        if planted.secret in shown:
            found.add(OUT)
        if planted.value in failure:
            found.add(VALUE_SHOWN)
        return sorted(found)


def _look(look: Callable[[], Any]) -> Any:
    try:
        return look()
    except Exception as error:
        return f"gone: {type(error).__name__}"

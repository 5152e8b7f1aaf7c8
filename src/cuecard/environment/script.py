"""The question: a script for a POSIX shell, and the records that it prints.

The functions of the script are in `probe.sh`; here it is said which of them are called, and
how what they print is read.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

__all__ = ["END", "Facts", "facts_in", "script"]

END = b"\0end=\0"
"""What the script prints last."""

_OWN_WAY = {"go": ("version",), "java": ("-version",)}
_COMMIT = 12
"""Letters of a commit's name: always as many, so that the text does not change as it grows."""


class Facts(NamedTuple):
    """What is known of a machine. What is not known is empty.

    Attributes:
        system: name and release of its kernel, and its kind of processor.
        distribution: what the system calls itself.
        shell: the shell that the user logs in with.
        folder: the working folder.
        branch: the branch of the repository there, or the commit.
        tools: places, in the list that was asked, of the tools that answered.
        no_folder: whether the folder cannot be entered.
        complete: whether everything was said.
    """

    system: str = ""
    distribution: str = ""
    shell: str = ""
    folder: str = ""
    branch: str = ""
    tools: frozenset[int] = frozenset()
    no_folder: bool = False
    complete: bool = False


def script(folder: str | None, tools: Sequence[str], share: float) -> bytes:
    """The script that a shell reads.

    Args:
        folder: the folder to look at; None is the one in which the shell starts.
        tools: names of the commands to ask.
        share: seconds that a tool may take.
    """
    where = [] if folder is None else [f"./{folder}" if folder.startswith("-") else folder]
    asked = [
        _call("cuecard_tool", str(number), name, *_OWN_WAY.get(name, ("--version",))) + " &"
        for number, name in enumerate(tools)
    ]
    lines = [
        _functions(),
        f"cuecard_share={share:.2f} cuecard_whole_share={max(1, int(share))}",
        "printf '\\0'",
        _call("cuecard_folder", *where),
        "cuecard_machine",
        "cuecard_head &",
        *asked,
        "wait",
        "printf 'end=\\0'",
        "exit 0",
    ]
    return os.fsencode("\n".join(lines) + "\n")


@cache
def _functions() -> str:
    return files(__package__).joinpath("probe.sh").read_text("utf-8")


def _call(*words: str) -> str:
    return " ".join(map(shlex.quote, words))


def facts_in(output: bytes) -> Facts:
    """The facts in what a shell printed; what is no record is passed over."""
    found: dict[str, str] = {}
    tools = set()
    # What stands before the first NUL was printed by the shell's own start; what stands
    # after the last is a record that was cut off.
    for record in output.split(b"\0")[1:-1]:
        key, _, value = record.decode("utf-8", "backslashreplace").partition("=")
        if key == "tool" and value.isdecimal():
            tools.add(int(value[:9]))
        else:
            found.setdefault(key, value)
    return Facts(
        system=found.get("kernel", ""),
        distribution=_unquoted(found.get("distribution", "")),
        shell=found.get("shell", ""),
        folder=found.get("folder", ""),
        branch=found.get("branch", "").removeprefix("refs/heads/")
        or found.get("commit", "")[:_COMMIT],
        tools=frozenset(tools),
        no_folder="nofolder" in found,
        complete=output.endswith(END),
    )


def _unquoted(value: str) -> str:
    """A value of os-release, which is written as a shell would read it."""
    try:
        return " ".join(shlex.split(value))
    except ValueError:
        return value

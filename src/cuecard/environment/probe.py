"""Probe: the facts about a machine as the lines of a prompt."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence

from .child import ask
from .script import END, Facts, facts_in, script

__all__ = ["DEFAULT_TOOLS", "probe_environment"]

DEFAULT_TOOLS = (
    "git",
    "python3",
    "uv",
    "node",
    "npm",
    "cargo",
    "go",
    "java",
    "gcc",
    "make",
    "docker",
    "rg",
    "fd",
    "jq",
    "curl",
)
"""The command-line tools that are asked, in the order in which they are named."""

_HERE = ("sh",)
_LONGEST_TEXT = 4096
_LONGEST_WAIT = 3600.0


def probe_environment(
    folder: str | os.PathLike[str] | None = None,
    *,
    timeout: float = 5.0,
    shell: str | Sequence[str] = _HERE,
    notice: str | None = None,
    tools: Iterable[str] = DEFAULT_TOOLS,
) -> str:
    """Facts about the machine on which commands run, one a line.

    One short script is given to one shell. Nothing is written, and nothing is fetched. A
    probe that fails is no error: the text says so, and gives what is known.

    Args:
        folder: the working folder, on the machine of the shell. None is the one in which
            the shell starts.
        timeout: seconds that all may take. A tool that takes more than half of them is left
            out.
        shell: the program that reads the script, and its arguments; such as `("docker",
            "exec", "-i", "box", "sh")` when commands run elsewhere.
        notice: a text that is added as it is, at the end, whatever the probe finds.
        tools: names of command-line tools. Those that answer are named, in this order.

    Returns:
        The lines, without a newline after the last.
    """
    command = (shell,) if isinstance(shell, str) else tuple(shell)
    names = tuple(dict.fromkeys(name for name in tools if name.isprintable()))
    where = None if folder is None else os.fsdecode(folder)
    known = _known_here() if command == _HERE else Facts()
    if where is not None:
        known = known._replace(folder=where)
    lines = _probed(command, where, names, min(max(0.0, timeout), _LONGEST_WAIT), known)
    return "\n".join(lines + ([notice] if notice else []))


def _probed(
    command: tuple[str, ...], where: str | None, names: Sequence[str], timeout: float, known: Facts
) -> list[str]:
    if os.name == "nt":
        # Neither a POSIX shell nor groups of processes that could be ended.
        return _lines(known, names)
    if where is not None and not _is_possible(where):
        return _lines(known._replace(no_folder=True), names)
    answer = ask(command, script(where, names, timeout / 2), END, timeout)
    found = facts_in(answer.output)
    facts = _joined(found, known)
    if found.complete:
        return _lines(facts, names)
    partly = "only be probed in part" if found != Facts() else "not be probed"
    failure = f"- Machine: could {partly} ({answer.failure or 'unexpected output'})"
    return [failure, *_lines(facts, names)]


def _is_possible(folder: str) -> bool:
    """Whether there can be a folder of that name."""
    try:
        return b"\0" not in os.fsencode(folder)
    except UnicodeEncodeError:
        return False


def _known_here() -> Facts:
    """What Python knows of the machine on which it runs."""
    system = " ".join(filter(None, (platform.system(), platform.release(), platform.machine())))
    try:
        folder = os.getcwd()
    except OSError:
        folder = ""
    shell = os.environ.get("SHELL" if os.name != "nt" else "COMSPEC", "")
    return Facts(system=system, shell=shell, folder=folder)


def _joined(found: Facts, known: Facts) -> Facts:
    return found._replace(
        system=found.system or known.system,
        shell=found.shell or known.shell,
        folder=found.folder or known.folder,
    )


def _lines(facts: Facts, names: Sequence[str]) -> list[str]:
    system, distribution = facts.system, facts.distribution
    if system and distribution:
        system = f"{system} ({distribution})"
    folder = facts.folder
    if folder and facts.no_folder:
        folder = f"{folder} (cannot be entered)"
    answered = ", ".join(name for number, name in enumerate(names) if number in facts.tools)
    labelled = {
        "System": system or distribution,
        "Shell": facts.shell,
        "Working folder": folder,
        "Git branch": facts.branch,
        "Tools": answered,
    }
    return [f"- {label}: {_one_line(text)}" for label, text in labelled.items() if text]


def _one_line(text: str) -> str:
    """Text without characters that end a line, move a cursor or hide others."""
    if len(text) > _LONGEST_TEXT:
        text = text[:_LONGEST_TEXT] + "..."
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )

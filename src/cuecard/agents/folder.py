"""A folder of agent files: all that can be read, and a word on each that cannot."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import PromptError, TemplateNotFoundError
from ..files import read_text
from ..frontmatter import read_document
from ..source import Diagnostic, Found
from .definition import AgentDefinition
from .reading import read_agent

__all__ = ["load_agents"]

_OTHER_FILES = frozenset(("agents.md", "claude.md", "gemini.md", "readme.md", "skill.md"))
_SKIPPED_FOLDERS = frozenset(("node_modules", "__pycache__"))


def load_agents(
    folder: str | os.PathLike[str],
    *,
    recover: bool = False,
    failures: dict[str, PromptError] | None = None,
) -> Found[AgentDefinition]:
    """Read every agent file of a folder: `*.md`, in its sub-folders too.

    Hidden folders, `node_modules` and files that are known for something else (`README.md`,
    `AGENTS.md`, `SKILL.md` and their like) are not looked at.

    Args:
        folder: the folder.
        recover: as for `load_agent`.
        failures: where to put why files cannot be read, by their paths.

    Returns:
        The definitions, sorted by path. The attribute `diagnostics` tells of what was left
        out: files without a header (P404, `"info"`), files that cannot be read, links that
        lead out of the folder (P416); and of names that two files have (P415).

    Raises:
        TemplateNotFoundError: there is no such folder (P803).
    """
    root = Path(folder)
    if not root.is_dir():
        raise TemplateNotFoundError("no such folder", template=str(root))
    agents: list[AgentDefinition] = []
    diagnostics: list[Diagnostic] = []
    for path in sorted(_files(root, diagnostics)):
        try:
            found = _read(path, root, recover)
        except PromptError as error:
            finding = error.diagnostic()
            if failures is not None:
                failures[str(path)] = error
            diagnostics.append(finding._replace(template=finding.template or str(path)))
            continue
        if isinstance(found, Diagnostic):
            diagnostics.append(found)
        else:
            agents.append(found)
            diagnostics.extend(found.diagnostics)
    diagnostics.extend(_taken_names(agents))
    return Found(agents, diagnostics)


def _files(root: Path, diagnostics: list[Diagnostic]) -> Iterator[Path]:
    def report(error: OSError) -> None:
        why = error.strerror or type(error).__name__
        message = f"cannot read the folder: {why}"
        diagnostics.append(Diagnostic("P801", message, None, error.filename, "error"))

    for folder, folders, files in os.walk(root, onerror=report):
        folders[:] = [f for f in folders if not f.startswith(".") and f not in _SKIPPED_FOLDERS]
        for file in files:
            lowered = file.lower()
            if lowered.endswith(".md") and lowered not in _OTHER_FILES and file[0] != ".":
                yield Path(folder, file)


def _read(path: Path, root: Path, recover: bool) -> AgentDefinition | Diagnostic:
    name = str(path)
    if path.is_symlink() and _leads_out(path, root):
        message = "the link leads out of the folder"
        return Diagnostic("P416", message, None, name, "error", "copy the file instead")
    if path.exists() and not path.is_file():
        # A pipe would be waited for.
        raise PromptError("cannot read the file: it is none", code="P801", template=name)
    document = read_document(read_text(path), name, recover=recover)
    if document.has_header:
        return read_agent(document, path)
    if document.diagnostics:
        return document.diagnostics[0]
    message = "no front matter, so this is taken for no agent"
    hint = "begin the file with a header between two lines `---`"
    return Diagnostic("P404", message, None, name, "info", hint)


def _leads_out(path: Path, root: Path) -> bool:
    try:
        return not path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError):  # a circle of links leads nowhere
        return True


def _taken_names(agents: list[AgentDefinition]) -> Iterator[Diagnostic]:
    first: dict[str | None, AgentDefinition] = {}
    for agent in agents:
        other = first.setdefault(agent.name, agent)
        if other is not agent:
            message = f"the name `{agent.name}` is that of {other.path} too"
            yield Diagnostic("P415", message, None, str(agent.path), "warning", "rename one")

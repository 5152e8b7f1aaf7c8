"""Reading agent files: the keys of the header that mean something here, and all others."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from ..errors import SpecError
from ..files import name_of, read_text
from ..frontmatter import Document, read_document, split_names
from ..language.vocabulary import nearest
from ..profile import PROFILES
from ..source import Diagnostic
from .definition import AgentDefinition
from .inputs import TYPES, Input

__all__ = ["load_agent", "parse_agent", "read_agent"]

_TEXTS = ("name", "description", "model", "id", "namespace")
_INPUT_KEYS = frozenset(("name", "type", "required", "default", "description"))
_UNNAMED_STEMS = frozenset(("agent", "agents", "system", "prompt", "index"))


def load_agent(path: str | os.PathLike[str], *, recover: bool = False) -> AgentDefinition:
    """Read an agent file; a file without a header is all template.

    Args:
        path: the file; `-` is standard input.
        recover: whether a header that YAML refuses for an unquoted `: ` is read once more
            with that value quoted, and a warning.

    Returns:
        The definition. Without a `name` in the header the file's name gives it, without
        `.agent.md` or `.md`; of a file such as `agent.md` the folder's.

    Raises:
        PromptError: the file cannot be read (P801) or is not UTF-8 (P802).
        SpecError: as `parse_agent`.
    """
    document = read_document(read_text(path), name_of(path), recover=recover)
    return read_agent(document, None if os.fspath(path) == "-" else Path(path))


def parse_agent(text: str, *, recover: bool = False, name: str = "agent") -> AgentDefinition:
    r"""Read the text of an agent file.

    Args:
        text: a header between two lines `---`, and the template; or the template alone.
        recover: whether a header that YAML refuses for an unquoted `: ` is read once more
            with that value quoted, and a warning.
        name: what errors call the text.

    Raises:
        SpecError: the header cannot be read (P401, P402), or the value of a key that means
            something to an agent is none that it can have (P405).

    Examples:
        >>> import cuecard
        >>> agent = cuecard.parse_agent("---\nname: writer\ntools: Read\n---\nBe {{ tone }}.")
        >>> agent.name, agent.tools, agent.system_prompt
        ('writer', ('Read',), 'Be {{ tone }}.')
    """
    return read_agent(read_document(text, name, recover=recover), None)


def read_agent(document: Document, path: Path | None) -> AgentDefinition:
    """The definition that a document gives.

    Raises:
        SpecError: the value of a key is none that it can have (P405).
    """
    header = _Header(document)
    texts = {key: header.text(key) for key in _TEXTS}
    if texts["name"] is None and path is not None:
        texts["name"] = _name_of(path)
    return AgentDefinition(
        **texts,
        system_prompt=document.body.text,
        tools=header.tools(),
        profile=header.profile(),
        inputs=header.inputs(),
        extras=header.extras(),
        path=path,
        first_line=document.body.first_line,
        diagnostics=(*document.diagnostics, *header.diagnostics),
    )


def _name_of(path: Path) -> str | None:
    stem = re.sub(r"(\.(agent|chatmode|prompt))?\.(md|markdown)$", "", path.name, flags=re.I)
    if stem.lower() in _UNNAMED_STEMS:
        return path.absolute().parent.name or None
    return stem or None


class _Header:
    """A header's keys, each read once; what is left over are the extras."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._left = dict(document.metadata)
        self.diagnostics: list[Diagnostic] = []

    def text(self, key: str) -> str | None:
        value = self._left.pop(key, None)
        if value is not None and not isinstance(value, str):
            self._refuse(key, f"`{key}` must be a text", "write one text, in quotes if need be")
        return value

    def tools(self) -> tuple[str, ...] | None:
        if "tools" not in self._left:
            return None
        try:
            return split_names(self._left.pop("tools"))
        except ValueError as error:
            # Read as if absent, it would allow every tool.
            self._refuse("tools", f"`tools` {error}", "write `tools: a, b` or a list of names")

    def profile(self) -> str | None:
        value = self._left.get("profile")
        if isinstance(value, str) and value in PROFILES:
            self._left.pop("profile")
            return value
        if value is not None:
            known = ", ".join(f"`{name}`" for name in PROFILES)
            self._warn("profile", f"`profile` is none of {known}, and is left out", _near(value))
        return None

    def inputs(self) -> tuple[Input, ...]:
        value = self._left.pop("inputs", None)
        if value is None:
            return ()
        if isinstance(value, Mapping):
            entries = list(value.items())
        elif isinstance(value, list) and all(_is_named(entry) for entry in value):
            entries = [(entry["name"], entry) for entry in value]
        else:
            self._refuse_inputs("`inputs` must be a mapping of names, or a list with names")
        names = [name for name, _ in entries]
        seen: set[str] = set()
        for name in names:
            if not re.fullmatch(r"[^\W\d_]\w*", name):
                self._refuse_inputs(f"`{name}` is no name that a template can read")
            if name in seen:
                self._refuse_inputs(f"the input `{name}` is declared twice")
            seen.add(name)
        return tuple(self._input(name, entry) for name, entry in entries)

    def _input(self, name: str, entry: Any) -> Input:
        if entry is None or isinstance(entry, str):
            entry = {"type": entry or "any"}
        if not isinstance(entry, Mapping):
            self._refuse_inputs(f"the input `{name}` must be a type or a mapping")
        unknown = [key for key in entry if key not in _INPUT_KEYS]
        if unknown:
            hint = nearest(unknown[0], _INPUT_KEYS)
            self._refuse_inputs(f"the input `{name}` has no key `{unknown[0]}`", hint)
        kind = self._type(name, entry.get("type"))
        declared = Input(name, kind, description=self._description(name, entry))
        default = self._default(declared, entry.get("default"))
        required = self._required(name, entry.get("required"), default is None)
        return Input(name, kind, required and default is None, default, declared.description)

    def _type(self, name: str, value: Any) -> str:
        if value is None:
            return "any"
        kind = TYPES.get(value.lower()) if isinstance(value, str) else None
        if kind is None:
            known = ", ".join(sorted(set(TYPES.values())))
            self._refuse_inputs(f"the input `{name}` is of no known type", f"one of {known}")
        return kind

    def _description(self, name: str, entry: Mapping[str, Any]) -> str | None:
        value = entry.get("description")
        if value is not None and not isinstance(value, str):
            self._refuse_inputs(f"the description of the input `{name}` must be a text")
        return value

    def _default(self, declared: Input, value: Any) -> Any:
        try:
            read = declared.read(value) if isinstance(value, str) else value
        except ValueError:
            read = None
        if value is not None and (read is None or not declared.accepts(read)):
            self._refuse_inputs(f"the default of `{declared.name}` is of no type `{declared.type}`")
        return read

    def _required(self, name: str, value: Any, otherwise: bool) -> bool:
        if value is None:
            return otherwise
        try:
            return bool(Input(name, "boolean").read(value))
        except (AttributeError, ValueError):
            self._refuse_inputs(f"`required` of the input `{name}` must be true or false")

    def extras(self) -> dict[str, Any]:
        return self._left

    def _refuse_inputs(self, message: str, hint: str | None = None) -> NoReturn:
        shape = "write `inputs:` and below it `name: string`, or a mapping with `type`, ..."
        self._refuse("inputs", message, hint or shape)

    def _refuse(self, key: str, message: str, hint: str) -> NoReturn:
        source, place = self._document.header, self._document.place(key)
        start, end = (place.start, place.end) if place else (0, 3)
        raise SpecError(message, code="P405", source=source, start=start, end=end, hint=hint)

    def _warn(self, key: str, message: str, hint: str | None) -> None:
        name, place = self._document.header.name, self._document.place(key)
        self.diagnostics.append(Diagnostic("P405", message, place, name, "warning", hint))


def _is_named(entry: Any) -> bool:
    return isinstance(entry, Mapping) and isinstance(entry.get("name"), str)


def _near(value: Any) -> str | None:
    return nearest(value, PROFILES) if isinstance(value, str) else None

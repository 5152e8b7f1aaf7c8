"""Writing agent files, so that reading them gives the same definition."""

from __future__ import annotations

from typing import Any

from ..errors import SpecError
from .definition import AgentDefinition
from .inputs import Input

__all__ = ["render_agent"]


def render_agent(definition: AgentDefinition) -> str:
    """The text of an agent file: `parse_agent(render_agent(a)) == a`.

    A header knows texts, lists and mappings: a number or a truth value among the `extras`
    is written as such, and read again as the text that was written.

    Raises:
        SpecError: a value that no header can hold (P405).
    """
    import yaml

    header = {key: value for key, value in _entries(definition).items() if value is not None}
    header.update(definition.extras)
    if not header:
        # A rule would be taken for the start of a header, and a byte order mark be dropped.
        mistakable = definition.system_prompt.startswith(("---", "\ufeff"))
        return f"---\n---\n{definition.system_prompt}" if mistakable else definition.system_prompt
    try:
        text = yaml.dump(
            header, Dumper=_dumper(yaml), allow_unicode=True, sort_keys=False, width=float("inf")
        )
    except (yaml.YAMLError, RecursionError) as error:
        raise SpecError("a value of the header is no text, list or mapping", code="P405") from error
    return f"---\n{text}---\n{definition.system_prompt}"


def _dumper(yaml: Any) -> Any:
    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        def ignore_aliases(self, data: Any) -> bool:
            return True  # the reader of headers takes none

        def represent_text(self, text: str) -> Any:
            # Line breaks that only Unicode knows are folded away unless they are escaped.
            unusual = not text.replace("\n", "").isprintable()
            return self.represent_scalar("tag:yaml.org,2002:str", text, '"' if unusual else None)

    Dumper.add_representer(str, Dumper.represent_text)
    return Dumper


def _entries(definition: AgentDefinition) -> dict[str, Any]:
    return {
        "name": definition.name,
        "description": definition.description,
        "id": definition.id,
        "namespace": definition.namespace,
        "model": definition.model,
        "profile": definition.profile,
        "tools": None if definition.tools is None else list(definition.tools),
        "inputs": {entry.name: _input(entry) for entry in definition.inputs} or None,
    }


def _input(entry: Input) -> dict[str, Any]:
    keys: dict[str, Any] = {"type": entry.type}
    if entry.default is not None:
        keys["default"] = entry.default
    elif not entry.required:
        keys["required"] = False
    if entry.description is not None:
        keys["description"] = entry.description
    return keys

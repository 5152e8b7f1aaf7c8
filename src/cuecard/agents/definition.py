"""What an agent file says."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..profile import PROFILES, STRICT, Profile
from ..source import Diagnostic, Source
from .inputs import Filled, Input, fill

__all__ = ["AgentDefinition"]


@dataclass(frozen=True, kw_only=True)
class AgentDefinition:
    """An agent: who it is, and the template of its system prompt.

    Two definitions are equal when they say the same, wherever they come from.

    Attributes:
        name: the agent's name; None when neither header nor file gives one.
        description: what it is for.
        system_prompt: the template, verbatim.
        model: the model that it asks for, in the author's words.
        tools: the names of the tools that it may use; None when it says nothing of tools.
        profile: the name of the profile that its template is written for; None for the
            caller's choice.
        inputs: the variables that it declares.
        id: what a runtime knows it by, from the header's `id`.
        namespace: where it belongs to, from the header's `namespace`.
        extras: all other keys of the header: texts, lists and mappings of texts, or None.
        path: the file that it was read from.
        first_line: line of the file on which the template begins, from 1.
        diagnostics: what was noticed while it was read.
    """

    name: str | None = None
    description: str | None = None
    system_prompt: str = ""
    model: str | None = None
    tools: tuple[str, ...] | None = None
    profile: str | None = None
    inputs: tuple[Input, ...] = ()
    id: str | None = None
    namespace: str | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = field(default=None, compare=False)
    first_line: int = field(default=1, compare=False, repr=False)
    diagnostics: tuple[Diagnostic, ...] = field(default=(), compare=False, repr=False)

    def __hash__(self) -> int:
        return hash((self.name, self.version))

    @cached_property
    def version(self) -> str:
        """A hash of the template: 16 hexadecimal digits of its SHA-256."""
        import hashlib

        data = self.system_prompt.encode("utf-8", "surrogatepass")
        return hashlib.sha256(data).hexdigest()[:16]

    @property
    def source(self) -> Source:
        """The template with its place in the file, so that errors name the file's lines."""
        name = str(self.path) if self.path is not None else self.name or "system"
        return Source(self.system_prompt, name, first_line=self.first_line)

    def profile_or(self, default: Profile = STRICT) -> Profile:
        """The profile that the header names, or else the default."""
        return PROFILES[self.profile] if self.profile is not None else default

    def fill(self, context: Mapping[str, Any], *, guarded: Collection[str] = ()) -> Filled:
        """Hold a context against the declared inputs.

        Args:
            context: the values by name; null counts as absent.
            guarded: names for whose absence the template itself provides, such as
                `Template.optional`: an absent one of these stays absent where it has no
                default, while another optional input becomes null.

        Returns:
            The context with the defaults of what was absent, and a warning for each value
            that no input declares. An agent that declares nothing takes anything.

        Raises:
            ContextError: required inputs are absent (P710), or are of another type than
                declared (P711). All of them are named at once.
        """
        return fill(self.inputs, context, guarded=guarded, template=self.source.name)
